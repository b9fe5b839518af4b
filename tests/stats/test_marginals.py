"""The exposure effect inside each group."""

from __future__ import annotations

import json

import numpy as np
import pytest

from leakscale.stats import EmptyCellError, SeedRequiredError, difference_in_differences, marginals

from .exposure_cases import an_outcomes, labels_in_turn


def test_each_group_is_estimated_from_its_own_families_and_totals_add_up() -> None:
    """Integer totals of the groups sum to those of the cell, so that nothing was counted twice or lost."""
    c0, c2 = an_outcomes(families=64, seed=1), an_outcomes(families=64, lift=0.3, seed=2)
    ranks = labels_in_turn(c0, c2, 4)

    result = marginals(c0, c2, ranks, seed=3, n_resamples=200)

    parts = list(result.groups.values())
    assert [part.c2.family_count for part in parts] == [16] * 4
    assert sum(part.c2.to_dict()["adapted_correct"] for part in parts) == c2.to_dict()["adapted_correct"]
    assert sum(part.c0.to_dict()["base_correct"] for part in parts) == c0.to_dict()["base_correct"]
    mean = np.mean([part.effect.estimate for part in parts])
    assert mean == pytest.approx(difference_in_differences(c0, c2, method="exact").effect.estimate, abs=1e-15)


def test_small_groups_are_warned_about_by_name() -> None:
    """A table by shape has 16 families against 16; whoever reads it must see that."""
    c0, c2 = an_outcomes(families=64, seed=1), an_outcomes(families=64, lift=0.3, seed=2)

    result = marginals(c0, c2, labels_in_turn(c0, c2, 4), seed=3, n_resamples=200)

    assert result.method == "studentized"
    assert "g00: C0 has 16 families, fewer than 32" in result.warnings
    assert "8 warnings" in str(result)
    json.dumps(result.to_dict(), allow_nan=False)


def test_same_seed_gives_the_same_table() -> None:
    """One generator runs through all groups, in the order of their names."""
    c0, c2 = an_outcomes(families=48, seed=1), an_outcomes(families=48, lift=0.3, seed=2)
    groups = labels_in_turn(c0, c2, 4)

    one, two = (marginals(c0, c2, groups, seed=5, n_resamples=100) for _ in range(2))

    assert [a.effect for a in one.groups.values()] == [b.effect for b in two.groups.values()]
    assert one.groups["g00"].effect != one.groups["g01"].effect


def test_group_without_a_condition_is_refused() -> None:
    """An effect of nothing is undefined, not zero."""
    c0, c2 = an_outcomes(families=4), an_outcomes(families=4)

    with pytest.raises(EmptyCellError, match="group 'b' lacks families"):
        marginals(c0, c2, (["a"] * 4, ["a", "a", "b", "b"]), method="exact")
    with pytest.raises(SeedRequiredError, match="studentized"):
        marginals(c0, c2, (["a"] * 4, ["a"] * 4))
