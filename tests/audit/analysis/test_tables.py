"""The tables of an audit say what was planted, agree with plain formulas, and withhold what nobody knows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats
from tests.audit.analysis.builders import confidences, scores

from leakscale.audit.analysis import AuditAnalysis, AuditSettings, ModelScores, Panel, analyze_panel
from leakscale.audit.registration.fields import InferenceTable
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.errors import ConflictError, InvalidRequestError, NotFoundError
from leakscale.stats import FinitePopulationDesign, Stratum, find_near_copies

PARENTS, FRAME = 240, 1_319


def settings(**fields: object) -> AuditSettings:
    """Return the defaults of a registration, but for these."""
    return AuditSettings(FinitePopulationDesign(FRAME), InferenceTable(**fields))  # type: ignore[arg-type]


def analysis_of(
    *tables: ScoreTable,
    controls: tuple[ScoreTable, ...] = (),
    rule: AuditSettings | None = None,
    only: Collection[str] | None = None,
) -> AuditAnalysis:
    """Analyze tables of scores."""
    return analyze_panel(Panel.of(tables, controls), rule or settings(), only=only)


def test_table_3_is_what_its_formulas_say() -> None:
    """Mean gap, s with ddof 1, finite-population correction with the frame's size, z of 1.96: METHODS 1.3 and 2.8."""
    table = scores("tiny", PARENTS, planted=0.3)
    (row,) = analysis_of(table).table("advantage").rows
    gaps = table.original - table.fresh.mean(axis=1)
    half_width = 1.959964 * np.sqrt((1 - PARENTS / FRAME) * gaps.var(ddof=1) / PARENTS)

    assert row.public == pytest.approx(table.original.mean())
    assert row.fresh == pytest.approx(table.fresh.mean())
    assert row.gap.estimate == pytest.approx(gaps.mean())
    assert row.gap.half_width == pytest.approx(half_width, rel=1e-6)
    assert row.nonzero == np.count_nonzero(gaps)
    assert row.primary == "wald_fpc"


def test_the_guardrail_names_its_reason() -> None:
    """Whoever reads a wide interval wants to know why it is not the usual one."""
    few = analysis_of(scores("tiny", 150)).table("3").rows[0]
    assert few.primary.startswith("betting (few parents")

    hoeffding = analysis_of(scores("tiny", 150), rule=settings(bound="hoeffding")).table("3").rows[0]
    assert hoeffding.gap.half_width == pytest.approx(np.sqrt(2 * np.log(2 / 0.05) / 150))


def test_a_planted_advantage_is_claimed_and_none_is_not() -> None:
    """The rule has to fire where exposure moved the score by twenty points, and to stay silent where nothing did."""
    tables = scores("exposed", PARENTS, planted=0.6, seed=1), scores("clean", PARENTS, seed=2)
    controls = scores("exposed", 400, seed=3, prefix="c"), scores("clean", 400, seed=4, prefix="c")
    rows = {row.model: row for row in analysis_of(*tables, controls=controls).table("claims").rows}

    assert rows["exposed"].verdict == "advantage"
    assert rows["exposed"].exposure.low > 0
    assert rows["exposed"].breakdown_radius > 0.02
    assert rows["clean"].verdict == "none"
    assert rows["clean"].breakdown_radius == 0


def test_a_control_bank_that_never_varies_is_read_by_the_bound() -> None:
    """And where Wald was registered, the table says that no claim could fire."""
    exposed, control = scores("tiny", PARENTS, planted=0.6, seed=1), scores("tiny", 60, prefix="c")
    control = replace(control, scores=np.zeros_like(control.scores))
    (row,) = analysis_of(exposed, controls=(control,)).table("claims").rows
    wald = analysis_of(exposed, controls=(control,), rule=settings(control="wald")).table("claims")

    assert (row.verdict, row.control_gap.method) == ("advantage", "betting")
    assert wald.rows[0].verdict == "gap_only"
    assert "no claim can fire however large the gap" in wald.note


def test_a_control_bank_that_shares_a_parent_is_refused() -> None:
    """Taking the audit's own scores for the control leaves nothing to be owed to exposure."""
    with pytest.raises(InvalidRequestError, match="parent 'p0' is in the audit and in the control bank"):
        analysis_of(scores("tiny", PARENTS), controls=(scores("tiny", 60),))


def test_the_grid_widens_by_twice_the_radius() -> None:
    """METHODS 2.4: each step of the radius adds twice itself to the width, and the estimate stays."""
    control = scores("tiny", 300, seed=9, prefix="c")
    rows = analysis_of(scores("tiny", PARENTS, planted=0.2), controls=(control,)).table("sensitivity").rows
    widths = [row.exposure.high - row.exposure.low for row in rows]

    assert [row.rho for row in rows] == [0.0, 0.01, 0.02, 0.05, 0.1]
    assert np.diff(widths) == pytest.approx([0.02, 0.02, 0.06, 0.1])
    assert len({row.exposure.estimate for row in rows}) == 1


def test_without_a_control_bank_nothing_is_said_about_exposure() -> None:
    """A gap alone may be ordinary form mismatch."""
    found = analysis_of(scores("tiny", PARENTS, planted=0.6))
    for name in ("claims", "sensitivity", "readings"):
        assert "no control bank" in (found.table(name).withheld or "")
        assert not found.table(name).rows


def test_a_model_without_control_scores_is_named() -> None:
    """It would look as if it had passed."""
    control = scores("one", 300, seed=9, prefix="c")
    table = analysis_of(scores("one", PARENTS), scores("two", PARENTS, seed=5), controls=(control,)).table("claims")

    assert [row.model for row in table.rows] == ["one"]
    assert "Without control scores: two." in table.note


def test_p_values_are_adjusted_over_the_panel() -> None:
    """The paper left the correction out, and says that it should not have."""
    tables = [scores(f"m{number}", PARENTS, planted=0.1 * number, seed=number) for number in range(4)]
    bonferroni = analysis_of(*tables, rule=settings(adjustment="bonferroni")).table("3")

    assert [row.adjusted_p for row in bonferroni.rows] == pytest.approx(
        [min(1, 4 * row.joint_null_p) for row in bonferroni.rows]
    )
    assert "two-sided" in bonferroni.note


def test_confidence_without_consequence_is_seen_as_that() -> None:
    """Phi-3 on ARC: more confident on the public stems, and no more often right."""
    table = scores("tiny", PARENTS, seed=2)
    confident = confidences("tiny", PARENTS, shift=0.2)
    (row,) = analysis_of(table, confident).table("detectors").rows
    pairs = confident.original, confident.fresh.mean(axis=1)

    assert row.says == "confidence only"
    assert row.t_p == pytest.approx(scipy_stats.ttest_rel(*pairs).pvalue)
    assert row.signed_rank_p == pytest.approx(scipy_stats.wilcoxon(*pairs).pvalue, rel=1e-6)
    assert row.fresh_score == pytest.approx(table.fresh.mean())


def test_score_without_confidence_is_seen_as_that() -> None:
    """A detector that misses a changed score is what an auditor must know of."""
    (row,) = analysis_of(scores("tiny", PARENTS, planted=0.6), confidences("tiny", PARENTS)).table("7").rows
    assert row.says == "score only"


def test_a_missing_detector_still_counts_in_the_correction() -> None:
    """Leaving a test out after the fact would make the panel smaller."""
    tables = scores("one", PARENTS, seed=1), scores("two", PARENTS, seed=2), confidences("one", PARENTS, shift=0.02)
    first, second = analysis_of(*tables).table("detectors").rows

    assert first.t_p is not None
    assert first.adjusted_p == pytest.approx(min(1, 2 * first.t_p))
    assert second.t_p is None
    assert second.says == "-"


def test_every_detector_is_set_against_the_score() -> None:
    """One that sees a familiar wording and one that does not, beside a score that moved and one that did not."""
    planted = scores("moved", PARENTS, planted=0.6)
    signals = [
        confidences("moved", PARENTS, kind=ScoreKind.FAMILIARITY, shift=0.3),
        confidences("moved", PARENTS, kind=ScoreKind.MIN_K, seed=4),
        confidences("still", PARENTS, kind=ScoreKind.MIN_K, shift=0.3, seed=5),
    ]
    rows = analysis_of(planted, scores("still", PARENTS, seed=2), *signals).table("signals").rows
    pairs = signals[0].original, signals[0].fresh.mean(axis=1)

    assert [(row.model, row.detector, row.says) for row in rows] == [
        ("moved", "perplexity", "both"),
        ("moved", "Min-20 %", "score only"),
        ("still", "Min-20 %", "detector only"),
    ]
    assert rows[0].t_p == pytest.approx(scipy_stats.ttest_rel(*pairs).pvalue)
    assert rows[0].shift == pytest.approx(rows[0].public - rows[0].fresh)
    assert rows[1].adjusted_p >= rows[1].t_p


def test_signals_are_withheld_where_nothing_was_read() -> None:
    """An imported log has scores alone."""
    assert "withheld" in analysis_of(scores("one", PARENTS)).table("signals").to_text()


def test_clusters_name_the_parents_to_read() -> None:
    """Two models that fail on one parent's fresh forms alone point at the forms."""
    one, two = scores("one", PARENTS, seed=1), scores("two", PARENTS, seed=2)
    planted = one.scores.copy(), two.scores.copy()
    for values in planted:
        values[:9] = [1, 0, 0]
    found = analysis_of(replace(one, scores=planted[0]), replace(two, scores=planted[1])).table("clustering")
    faults = found.rows[0]

    assert set(faults.parent_ids) >= {f"p{number}" for number in range(9)}
    assert faults.p < 0.001
    assert "p8" in found.to_csv()


def test_dropping_near_copies_recomputes_the_gap() -> None:
    """Copies pull a gap to zero: METHODS 7.2."""
    table = scores("tiny", 4, planted=1.0, seed=3)
    originals = ["one two three four five"] * 4
    fresh = [["one two three four five six", "seven eight"]] + [["nine ten", "eleven twelve"]] * 3
    panel = Panel((ModelScores(table),), find_near_copies(originals, fresh))
    (row,) = analyze_panel(panel, settings()).table("near-copies").rows
    gaps = table.original - table.fresh.mean(axis=1)

    assert row.dropped == 1
    assert row.gap_of_all == pytest.approx(gaps.mean())
    assert row.gap_without == pytest.approx(gaps[1:].mean())


def test_a_census_has_no_sampling_error_left() -> None:
    """Every parent of the benchmark was asked."""
    rule = AuditSettings(FinitePopulationDesign(PARENTS), InferenceTable())
    (row,) = analysis_of(scores("tiny", PARENTS), rule=rule).table("3").rows
    assert row.gap.half_width == 0


def test_strata_keep_the_methods_that_know_them() -> None:
    """Betting has no stratified form: its row is left out, and the planning that redraws samples says why it is."""
    strata = tuple("easy" if number < 100 else "hard" for number in range(PARENTS))
    table = replace(scores("tiny", PARENTS), strata=strata)
    design = FinitePopulationDesign(FRAME, strata={"easy": Stratum(600), "hard": Stratum(FRAME - 600)})
    found = analysis_of(table, rule=AuditSettings(design, InferenceTable(bound="hoeffding")))

    assert {row.method for row in found.table("intervals").rows} >= {"wald_fpc", "hoeffding"}
    assert "betting" not in {row.method for row in found.table("intervals").rows}
    assert "stratified" in (found.table("detection").withheld or "")


def test_scores_of_a_stratified_sample_are_weighed_as_their_gap_is() -> None:
    """A stratum that was drawn more densely counts by its share of the benchmark, and public less fresh is the gap."""
    easy = np.tile([1.0, 0.0, 0.0], (8, 1))  # every original right, no fresh form
    table = ScoreTable(
        model="tiny",
        kind=ScoreKind.CORRECT,
        metric="numeric",
        parent_ids=tuple(f"p{number}" for number in range(12)),
        scores=np.concatenate([easy, np.zeros((4, 3))]),
        fresh_count=2,
        strata=("easy",) * 8 + ("hard",) * 4,
    )
    design = FinitePopulationDesign(30, strata={"easy": Stratum(10), "hard": Stratum(20)})
    rule = AuditSettings(design, InferenceTable(bound="hoeffding"))
    found = analysis_of(table, replace(confidences("tiny", 12), strata=table.strata), rule=rule)
    (row,) = found.table("advantage").rows

    assert (row.public, row.fresh, row.gap.estimate) == (pytest.approx(1 / 3), pytest.approx(0), pytest.approx(1 / 3))
    assert "each stratum by its share" in found.table("advantage").note
    assert "each weighing the same: its gaps" in found.table("detectors").note


def test_graded_scores_have_no_count_of_right_answers() -> None:
    """Clusters count right and wrong; everything else takes shares of full marks."""
    tables = [replace(scores(name, PARENTS, seed=seed), kind=ScoreKind.GRADED) for seed, name in enumerate("ab")]
    found = analysis_of(*tables)

    assert "graded" in (found.table("clustering").withheld or "")
    assert len(found.table("advantage").rows) == 2


def test_numbers_stay_as_they_are_whatever_stands_beside() -> None:
    """A model's row may depend on the panel through the correction alone."""
    alone = analysis_of(scores("one", PARENTS, planted=0.2)).table("3").rows[0]
    beside = analysis_of(scores("one", PARENTS, planted=0.2), scores("two", PARENTS, seed=8)).table("3").rows[0]
    assert (beside.gap, beside.public, beside.joint_null_p) == (alone.gap, alone.public, alone.joint_null_p)


def test_tables_are_written_whole_and_never_over_others(tmp_path: Path) -> None:
    """An analysis that is repeated is the same; another one needs another place."""
    folder = tmp_path / "numbers"
    first = analysis_of(scores("one", PARENTS))
    files = first.write(folder)
    assert first.write(folder) == files
    assert {path.name for path in files} == {path.name for path in folder.iterdir()}
    with pytest.raises(ConflictError, match="overwrites nothing"):
        analysis_of(scores("one", PARENTS, seed=4)).write(folder)


@pytest.mark.parametrize(
    ("tables", "controls", "message"),
    [
        ((), (), "at least one model"),
        ((scores("one", 9), scores("one", 9, seed=2)), (), "one comes twice"),
        ((scores("one", 9), scores("two", 8)), (), "other parents"),
        ((scores("one", 9), confidences("two", 9)), (), "two (base) has no accuracies"),
        ((scores("one", 9),), (scores("two", 9),), "two (base) has no accuracies"),
        ((scores("one", 9), confidences("one", 8)), (), "other parents"),
        ((scores("one", 9),), (replace(scores("one", 9), metric="exact"),), "metric 'exact' instead of 'numeric'"),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(
    tables: tuple[ScoreTable, ...], controls: tuple[ScoreTable, ...], message: str
) -> None:
    """A panel compares models on one bank, and every difference is named."""
    with pytest.raises(InvalidRequestError) as error:
        Panel.of(tables, controls)
    assert message in str(error.value)


def test_an_unknown_table_is_named_with_those_there_are() -> None:
    """The next step is in the message."""
    with pytest.raises(NotFoundError, match=r"no table '14'.*3 advantage"):
        analysis_of(scores("one", 9)).table("14")
