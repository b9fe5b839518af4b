"""Every table of an audit gives back what was planted into the scores that it is made of.

`RECOVERED` names a test a table; a table that nobody planted anything for fails here, on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from tests.audit.analysis import test_tables
from tests.audit.analysis.builders import scores
from tests.audit.analysis.test_tables import FRAME, PARENTS, analysis_of, settings

from leakscale.audit.analysis import AuditSettings, ModelScores, Panel, analyze_panel
from leakscale.audit.registration.fields import InferenceTable
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.audit.scoring.quality import AnswerQuality, FormQuality
from leakscale.stats import FinitePopulationDesign, Stratum
from leakscale.tables import Table


def exactly(table: ScoreTable, *, public_only: int, fresh_only: int = 0, right: int = 0) -> ScoreTable:
    """Return answers of which so many parents are right on the public form only, on fresh forms only, on all."""
    values = np.zeros_like(table.scores)
    values[:public_only, 0] = 1
    values[public_only : public_only + fresh_only, 1:] = 1
    values[public_only + fresh_only : public_only + fresh_only + right] = 1
    order = np.random.Generator(np.random.PCG64(5)).permutation(len(values))
    return replace(table, scores=values[order])


def table_of(name: str, *tables: ScoreTable, **settings: Any) -> Table[Any]:
    """Compute one table."""
    return analysis_of(*tables, only=[name], **settings).table(name)


def test_a_planted_gap_is_read_alike_by_every_interval() -> None:
    """Table 6: 24 of 240 parents, ten points, whatever the method."""
    rows = table_of("intervals", exactly(scores("tiny", PARENTS), public_only=24, right=100)).rows

    assert {row.gap.estimate for row in rows} == {0.1}
    assert all(row.gap.low <= 0.1 <= row.gap.high for row in rows)
    assert {"wald_fpc", "hoeffding", "betting"} <= {row.method for row in rows}


def test_a_planted_exposure_is_what_every_reading_of_the_control_bank_leaves() -> None:
    """Table 5: ten points of gap, four of them ordinary form mismatch of the control bank."""
    audit = exactly(scores("tiny", 400), public_only=40, right=100)
    control = exactly(scores("tiny", 500, prefix="c"), public_only=20, right=100)
    (row,) = table_of("readings", audit, controls=(control,)).rows

    assert [each.estimate for each in (row.wald, row.guardrail, row.fixed)] == pytest.approx([0.06] * 3)
    assert row.fixed.half_width < row.wald.half_width < row.guardrail.half_width


def test_budgets_keep_a_planted_order_and_the_width_of_a_plain_formula() -> None:
    """Table 10: models forty points apart are never confused; ones a point apart are at half the budget."""
    best, good, poor = (
        exactly(scores(name, PARENTS), public_only=0, fresh_only=12, right=right)
        for name, right in (("best", 202), ("good", 200), ("poor", 100))
    )
    far = {row.parents: row for row in table_of("budget", best, poor).rows}
    near = {row.parents: row for row in table_of("budget", best, good).rows}

    assert {row.pairs_ordered for row in far.values()} == {1.0}
    assert near[PARENTS].all_ordered == 1
    assert near[PARENTS // 2].all_ordered < 0.9
    spread = 0.05 * 0.95 * PARENTS / (PARENTS - 1)
    half_width = 1.959964 * np.sqrt((1 - 0.5) * spread / (PARENTS // 2))
    assert far[PARENTS // 2].of_this_audit == pytest.approx(half_width, rel=0.02)
    assert far[PARENTS].of_this_audit == 0
    for size in (PARENTS // 2, PARENTS):
        half_width = 1.959964 * np.sqrt((1 - size / FRAME) * spread / size)
        assert far[size].half_width == pytest.approx(half_width, rel=0.02)


def test_one_model_has_a_budget_without_an_order() -> None:
    """How exact a smaller audit is does not take a second model."""
    table = table_of("budget", scores("one", PARENTS))

    assert [row.pairs_ordered for row in table.rows] == [None] * len(table.rows)
    assert table.rows[0].of_this_audit > table.rows[-1].of_this_audit == 0
    assert "no order to keep" in table.note


def test_detection_knows_what_fits_into_the_registered_half_width() -> None:
    """Table 11: an advantage of one half-width is seen about every second time, one of far more always."""
    even = exactly(scores("tiny", PARENTS), public_only=8, fresh_only=8, right=120)
    rows = {(row.parents, row.advantage): row.detected for row in table_of("detection", even).rows}

    assert rows[200, 0.20] == 1
    assert rows[800, 0.05] > 0.9
    assert max(detected for (_, planted), detected in rows.items() if planted == 0) < 0.05
    assert (PARENTS, 0.05) in rows
    assert rows[100, 0.02] < 0.1
    assert rows[200, 0.02] < rows[200, 0.05] < rows[200, 0.10]


def test_a_gap_that_a_model_has_already_is_seen_with_nothing_planted() -> None:
    """Table 11 of a model with a gap tells of that gap, and says so."""
    far = exactly(scores("far", PARENTS), public_only=48, fresh_only=0, right=100)
    table = table_of("detection", far)

    assert {row.detected for row in table.rows if row.advantage == 0 and row.parents >= PARENTS} == {1.0}
    assert "rows of 0 points say how often that alone is seen" in table.note


def test_an_advantage_is_planted_only_where_there_is_room() -> None:
    """A model with gaps nearly everywhere keeps its other rows, and the note names the ones that are missing."""
    crowded = exactly(scores("crowded", PARENTS), public_only=98, fresh_only=98, right=22)

    for name in ("detection", "relabelling"):
        table = table_of(name, crowded, scores("usual", PARENTS))
        assert {row.advantage for row in table.rows if row.model == "crowded"} == {0.0, 0.02, 0.05, 0.10} & {
            row.advantage for row in table.rows
        }
        assert "Too few parents without a gap to plant it: crowded, 20 points." in table.note


def test_power_is_the_half_width_and_the_usual_addition() -> None:
    """The paper's least advantage, and the one that four audits of five declare."""
    found = analysis_of(exactly(scores("tiny", PARENTS), public_only=24, fresh_only=24, right=100))
    (row,), (gap,) = found.table("power").rows, found.table("advantage").rows

    assert row.half_power == gap.gap.half_width
    assert row.power_80 == pytest.approx(row.half_power * (1 + 0.8416212 / 1.959964))
    assert row.primary == "wald_fpc"


def test_exchanged_forms_leave_no_placebo_gap() -> None:
    """Whatever was planted: giving each form in turn the original's role averages to nothing."""
    planted = scores("tiny", PARENTS, planted=0.6)
    rows = table_of("placebo", planted, controls=(scores("tiny", 90, seed=7, prefix="c"),)).rows

    assert [(row.bank, row.parents, row.exact_residual) for row in rows] == [("audit", PARENTS, 0), ("control", 90, 0)]
    assert all(row.float_residual < 1e-15 for row in rows)


def test_formats_are_shares_of_what_was_answered() -> None:
    """A quarter cut off, half with the phrase, and where the parser met the number."""
    quality = FormQuality.from_json(
        FormQuality(
            form="original",
            answer_count=8,
            choice_count=0,
            cut_off_count=2,
            phrase_count=4,
            formats={"phrase": 4, "none": 4},
            first_option_count=0,
            secondary_right_count=0,
        ).to_json()
    )
    panel = Panel((ModelScores(scores("tiny", 8), quality=AnswerQuality((quality,), 3, 2, ())),))
    table = analyze_panel(panel, settings(), only=["formats"]).table("formats")

    assert (table.rows[0].cut_off, table.rows[0].phrase, table.rows[0].met) == (0.25, 0.5, "phrase 4, none 4")
    assert "tiny 2 of 3" in table.note


def test_the_test_rejects_a_planted_advantage_where_the_interval_is_still_blind() -> None:
    """Table 12: hardly a gap in the bank, fifty parents, Hoeffding on the guardrail branch as in the paper."""
    calm = exactly(scores("tiny", PARENTS), public_only=5, fresh_only=5, right=120)
    table = table_of("12", calm, rule=settings(bound="hoeffding"))
    rows = {(row.parents, row.advantage): row for row in table.rows}

    assert rows[50, 0.10].detected == 0
    assert rows[50, 0.20].rejected > 0.7
    assert rows[100, 0.10].detected == 0
    assert rows[100, 0.10].rejected > 0.7
    assert rows[200, 0.20].detected > 0.95
    assert {row.level <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2_000) for row in table.rows} == {True}


def test_a_pilot_with_a_gap_of_its_own_adds_to_what_is_planted() -> None:
    """As in table 11: the audited bank is the pilot, and its gap stays in."""
    still, ahead = (
        exactly(scores("tiny", PARENTS), public_only=public_only, fresh_only=12, right=120) for public_only in (12, 36)
    )
    of_still, of_ahead = (table_of("relabelling", each).rows for each in (still, ahead))

    assert all(one.rejected <= other.rejected for one, other in zip(of_still, of_ahead, strict=True))
    assert of_ahead[0].advantage == 0
    assert of_ahead[0].rejected > of_still[0].rejected + 0.2


def test_form_mismatch_alone_makes_the_test_reject() -> None:
    """Table 13: nothing was exposed; the first row is the level, and the last is most audits."""
    table = table_of("13", scores("tiny", 200, planted=0.3))
    rejected = [row.rejected for row in table.rows]

    assert [row.penalty for row in table.rows] == [0, 0.02, 0.05, 0.08, 0.10]
    assert {row.parents for row in table.rows} == {200}
    assert 0.02 < rejected[0] <= 0.05 + 3 * table.rows[0].standard_error
    assert rejected == sorted(rejected)
    assert rejected[-1] > 2 / 3
    assert "announces no advantage" in table.note


def test_a_penalty_that_no_accuracy_can_bear_is_left_out_by_name() -> None:
    """A model that solves one item in twenty cannot lose eight points of fresh accuracy."""
    weak = exactly(scores("weak", PARENTS), public_only=0, right=12)
    table = table_of("mismatch", weak)

    assert [row.penalty for row in table.rows] == [0, 0.02, 0.05]
    assert "weak, 8 points; weak, 10 points" in table.note
    assert "no model answers enough forms right" in (table_of("mismatch", exactly(weak, public_only=0)).withheld or "")


def test_a_rejection_announces_nothing() -> None:
    """Mismatch in both banks alike: the joint null falls, no advantage is claimed, and the table says why."""
    audit = exactly(scores("tiny", 400), public_only=40, right=200)
    control = exactly(scores("tiny", 400, prefix="c"), public_only=40, right=200)
    found = analysis_of(audit, controls=(control,))
    (row,), (claim,) = found.table("advantage").rows, found.table("claims").rows

    assert row.joint_null_p < 0.001
    assert claim.verdict == "gap_only"
    assert "no exposure and no form mismatch" in found.table("advantage").note
    assert "announces no advantage" in found.table("advantage").note


@pytest.mark.parametrize("name", ["relabelling", "mismatch"])
def test_graded_scores_have_no_right_answers_to_plant_or_lose(name: str) -> None:
    graded = replace(scores("tiny", PARENTS), kind=ScoreKind.GRADED, scores=scores("tiny", PARENTS).scores / 2)
    assert "graded" in (table_of(name, graded).withheld or "")


def test_planted_audits_are_simple_samples() -> None:
    strata = tuple("easy" if number < 100 else "hard" for number in range(PARENTS))
    design = FinitePopulationDesign(FRAME, strata={"easy": Stratum(600), "hard": Stratum(FRAME - 600)})
    stratified = AuditSettings(design, InferenceTable(bound="hoeffding"))

    table = table_of("relabelling", replace(scores("tiny", PARENTS), strata=strata), rule=stratified)
    assert "stratified" in (table.withheld or "")


@pytest.mark.parametrize("name", ["detection", "relabelling"])
def test_a_benchmark_too_small_for_the_usual_sizes_gives_this_audits_own(name: str) -> None:
    """A table of no row would look as if nothing were ever seen."""
    small = AuditSettings(FinitePopulationDesign(40), InferenceTable())

    assert {row.parents for row in table_of(name, scores("tiny", 30), rule=small).rows} == {30}


@pytest.mark.parametrize("name", ["detection", "relabelling"])
def test_a_bank_with_gaps_everywhere_says_why_nothing_is_planted(name: str) -> None:
    everywhere = exactly(scores("tiny", 60), public_only=30, fresh_only=30)
    assert "hardly a parent answers all its forms alike" in (table_of(name, everywhere).withheld or "")


RECOVERED: Final[dict[str, Callable[..., Any]]] = {
    "advantage": test_tables.test_table_3_is_what_its_formulas_say,
    "claims": test_tables.test_a_planted_advantage_is_claimed_and_none_is_not,
    "sensitivity": test_tables.test_the_grid_widens_by_twice_the_radius,
    "readings": test_a_planted_exposure_is_what_every_reading_of_the_control_bank_leaves,
    "intervals": test_a_planted_gap_is_read_alike_by_every_interval,
    "detectors": test_tables.test_confidence_without_consequence_is_seen_as_that,
    "signals": test_tables.test_every_detector_is_set_against_the_score,
    "clustering": test_tables.test_clusters_name_the_parents_to_read,
    "near-copies": test_tables.test_dropping_near_copies_recomputes_the_gap,
    "budget": test_budgets_keep_a_planted_order_and_the_width_of_a_plain_formula,
    "detection": test_detection_knows_what_fits_into_the_registered_half_width,
    "relabelling": test_the_test_rejects_a_planted_advantage_where_the_interval_is_still_blind,
    "mismatch": test_form_mismatch_alone_makes_the_test_reject,
    "formats": test_formats_are_shares_of_what_was_answered,
    "power": test_power_is_the_half_width_and_the_usual_addition,
    "placebo": test_exchanged_forms_leave_no_placebo_gap,
}


def test_every_table_has_a_test_that_plants_something() -> None:
    """Add the new table's test here."""
    assert list(RECOVERED) == [table.name for table in analysis_of(scores("tiny", 40)).tables]
