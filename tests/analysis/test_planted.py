"""What is planted into an experiment of the paper's size comes out of every table."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.analysis.cases import its_analysis, the_paper_sized

from leakscale.analysis.synthetic import PlantedCell, plant_experiment
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


def test_a_plan_beyond_certainty_is_refused() -> None:
    """Nothing can be right in more than all of its draws."""
    with pytest.raises(InvalidRequestError, match="plan both between 0 and 1"):
        plant_experiment([PlantedCell("m", Domain.SQL, 0.9, 0.25, 0.0, 0.25)])


def test_the_same_seed_plants_the_same_experiment() -> None:
    """A bench and a test that name it must speak of one data set."""
    again = plant_experiment()

    assert again.table.correct.tolist() == the_paper_sized().table.correct.tolist()
