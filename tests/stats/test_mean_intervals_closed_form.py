"""Intervals by a formula: Hoeffding, Serfling, Wald, empirical Bernstein."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats as scipy_stats

from leakscale.stats import MEAN_METHODS, exact_coverage, mean_ci, mean_half_width

from .mean_cases import PROVEN, a_frame, a_sample


def test_wald_without_a_population_is_the_normal_interval_of_scipy() -> None:
    """Where the two compute the same thing they must agree."""
    sample = a_sample()

    interval = mean_ci(sample, a_frame(None), method="wald_fpc", alpha=0.1)

    error = scipy_stats.sem(sample.values)
    assert (interval.low, interval.high) == pytest.approx(
        scipy_stats.norm.interval(0.9, sample.values.mean(), error), abs=1e-14
    )
    assert interval.standard_error == pytest.approx(error, rel=1e-14)


def test_wald_variance_is_unbiased_over_all_samples() -> None:
    """E[(1 - n/N) s²/n] is the variance of the mean, exactly: n - 1 below the line, and n/N not (n-1)/(N-1)."""
    from itertools import combinations

    population, n = [-2, 0, 0, 1, 2, 2, -1], 3
    samples = list(combinations(population, n))
    means = [Fraction(sum(sample), 2 * n) for sample in samples]
    centre = Fraction(sum(population), 2 * len(population))
    true_variance = sum((mean - centre) ** 2 for mean in means) / len(means)

    errors = [mean_ci(np.array(sample) / 2, a_frame(7), method="wald_fpc").standard_error or 0.0 for sample in samples]

    assert np.mean(np.square(errors)) == pytest.approx(float(true_variance), rel=1e-12)


def test_serfling_is_hoeffding_shrunk_by_the_unsampled_share() -> None:
    """Two forms of the share exist, one for each half of the population; the smaller is meant and both are valid."""
    hoeffding = mean_half_width("hoeffding", n=100, population_size=1319, variance=0.0)

    early, late = (
        mean_half_width("hoeffding_serfling", n=100, population_size=size, variance=0.0) for size in (1319, 120)
    )

    assert early == pytest.approx(hoeffding * math.sqrt(1 - 99 / 1319), rel=1e-14)
    assert late == pytest.approx(hoeffding * math.sqrt((1 - 100 / 120) * 1.01), rel=1e-14)


def test_bernstein_is_the_published_formula_on_the_scale_of_scores() -> None:
    """Maurer and Pontil bound a variable in [0, 1]; a gap has twice the range and four times the variance."""
    n, variance, log_term = 200, 0.04, math.log(4 / 0.05)
    on_unit_range = math.sqrt(2 * (variance / 4) * log_term / n) + 7 * log_term / (3 * (n - 1))

    width = mean_half_width("empirical_bernstein", n=n, population_size=1319, variance=variance)

    assert width == pytest.approx(2 * on_unit_range, rel=1e-14)


def test_bernstein_serfling_is_far_wider_than_hoeffding_at_audit_size() -> None:
    """The proven form without replacement costs .301 at n = 200 on the sparse bank, which is why betting is advised."""
    width = mean_half_width("empirical_bernstein_serfling", n=200, population_size=1319, variance=0.0964)

    assert width == pytest.approx(0.301, abs=0.001)


@pytest.mark.parametrize("method", sorted(set(PROVEN) - {"betting"}))
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_proven_methods_never_cover_less_than_they_promise(method: str, alpha: float) -> None:
    """Every population of up to nine parents with gaps -1, 0, 1, and every sample size: no exception may exist."""
    for size in range(2, 10):
        for negative in range(size + 1):
            for zero in range(size + 1 - negative):
                population: dict[float, int] = {-1: negative, 0: zero, 1: size - negative - zero}
                for n in range(1, size + 1):
                    assert exact_coverage(population, n, method=method, alpha=alpha) >= 1 - alpha - 1e-12


@pytest.mark.parametrize("method", MEAN_METHODS)
def test_method_is_named_in_the_result(method: str) -> None:
    """A number without its formula cannot be checked."""
    assert mean_ci(a_sample(), a_frame(), method=method).method == method
