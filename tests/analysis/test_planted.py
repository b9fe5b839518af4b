"""What is planted into an experiment of the paper's size comes out of every table."""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.analysis.cases import its_analysis, joined, rows_of, the_paper_sized

from leakscale.analysis import Analysis, AnalysisPlan, ResultTable, analyze_results
from leakscale.analysis.synthetic import PAPER_PLAN, PlantedCell, PlantedExperiment, plant_experiment
from leakscale.errors import InvalidRequestError
from leakscale.models import Condition, Domain, ModelState, Ring

PUBLISHED = {
    ("Gemma-4-31B", "sql"): "7.17",
    ("Gemma-4-31B", "python"): "13.2",
    ("Qwen3-4B-Instruct-2507", "sql"): "9.9",
    ("Qwen3-4B-Instruct-2507", "python"): "27.31",
}


def planted_effect(model: str, domain: Domain, **only: object) -> Fraction:
    """Compute the effect from the planted families one by one, in a way of its own."""
    change = {}
    for condition in Condition:
        families = the_paper_sized().families[model, domain, Ring.R0, condition]
        changes = [
            int(after) - int(before)
            for shape, rank, position, before, after in zip(
                families.shapes,
                families.truth_ranks,
                families.display_positions,
                families.base,
                families.adapted,
                strict=True,
            )
            if only.get("shape", shape) == shape
            and only.get("without") != shape
            and only.get("truth rank", rank) == rank
            and only.get("display position", position) == position
        ]
        change[condition] = Fraction(sum(changes), 32 * len(changes))
    return change[Condition.C2] - change[Condition.C0]


def test_the_experiment_has_the_size_of_the_paper() -> None:
    """LS094 and LS095: a bar that holds on a smaller one would say nothing."""
    table = the_paper_sized().table

    assert table.draw_total == 262_144
    assert len(table.family.names) == 2_048
    assert len(table.shape.names) == 64
    assert {row.draws for row in its_analysis().table("11").rows} == {16_384}


def test_effects_are_the_published_ones_to_the_last_digit() -> None:
    """LS096: an analysis that rounds on the way would show it here."""
    rows = its_analysis().table("2").rows

    assert len(rows) == 4
    for row in rows:
        published = PUBLISHED[row.model, row.domain]
        assert f"{100 * row.effect.estimate:.{len(published.partition('.')[2])}f}" == published
    assert all(row.effect.excludes(0) and row.exact.excludes(0) for row in rows)


def test_aggregates_are_the_published_ones() -> None:
    """LS097 to LS099: 25.52 - 2.34, 25.12 + 12.05, and their difference."""
    rows = its_analysis().table("trajectories").rows
    crossed = {(row.summary, row.of): row for row in its_analysis().table("17").rows}

    assert [(f"{100 * row.base:.2f}", f"{100 * row.change:+.2f}") for row in rows] == [
        ("25.52", "-2.34"),
        ("25.12", "+12.05"),
    ]
    assert f"{100 * crossed['grand mean', 'all cells'].effect.estimate:.2f}" == "14.39"


def test_integer_totals_are_the_planted_counts() -> None:
    """Table 11 is what everything else is computed from."""
    for row in its_analysis().table("11").rows:
        families = the_paper_sized().families[row.model, row.domain, Ring.R0, row.condition]
        counts = families.base if row.state is ModelState.BASE else families.adapted
        assert row.correct == int(counts.sum())


def test_profiles_follow_from_the_planted_families() -> None:
    """Table 12: families are the observations, and many are never right although a quarter of the draws are."""
    rows = its_analysis().table("12").rows

    assert len(rows) == 16
    for row in rows:
        families = the_paper_sized().families[row.model, row.domain, Ring.R0, row.condition]
        counts = sorted((families.base if row.state is ModelState.BASE else families.adapted).tolist())
        assert row.median == (counts[255] + counts[256]) / 64
        assert row.never_right == counts.count(0)
        assert row.always_right == counts.count(32)


def test_the_histogram_counts_the_planted_families() -> None:
    """A family at exactly 10 % of its draws belongs to the second tenth, one that is always right to the last."""
    rows = its_analysis().table("family-accuracies").rows

    assert len(rows) == 16 * 10
    for row in rows:
        families = the_paper_sized().families[row.model, row.domain, Ring.R0, row.condition]
        counts = (families.base if row.state is ModelState.BASE else families.adapted).tolist()
        is_last = row.below == 1.0
        inside = [row.at_least <= Fraction(count, 32) < row.below or (is_last and count == 32) for count in counts]
        assert row.families == sum(inside)
    assert sum(row.families for row in rows) == 16 * 512


@pytest.mark.parametrize("stratum", ["truth rank", "display position"])
def test_answer_strata_hold_what_was_planted(stratum: str) -> None:
    """Table 13 and LS101: 16 effects a stratum, all positive."""
    rows = [row for row in its_analysis().table("13").rows if row.stratum == stratum]

    assert len(rows) == 16
    for row in rows:
        assert row.effect.estimate == float(planted_effect(row.model, row.domain, **{stratum: row.value}))
        assert row.effect.estimate > 0


@pytest.mark.parametrize("number", ["14", "15"])
def test_shapes_hold_what_was_planted_and_warn(number: str) -> None:
    """Tables 14 and 15: 16 families against 16 carry an interval that says how little it may be believed."""
    domain = Domain.SQL if number == "14" else Domain.PYTHON
    rows = its_analysis().table(number).rows

    assert len(rows) == 64
    for row in rows:
        assert row.effect.estimate == float(planted_effect(row.model, domain, shape=row.shape))
        assert row.effect.method == "studentized"
        assert row.warnings


def test_leaving_one_shape_out_gives_128_positive_effects_that_add_up() -> None:
    """Table 16 and LS101; the identity ties each to the shape's own effect in whole numbers."""
    rows = its_analysis().table("16").rows
    single = its_analysis().table("without-shapes").rows

    assert [row.identity for row in rows] == ["exact"] * 4
    assert (sum(row.positive for row in rows), len(single)) == (128, 128)
    for row in single:
        assert row.effect == float(planted_effect(row.model, row.domain, without=row.without))


def test_means_and_interaction_are_those_of_the_planted_effects() -> None:
    """Table 17: the interaction is Qwen's Python less SQL, less Gemma's."""
    rows = {(row.summary, row.of): row for row in its_analysis().table("17").rows}
    effects = {name: planted_effect(name[0], Domain(name[1])) for name in PUBLISHED}
    gemma, qwen = "Gemma-4-31B", "Qwen3-4B-Instruct-2507"

    assert len(rows) == 6
    assert rows["model mean", qwen].exact.estimate == float((effects[qwen, "sql"] + effects[qwen, "python"]) / 2)
    assert rows["domain mean", "sql"].exact.estimate == float((effects[gemma, "sql"] + effects[qwen, "sql"]) / 2)
    interaction = rows["interaction", f"{qwen} less {gemma}, python less sql"]
    wanted = effects[qwen, "python"] - effects[qwen, "sql"] - effects[gemma, "python"] + effects[gemma, "sql"]
    assert interaction.effect.estimate == float(wanted)


def test_every_planned_draw_ended() -> None:
    """Table 18 and LS102."""
    rows = its_analysis().table("18").rows

    assert len(rows) == 16
    assert {(row.planned, row.terminal, row.valid, row.malformed) for row in rows} == {(16_384, 16_384, 16_384, 0)}


def test_sizes_are_those_that_were_planted() -> None:
    """Table 10: 512 families of 32 shapes, answered by two models in two states."""
    rows = its_analysis().table("10").rows

    assert {(row.domain, row.condition) for row in rows} == {(d, c) for d in Domain for c in Condition}
    for row in rows:
        assert (row.families, row.shapes, row.models) == (512, 32, 2)
        assert (row.draws_a_family_and_state, row.draws) == (32, 65_536)


@functools.cache
def extended() -> PlantedExperiment:
    """Plant the same into R0, three quarters of it into R1, and keep the laws that the draws come from."""
    return plant_experiment(transfer={Ring.R1: 0.75}, with_probabilities=True)


@functools.cache
def its_extensions() -> Analysis:
    """Analyze it with a second strength of the adapters, at which half of the effect was planted."""
    half = plant_experiment([replace(cell, effect=cell.effect / 2) for cell in PAPER_PLAN], with_probabilities=True)
    whole, weak = extended().table, half.table
    is_adapted = weak.state.codes == weak.state.names.index(ModelState.ADAPTED)
    table = joined(
        replace(whole, strength=strengths(whole, 1.0)),
        rows_of(replace(weak, strength=strengths(weak, 0.5)), np.flatnonzero(is_adapted)),
    )
    return analyze_results(table, AnalysisPlan(seed=1, resample_count=200, strength=1.0))


def strengths(table: ResultTable, value: float) -> NDArray[np.float64]:
    """Return the strength of each row; that of the base state is none."""
    return np.where(table.state.codes == table.state.names.index(ModelState.ADAPTED), value, 0.0)


def test_rings_hold_what_was_planted_into_each() -> None:
    """In whole draws, and as a share of the effect in R0."""
    rows = its_extensions().table("rings").rows

    assert len(rows) == 8
    for row in rows:
        arms = {
            condition: extended().families[row.model, row.domain, row.ring, condition].changes
            for condition in Condition
        }
        planted = Fraction(int(arms[Condition.C2].sum()) - int(arms[Condition.C0].sum()), 16_384)
        assert row.effect.estimate == float(planted)
        if row.ring is Ring.R1 and not row.withheld:
            assert row.share == pytest.approx(float(planted / planted_effect(row.model, row.domain)), abs=1e-12)
            assert row.share == pytest.approx(0.75, abs=1e-3)
    assert sum(row.share is not None for row in rows) == 4


def test_doses_hold_what_was_planted_at_each_strength() -> None:
    """Half of every effect at half strength, to the nearest draw."""
    rows = its_extensions().table("doses").rows

    assert len(rows) == 8
    for row in rows:
        planted = float(planted_effect(row.model, row.domain)) * row.strength
        assert row.effect.estimate == pytest.approx(planted, abs=1 / 16_384)
        assert row.exact.estimate == row.effect.estimate


def test_exact_choices_and_expected_accuracies_hold_the_planted_laws() -> None:
    """The draws are one sample of laws whose means are the plan."""
    choices = its_extensions().table("exact-choices").rows
    expected = its_extensions().table("expected-accuracies").rows

    assert (len(choices), len(expected)) == (4, 16)
    for choice in choices:
        planted = float(planted_effect(choice.model, choice.domain))
        assert choice.exact_choice.estimate == pytest.approx(planted, abs=1e-8)
        assert choice.sampled.estimate == planted
    for row in expected:
        families = extended().families[row.model, row.domain, Ring.R0, row.condition]
        is_base = row.state is ModelState.BASE
        law, counts = (
            (families.base_probability, families.base) if is_base else (families.adapted_probability, families.adapted)
        )
        assert row.expected == pytest.approx(float(law.mean()), abs=1e-12)
        assert row.sampled == int(counts.sum()) / 16_384


def test_no_table_is_without_a_test_of_what_was_planted() -> None:
    """A new table shows up here; those of identities hold no estimate."""
    tested = {
        *("2", "10", "11", "12", "13", "14", "15", "16", "17", "18"),
        *("trajectories", "family-accuracies", "without-shapes", "rings", "doses", "exact-choices"),
        "expected-accuracies",
    }
    identities = {"9", "19", "20", "21"}

    assert {table.number or table.name for table in its_extensions().tables} == tested | identities


def test_a_plan_beyond_certainty_is_refused() -> None:
    """Nothing can be right in more than all of its draws."""
    with pytest.raises(InvalidRequestError, match="plan both between 0 and 1"):
        plant_experiment([PlantedCell("m", Domain.SQL, 0.9, 0.25, 0.0, 0.25)])


def test_the_same_seed_plants_the_same_experiment() -> None:
    """A bench and a test that name it must speak of one data set."""
    again = plant_experiment()

    assert again.table.correct.tolist() == the_paper_sized().table.correct.tolist()
