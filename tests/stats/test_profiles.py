"""Quartiles over families."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import Outcomes, family_profile


@given(st.lists(st.integers(0, 32), min_size=1, max_size=40))
def test_quartiles_equal_numpys_linear_rule(counts: list[int]) -> None:
    """The rule is open in the paper; ours is the common one, and exact."""
    profile = family_profile(Outcomes(counts, counts[::-1], 32)).base

    expected = np.quantile(np.array(counts), [0, 0.25, 0.5, 0.75, 1])
    found = [profile.least, profile.lower, profile.median, profile.upper, profile.greatest]
    assert [float(share * 32) for share in found] == expected.tolist()
    assert profile.mean == Fraction(sum(counts), 32 * len(counts))


def test_median_can_be_zero_with_a_mean_near_chance() -> None:
    """The paper's base cells: most families never right, a quarter always. An average alone hides it."""
    profile = family_profile(Outcomes([0] * 12 + [32] * 4, [32] * 16, 32))

    assert profile.base.median == 0
    assert profile.base.mean == Fraction(1, 4)
    assert profile.never_right == (12, 0)
    assert profile.always_right == (4, 16)


def test_families_and_not_draws_are_the_observations() -> None:
    """Ten times the draws with the same shares is the same profile."""
    once = family_profile(Outcomes([1, 2, 3, 8], [2, 2, 5, 8], 8))
    tenfold = family_profile(Outcomes([10, 20, 30, 80], [20, 20, 50, 80], 80))

    assert once.base == tenfold.base
    assert once.change == tenfold.change


def test_change_is_of_each_family_and_not_of_the_quartiles() -> None:
    """Families that swap places leave both profiles alone and still changed."""
    profile = family_profile(Outcomes([0, 8, 0, 8], [8, 0, 8, 0], 8))

    assert profile.base == profile.adapted
    assert (profile.change.least, profile.change.greatest) == (Fraction(-1), Fraction(1))
    assert profile.to_dict()["change"] == {
        "least": -1.0, "lower": -1.0, "median": 0.0, "upper": 1.0, "greatest": 1.0, "mean": 0.0,
    }  # fmt: skip
    assert str(profile).startswith("4 families: base quartiles 0.0 / 50.0 / 100.0, mean 50.0")
