"""The tables of an experiment: their numbers, what they refuse, and what they withhold."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.cases import EFFECTS, a_plan, a_small_experiment, a_table, rows_of

from leakscale.analysis import AnalysisPlan, Identities, ReleasePolicy, analyze_results
from leakscale.analysis.counting import count_families
from leakscale.errors import ConflictError, InvalidRequestError, NotFoundError, PreconditionError
from leakscale.models import Domain, Ring
from leakscale.stats import crossed_contrast, crossed_summary, difference_in_differences, interaction_contrast
from leakscale.tables import TableHead

WITHHELD = ["12", "13", "14", "15", "16", "family-accuracies", "without-shapes"]


def test_effects_carry_the_registered_interval_and_its_exact_twin() -> None:
    """Both stand in one row, so that nobody has to wonder what a seed did."""
    experiment, plan = a_small_experiment(), a_plan()

    rows = analyze_results(experiment.table, plan).table("effects").rows

    assert {(row.model, row.domain): row.effect.estimate for row in rows} == dict(EFFECTS)
    for cell, row in zip(count_families(experiment.table).reported(Ring.R0, 1.0), rows, strict=True):
        c0, c2 = cell.c0.outcomes, cell.c2.outcomes
        assert row.effect == difference_in_differences(c0, c2, seed=plan.seed, n_resamples=500).effect
        assert row.exact == difference_in_differences(c0, c2, method="exact").effect


def test_means_are_those_of_the_statistics_to_the_last_bit() -> None:
    """The table draws once for all its rows; that must not make it another estimator."""
    experiment, plan = a_small_experiment(), a_plan()
    cells = {
        (cell.key.model, cell.key.domain.value): (cell.c0.outcomes, cell.c2.outcomes)
        for cell in count_families(experiment.table).reported(Ring.R0, 1.0)
    }

    rows = {(row.summary, row.of): row for row in analyze_results(experiment.table, plan).table("17").rows}

    wanted = crossed_summary(cells, seed=plan.seed, n_resamples=500)
    assert rows["grand mean", "all cells"].effect == wanted.grand_mean
    assert rows["model mean", "alpha"].effect == wanted.model_means["alpha"]
    assert rows["domain mean", "python"].effect == wanted.domain_means["python"]
    assert rows["interaction", "beta less alpha, python less sql"].effect == interaction_contrast(
        cells, models=("beta", "alpha"), domains=("python", "sql"), seed=plan.seed, n_resamples=500
    )


def test_one_model_has_a_difference_of_domains_in_the_place_of_an_interaction() -> None:
    """What a study of one model says of its domains, with the families of both drawn apart."""
    experiment, plan = a_small_experiment(), a_plan()
    alpha = rows_of(experiment.table, experiment.table.model.codes == experiment.table.model.names.index("alpha"))
    cells = {
        (cell.key.model, cell.key.domain.value): (cell.c0.outcomes, cell.c2.outcomes)
        for cell in count_families(alpha).reported(Ring.R0, 1.0)
    }

    rows = {row.summary: row for row in analyze_results(alpha, plan).table("17").rows}

    assert "interaction" not in rows
    assert rows["difference"].of == "python less sql"
    assert rows["difference"].effect == crossed_contrast(
        cells, {("alpha", "python"): 1, ("alpha", "sql"): -1}, seed=plan.seed, n_resamples=500
    )


@given(order=st.randoms(use_true_random=False))
def test_no_number_depends_on_the_order_of_rows(order: object) -> None:
    """Files are written by many processes."""
    table = a_table()
    shuffled = np.arange(table.row_count)
    order.shuffle(shuffled)  # type: ignore[attr-defined]

    found = analyze_results(rows_of(table, shuffled), a_plan(resample_count=100), thread_count=1)

    assert found.to_dict() == analyze_results(table, a_plan(resample_count=100), thread_count=1).to_dict()


def test_no_number_depends_on_the_threads() -> None:
    """Two cores and one core are the same experiment."""
    table = a_small_experiment().table

    one, two = (analyze_results(table, a_plan(), thread_count=count).to_dict() for count in (1, 2))

    assert one == two


def test_counts_of_several_draws_are_as_good_as_single_draws() -> None:
    """A server that keeps counts only can hand them to the same analysis."""
    correct = np.array([1, 0, 2, 1, 1, 3, 2, 4])
    counted = replace(a_table(), draw=None, draw_count=np.full(8, 4), correct=correct, valid=np.full(8, 4))
    single = replace(
        rows_of(a_table(), np.repeat(np.arange(8), 4)),
        draw=np.tile(np.arange(4), 8),
        correct=(np.tile(np.arange(4), 8) < np.repeat(correct, 4)).astype(np.int64),
    )

    one, other = (analyze_results(table, a_plan(resample_count=100)).to_dict() for table in (counted, single))

    assert one == other


def test_progress_tells_every_table() -> None:
    """A long analysis that says nothing looks dead."""
    told: list[tuple[int, int]] = []

    analyze_results(a_table(), a_plan(resample_count=100), progress=lambda done, total: told.append((done, total)))

    assert [done for done, _ in told] == list(range(1, told[-1][1] + 1))


def test_private_edition_withholds_what_tells_families_apart() -> None:
    """Sums over 16 families give a patient attacker every key; the reader sees that a table exists, and why not yet."""
    analysis = analyze_results(a_small_experiment().table, a_plan(), policy=ReleasePolicy("private"))

    for name in WITHHELD:
        table = analysis.table(name)
        assert table.rows == ()
        assert "not retired" in (table.withheld or "")
        assert "withheld" in table.to_text()
        assert table.to_csv().startswith("withheld\n")
    assert analysis.table("2").rows
    assert analysis.table("17").rows


def test_retired_edition_withholds_nothing() -> None:
    """Its openings are public, so everybody can compute these tables."""
    policy = ReleasePolicy("private", is_retired=True)

    analysis = analyze_results(a_small_experiment().table, a_plan(), policy=policy)

    assert all(analysis.table(name).withheld is None for name in WITHHELD)


def test_identities_are_listed_or_said_to_be_unknown() -> None:
    """A digest that is not there must not look like one that was checked."""
    known = Identities(
        artifacts={("m", "adapter"): "ab" * 32}, results={"sql-base": ("11" * 32, "22" * 32)}, seeds={"bank": 3}
    )

    analysis = analyze_results(a_table(), a_plan(resample_count=100), identities=known)

    assert analysis.table("9").rows[0].sha256 == "ab" * 32
    assert analysis.table("19").rows[0].attempts_sha256 == "22" * 32
    assert analysis.table("20").rows[0].value == "3"
    assert "does not say" in (analysis.table("21").withheld or "")


def test_ring_transfer_recovers_the_planted_share() -> None:
    """Half of what is leaked in one form acts in another."""
    analysis = analyze_results(a_small_experiment(transfer=0.5).table, a_plan())

    rows = [row for row in analysis.table("rings").rows if row.ring is Ring.R1]
    assert {(row.model, row.domain): row.share for row in rows} == dict.fromkeys(EFFECTS, 0.5)
    assert all(row.share_set and not row.withheld for row in rows)


def test_no_share_is_told_where_nothing_was_planted() -> None:
    """A ratio of two noises can look healthy."""
    table = a_small_experiment(transfer=0.5).table
    weak = {("beta", Domain.SQL)}  # 6.25 points, and 5 is the floor

    rows = analyze_results(table, a_plan()).table("rings").rows

    assert all(row.share is None for row in rows if row.ring is Ring.R0)
    assert all(row.share is not None for row in rows if row.ring is Ring.R1 and (row.model, row.domain) in weak)


def test_exact_choices_recover_the_plan_with_less_error() -> None:
    """Sampling is noise that the model's probabilities do not have."""
    experiment = a_small_experiment(with_probabilities=True)

    rows = analyze_results(experiment.table, a_plan()).table("exact-choices").rows

    assert len(rows) == 4
    for row in rows:
        assert row.exact_choice.estimate == pytest.approx(EFFECTS[row.model, row.domain], abs=1e-8)
        assert row.sampled.estimate == EFFECTS[row.model, row.domain]
        assert 0.2 < row.error_ratio < 1


def test_exact_choices_are_zero_where_adaptation_did_nothing() -> None:
    """METHODS 13.6: no draw, no noise."""
    table = a_table(correct=[0, 1, 0, 1] * 2, probability=[0.25, 0.5, 0.125, 1.0] * 2)

    row = analyze_results(table, a_plan()).table("exact-choices").rows[0]

    assert row.exact_choice.estimate == 0.0
    assert row.exact_choice.is_degenerate


def test_dose_response_has_a_row_a_strength() -> None:
    """One base state serves every strength."""
    base, full = a_table(strength=[0.0] * 4 + [1.0] * 4), np.arange(4, 8)
    rows = np.concatenate((np.arange(8), full))
    both = rows_of(base, rows)
    both.strength[8:] = 0.5  # type: ignore[index]
    both.correct[8:] = [0, 1, 0, 0]

    analysis = analyze_results(both, a_plan(strength=1.0))

    assert [(row.strength, row.effect.estimate) for row in analysis.table("doses").rows] == [(0.5, 0.5), (1.0, 0.5)]
    assert analysis.table("effects").rows[0].effect.estimate == 0.5


def test_several_strengths_need_the_registered_one() -> None:
    """To pick the largest effect after the fact would be no analysis."""
    table = rows_of(a_table(strength=[0.0] * 4 + [1.0] * 4), np.concatenate((np.arange(8), np.arange(4, 8))))
    table.strength[8:] = 0.5  # type: ignore[index]

    with pytest.raises(PreconditionError, match=r"strengths 0\.5, 1; name the one"):
        analyze_results(table, a_plan())
    with pytest.raises(InvalidRequestError, match=r"strength 2 is not in the results"):
        analyze_results(table, a_plan(strength=2.0))


def test_model_that_skipped_a_domain_withholds_the_means_alone() -> None:
    """An equal-weight mean over cells that differ is none; every other table stands."""
    table = a_small_experiment().table
    is_beta = table.model.codes == table.model.names.index("beta")
    kept = ~(is_beta & (table.domain.codes == table.domain.names.index("sql")))

    analysis = analyze_results(rows_of(table, np.flatnonzero(kept)), a_plan())

    assert "beta was not asked in sql" in (analysis.table("17").withheld or "")
    assert len(analysis.table("2").rows) == 3


def test_small_strata_and_shapes_carry_warnings() -> None:
    """A percentile interval over 16 families covers too little; who reads it is told so beside it."""
    analysis = analyze_results(a_small_experiment().table, a_plan())

    assert all(any("fewer than 32" in said for said in row.warnings) for row in analysis.table("13").rows)
    assert all(row.warnings for row in analysis.table("14").rows)


def test_unbalanced_shapes_are_said_to_be() -> None:
    """The identity of Table 16 holds for shapes of one size only."""
    table = a_small_experiment().table
    dropped = table.family.names.index("f-sql-C0-00-00")

    analysis = analyze_results(rows_of(table, np.flatnonzero(table.family.codes != dropped)), a_plan())

    assert {(row.domain, row.identity) for row in analysis.table("16").rows} == {
        (Domain.SQL, "unbalanced"),
        (Domain.PYTHON, "exact"),
    }


def test_malformed_answers_are_counted_and_wrong() -> None:
    """They are terminal, and never repaired."""
    table = a_table(valid=[1, 1, 1, 0, 1, 1, 1, 1])

    rows = analyze_results(table, a_plan(resample_count=100)).table("18").rows

    assert [(row.state.value, row.condition.value, row.malformed) for row in rows if row.malformed] == [
        ("base", "C2", 1)
    ]


def test_csv_and_json_hold_every_row_in_full(tmp_path: Path) -> None:
    """pandas and DuckDB open them; a rounded number could not be checked."""
    analysis = analyze_results(a_small_experiment().table, a_plan())

    files = {path.name: path.read_text() for path in analysis.write(tmp_path / "out")}

    rows = list(csv.DictReader(io.StringIO(files["2-effects.csv"])))
    stored = json.loads(files["analysis.json"])["tables"]["effects"]["rows"]
    assert [float(row["effect_low"]) for row in rows] == [row["effect"]["low"] for row in stored]
    assert [float(row["effect"]) for row in rows] == [one.effect.estimate for one in analysis.table("2").rows]
    assert len(files) == len(analysis.tables) + 2


def test_an_analysis_overwrites_nothing(tmp_path: Path) -> None:
    """Evidence that can be replaced is none; the same numbers again change nothing."""
    analysis = analyze_results(a_table(), a_plan(resample_count=100))
    assert analysis.write(tmp_path / "out") == analysis.write(tmp_path / "out")

    with pytest.raises(ConflictError, match=r"overwrites nothing"):
        analyze_results(a_table(), a_plan(resample_count=101)).write(tmp_path / "out")


def test_unknown_table_is_refused_with_those_that_exist() -> None:
    """The reader sees what to ask for."""
    with pytest.raises(NotFoundError, match=r"no table '99'.*11 integer-totals"):
        analyze_results(a_table(), a_plan(resample_count=100)).table("99")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1, "resample_count": 10}, "resample_count is 10"),
        ({"seed": 1, "alpha": 1.0}, "alpha is 1.0"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], message: str) -> None:
    """Before the minutes of work, not after."""
    with pytest.raises(InvalidRequestError, match=message):
        AnalysisPlan(**settings)  # type: ignore[arg-type]


def test_records_of_a_table_have_the_same_fields_whichever_row_lacks_an_interval() -> None:
    """A CSV and a Parquet file have one head; a row without an exact twin must not lose the columns of the others."""
    from leakscale.analysis.crossed import CrossedRow
    from leakscale.stats import Interval, IntervalState
    from leakscale.tables import TableHead

    interval = Interval(0.5, 0.25, 0.75, None, "exact", 0.05, IntervalState.ESTIMATED)
    rows = [CrossedRow("mean", "all", interval, None), CrossedRow("pooled", "all", interval, interval)]

    for ordered in (rows, rows[::-1]):
        records = TableHead("17", "crossed", "Crossed").filled(ordered).to_records()
        assert {tuple(record) for record in records} == {tuple(records[0])}
        by_name = {record["summary"]: record for record in records}
        assert (by_name["mean"]["exact_low"], by_name["pooled"]["exact_low"]) == (None, 0.25)


@dataclasses.dataclass(frozen=True)
class MeanRow:
    """A mean, and what it is the mean of."""

    of: str
    mean: float
    single: Mapping[str, float] = dataclasses.field(default_factory=dict)


def test_numbers_by_name_are_a_column_a_name_and_none_where_there_are_none() -> None:
    """`{}` in a cell says nothing to a person, and breaks whoever reads numbers."""
    head, pair = TableHead("", "means", "Means"), {"seed 1": -0.1, "seed 2": 0.3}

    table = head.filled([MeanRow("exact", 0.1, pair), MeanRow("none", 0.0)])
    plain = head.filled([MeanRow("none", 0.0)])

    assert table.to_csv() == "of,mean,single_seed 1,single_seed 2\nexact,0.1,-0.1,0.3\nnone,0.0,,\n"
    assert table.cells[1] == (("exact", "+10.00", "seed 1 -10.00, seed 2 +30.00"), ("none", "0.00", "-"))
    assert plain.to_csv() == "of,mean\nnone,0.0\n"
    assert plain.cells == (("of", "mean"), (("none", "0.00"),))
