"""Coverage by listing every sample."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscale.stats import (
    MEAN_METHODS,
    DesignError,
    EnumerationError,
    Gaps,
    ScoreError,
    UnsupportedMethodError,
    exact_coverage,
    mean_bounds,
    mean_ci,
)
from leakscale.stats.mean_intervals.compositions import composition_count, compositions

from .mean_cases import ORDER_FREE, a_frame, draws_from


@pytest.mark.parametrize("method", ORDER_FREE)
@settings(max_examples=15)
@given(
    population=st.lists(st.integers(-2, 2), min_size=2, max_size=8),
    n=st.integers(1, 8),
    alpha=st.sampled_from([0.05, 0.4]),
)
def test_coverage_equals_a_count_over_all_samples(method: str, population: list[int], n: int, alpha: float) -> None:
    """Every sample is one of C(N, n) equally likely ones; `mean_ci` on each of them must give the same share."""
    n, frame = min(n, len(population)), a_frame(len(population))
    centre = sum(population) / (2 * len(population))
    samples = list(itertools.combinations(population, n))
    intervals = [mean_ci(Gaps(np.array(sample), 2), frame, method=method, alpha=alpha) for sample in samples]
    covering = sum(interval.low - 1e-12 <= centre <= interval.high + 1e-12 for interval in intervals)
    counts = {gap / 2: population.count(gap) for gap in set(population)}

    coverage = exact_coverage(counts, n, method=method, alpha=alpha, denominator=2)

    assert coverage == pytest.approx(covering / len(samples), abs=1e-12)


def test_betting_coverage_equals_a_count_over_all_draw_orders() -> None:
    """For the method that reads the order, every permutation is listed."""
    population, n, alpha = [-2, 0, 0, 1, 2, 2], 4, 0.6
    centre = sum(population) / 12
    intervals = [
        mean_ci(Gaps(np.array(order), 2), a_frame(6), method="betting", alpha=alpha)
        for order in itertools.permutations(population, n)
    ]
    expected = np.mean([interval.low - 1e-12 <= centre <= interval.high + 1e-12 for interval in intervals])

    coverage = exact_coverage({-1: 1, 0: 2, 0.5: 1, 1: 2}, n, method="betting", alpha=alpha)

    assert coverage == pytest.approx(expected, abs=1e-12)
    assert coverage < 1


def test_coverage_agrees_with_simulation_where_listing_by_hand_is_hopeless() -> None:
    """Five gaps, a hundred parents of a thousand: two thousand simulated audits must not contradict the result."""
    population = {-1.0: 20, -0.5: 40, 0.0: 860, 0.5: 50, 1.0: 30}
    frame = np.repeat([-2, -1, 0, 1, 2], [20, 40, 860, 50, 30])
    draws = draws_from(frame, 100, samples=2000, seed=5)
    bounds = mean_bounds(draws, 2, a_frame(1000), method="wald_fpc")
    simulated = np.mean((bounds.low <= 0.015) & (bounds.high >= 0.015))

    coverage = exact_coverage(population, 100, method="wald_fpc")

    assert abs(simulated - coverage) < 4 * math.sqrt(0.05 * 0.95 / 2000)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 8))
def test_probabilities_of_all_compositions_sum_to_one(sizes: list[int], n: int) -> None:
    """A composition left out, or listed twice, would shift every coverage."""
    n = min(n, sum(sizes))
    blocks = list(compositions(sizes, n))
    rows = np.concatenate([counts for counts, _ in blocks])

    assert math.fsum(probability for _, block in blocks for probability in block) == pytest.approx(1, abs=1e-12)
    assert len({tuple(row) for row in rows.tolist()}) == len(rows) == composition_count(sizes, n)
    assert (rows.sum(axis=1) == n).all()
    assert (rows <= sizes).all()


@pytest.mark.parametrize("method", MEAN_METHODS)
def test_full_audit_is_always_covered(method: str) -> None:
    """A census cannot miss, whatever the formula says about samples."""
    assert exact_coverage({-1: 2, 1: 3}, 5, method=method) == 1


def test_gaps_without_parents_change_nothing() -> None:
    """A population read from a table of all possible gaps has zeros in it."""
    assert exact_coverage({-1: 3, 0: 9, 0.25: 0, 1: 4}, 6, method="wald_fpc") == exact_coverage(
        {-1: 3, 0: 9, 1: 4}, 6, method="wald_fpc"
    )


@pytest.mark.parametrize(
    ("population", "n", "method", "error", "words"),
    [
        ({0: 3, 1: 2}, 6, "wald_fpc", DesignError, "6 parents were sampled"),
        ({0: 3, 1: 2}, 0, "wald_fpc", DesignError, "sample size n is 0"),
        ({0: -1, 1: 2}, 1, "wald_fpc", DesignError, "with gap 0 is -1"),
        ({}, 1, "wald_fpc", DesignError, "nobody in it"),
        ({0: 3, 1: 2}, 2.5, "wald_fpc", DesignError, r"sample size n is 2\.5"),
        ({0: 3.0, 1: 2}, 2, "wald_fpc", DesignError, r"with gap 0 is 3\.0"),
        ({"0": 3, 1: 2}, 2, "wald_fpc", ScoreError, "a gap of the population is '0'"),
        ([0, 1], 2, "wald_fpc", DesignError, "pass a mapping"),
        ({0: 20, 1: 20}, 20, "betting", EnumerationError, "draws in all orders"),
        ({2: 3}, 1, "wald_fpc", ScoreError, r"in -1\.\.1"),
        ({0: 3, 1: 2}, 2, "t", UnsupportedMethodError, "'t' is not one of"),
        ({0: 900, 1: 100}, 50, "betting", EnumerationError, "simulate the coverage"),
        ({k / 10: 200 for k in range(-5, 6)}, 100, "wald_fpc", EnumerationError, "compositions are too many"),
    ],
)
def test_what_cannot_be_listed_is_refused(
    population: Any, n: Any, method: str, error: type[Exception], words: str
) -> None:
    """An enumeration that would run for a day says so at once, with its size."""
    with pytest.raises(error, match=words):
        exact_coverage(population, n, method=method)
