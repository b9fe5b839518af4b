"""The layered exact interval."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats as scipy_stats

from leakscale.stats import exact_coverage, mean_bounds, mean_ci
from leakscale.stats.mean_intervals.hypergeometric import least_plausible_count

from .mean_cases import a_frame, draws_from, population_of


@pytest.mark.parametrize("size", [1, 2, 5, 9, 12])
@pytest.mark.parametrize("level", [0.00625, 0.025, 0.1, 0.5])
def test_bound_on_a_count_equals_brute_force(size: int, level: float) -> None:
    """Published code has been off by one in the hypergeometric tail; every small case is compared with fractions."""
    for n in range(1, size + 1):
        for hits in range(n + 1):
            plausible = [
                marked
                for marked in range(hits, size - (n - hits) + 1)
                if tail(hits, n, size, marked) >= Fraction(level).limit_denominator(10**6)
            ]
            assert least_plausible_count(hits, n, size, level) == plausible[0]


def tail(hits: int, n: int, size: int, marked: int) -> Fraction:
    """P(at least `hits` marked in a sample of n), in fractions."""
    ways = sum(math.comb(marked, x) * math.comb(size - marked, n - x) for x in range(hits, n + 1))
    return Fraction(ways, math.comb(size, n))


def test_counts_agree_with_scipy_at_audit_size() -> None:
    """Tails of a real audit are sums of hundreds of small terms."""
    for hits, n, size in ((3, 200, 1319), (57, 100, 1165), (200, 200, 1319)):
        least = least_plausible_count(hits, n, size, 0.00625)
        at, below = (scipy_stats.hypergeom.sf(hits - 1, size, marked, n) for marked in (least, least - 1))
        assert at > 0.00625 >= below


def test_without_a_population_it_is_clopper_pearson_layer_by_layer() -> None:
    """One layer pair of a two-point sample is a binomial proportion, for which scipy has the exact interval."""
    gaps = np.repeat([1.0, -1.0], [33, 17])

    interval = mean_ci(gaps, a_frame(None), method="exact_hypergeometric", alpha=0.1)

    proportion = scipy_stats.binomtest(33, 50).proportion_ci(confidence_level=0.95, method="exact")
    assert interval.low == pytest.approx(2 * proportion.low - 1, abs=1e-10)
    assert interval.high == pytest.approx(2 * proportion.high - 1, abs=1e-10)


@pytest.mark.parametrize("value", [-1, 0, 1])
def test_constant_samples_have_bounds_without_nan(value: int) -> None:
    """At 0 and n successes the beta quantile does not exist; statsmodels once returned NaN there."""
    interval = mean_ci([value] * 20, a_frame(None), method="exact_hypergeometric")

    assert -1 <= interval.low <= value <= interval.high <= 1
    assert interval.half_width > 0.05


def test_half_gaps_are_covered_exactly_as_promised() -> None:
    """Four layers share the level; listing every sample of a population on five gaps shows the sum of their errors."""
    population = {-1: 2, -0.5: 3, 0: 6, 0.5: 4, 1: 3}

    for n in (3, 7, 12):
        assert exact_coverage(population, n, method="exact_hypergeometric", alpha=0.2) >= 0.8


def test_widths_on_the_reference_banks() -> None:
    """.108 on the sparse and .242 on the two-point bank at n = 100, four layers: the published comparison."""
    banks: list[tuple[dict[float, float], float]] = [({-1: 0.02, 0: 0.9, 1: 0.08}, 0.108), ({-1: 0.45, 1: 0.55}, 0.242)]
    for shares, width in banks:
        draws = draws_from(population_of(shares), 100, samples=500, seed=2)
        bounds = mean_bounds(draws, 2, a_frame(), method="exact_hypergeometric")
        assert np.mean(bounds.high - bounds.low) / 2 == pytest.approx(width, abs=0.0015)
