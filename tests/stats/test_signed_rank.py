"""Signed ranks, whose ties are settled on whole numbers."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats as scipy_stats

from leakscale.stats import Alternative, TestResult, TestState
from leakscale.stats.items.signed_rank import EXACT_PAIRS_MAX, difference_lattice, signed_rank_test


def a_test(first: ArrayLike, second: ArrayLike, side: str = "two-sided") -> TestResult:
    return signed_rank_test(np.asarray(first, float), np.asarray(second, float), alternative=Alternative(side))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9), st.sampled_from(["two-sided", "greater", "less"]))
@settings(max_examples=80, deadline=None)
def test_p_value_equals_every_choice_of_signs(differences: list[int], side: str) -> None:
    """With ties no table applies; the exact law is over the signs of these very ranks."""
    nonzero = np.array([value for value in differences if value])
    ranks = scipy_stats.rankdata(np.abs(nonzero))
    observed = float((np.sign(nonzero) * ranks).sum())
    sums = [
        sum(s * r for s, r in zip(signs, ranks, strict=True)) for signs in itertools.product((-1, 1), repeat=len(ranks))
    ]
    extreme = {
        "two-sided": [abs(total) >= abs(observed) for total in sums],
        "greater": [total >= observed for total in sums],
        "less": [total <= observed for total in sums],
    }[side]

    result = a_test(differences, [0] * len(differences), side)

    assert result.p_value == pytest.approx(np.mean(extreme), abs=1e-12)
    assert result.informative_count == len(nonzero)


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_p_value_agrees_with_scipy_without_ties(side: Literal["two-sided", "greater", "less"]) -> None:
    """The same test, written by others, where they compute it exactly."""
    rng = np.random.Generator(np.random.PCG64(1))
    first, second = rng.normal(0.4, 1, 45), rng.normal(0, 1, 45)

    known = scipy_stats.wilcoxon(first, second, alternative=side, method="exact")

    assert a_test(first, second, side).p_value == pytest.approx(known.pvalue, rel=1e-10)


def test_ties_that_rounding_splits_are_ties() -> None:
    """0.525 - 0.5 and 0.55 - 0.525 differ in the 17th digit; ranks 1, 3, 3, 3 must not become 1, 2, 3, 4."""
    first, second = np.array([0.5, 0.825, 0.375, 0.5]), np.array([0.525, 0.775, 0.325, 0.55])

    units = difference_lattice(first, second)

    assert np.unique(np.abs(first - second)).size > 2
    assert (units // units[1]).tolist() == [-1, 1, 1, -1]
    assert scipy_stats.rankdata(np.abs(units)).tolist() == [1, 3, 3, 3]
    assert a_test(first, second).statistic == 2


def test_scale_of_the_data_changes_nothing() -> None:
    """Log-probabilities in bits or in nats, confidences in percent: the same ranks."""
    rng = np.random.Generator(np.random.PCG64(2))
    first, second = rng.normal(size=60), rng.normal(size=60)

    assert a_test(1000 * first, 1000 * second) == a_test(first, second)
    assert a_test(first / 1e6, second / 1e6) == a_test(first, second)


def test_normal_law_takes_over_where_the_exact_one_would_be_slow() -> None:
    """At the hand-over both must say the same, or the p-value would jump with one more pair."""
    rng = np.random.Generator(np.random.PCG64(3))
    first, second = rng.normal(0.08, 1, EXACT_PAIRS_MAX + 1), np.zeros(EXACT_PAIRS_MAX + 1)

    below, above = a_test(first[:-1], second[:-1]), a_test(first, second)

    assert below.method == "signed ranks, exact"
    assert above.method == "signed ranks, normal approximation"
    known, nearly = (scipy_stats.wilcoxon(values, method="approx").pvalue for values in (first, first[:-1]))
    assert above.p_value == pytest.approx(known, rel=1e-9)
    assert below.p_value == pytest.approx(nearly, abs=1e-4)


def test_pairs_that_never_differ_give_one_and_say_so() -> None:
    """No sign, no rank, no evidence."""
    result = a_test([0.3, 0.4], [0.3, 0.4])

    assert result.p_value == 1
    assert result.state is TestState.NO_VARIATION
