"""Stratified Hoeffding and Wald."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from leakscale.stats import DesignError, FinitePopulationDesign, Gaps, IntervalState, Stratum, mean_ci

STRATIFIED = pytest.mark.parametrize("method", ["hoeffding", "wald_fpc"])


def a_design(**sizes: int) -> FinitePopulationDesign:
    return FinitePopulationDesign(sum(sizes.values()), {name: Stratum(size) for name, size in sizes.items()})


def a_stratified_sample(**gaps: list[float]) -> Gaps:
    names = [name for name, values in gaps.items() for _ in values]
    return Gaps.of([value for values in gaps.values() for value in values], denominator=2, strata=names)


EASY, HARD = [0, 0, 0.5, 0, 1, 0], [0.5, -1, 0]


def test_proportional_allocation_gives_the_simple_hoeffding_width() -> None:
    """sum W_h²/n_h is 1/n exactly when W_h = n_h/n: a form that fails here has its weights wrong."""
    interval = mean_ci(a_stratified_sample(e=EASY, h=HARD), a_design(e=600, h=300), method="hoeffding")

    assert interval.high - interval.estimate == pytest.approx(1 - interval.estimate)
    wide = mean_ci(a_stratified_sample(e=EASY * 20, h=HARD * 20), a_design(e=600, h=300), method="hoeffding")
    assert wide.half_width == pytest.approx(math.sqrt(2 * math.log(40) / 180), rel=1e-14)


def test_other_allocations_are_wider_by_hoeffding() -> None:
    """Equal allocation to unequal strata costs precision of the whole, which the bound has to show."""
    samples = a_stratified_sample(e=EASY * 20, h=HARD * 40)

    interval = mean_ci(samples, a_design(e=1200, h=200), method="hoeffding")

    spread = (6 / 7) ** 2 / 120 + (1 / 7) ** 2 / 120
    assert interval.half_width == pytest.approx(math.sqrt(2 * math.log(40) * spread), rel=1e-14)
    assert interval.half_width > math.sqrt(2 * math.log(40) / 240)


@STRATIFIED
def test_estimate_weighs_strata_by_the_benchmark(method: str) -> None:
    """An oversampled rare stratum must not pull the estimate."""
    interval = mean_ci(a_stratified_sample(e=EASY, h=HARD), a_design(e=90, h=10), method=method)

    assert interval.estimate == pytest.approx(0.9 * 0.25 + 0.1 * (-0.5 / 3), abs=1e-15)
    assert interval.method == f"{method}_stratified"


def test_wald_variance_is_unbiased_over_all_stratified_samples() -> None:
    """Each stratum has its own n_h, N_h and s_h; mixing any two up breaks this identity."""
    populations = {"e": [0, 0, 1, 2, -1], "h": [-2, 0, 2, 1]}
    draws = list(
        itertools.product(itertools.combinations(populations["e"], 3), itertools.combinations(populations["h"], 2))
    )
    estimates = [Fraction(sum(e), 6) * Fraction(5, 9) + Fraction(sum(h), 4) * Fraction(4, 9) for e, h in draws]
    centre = sum(estimates) / len(estimates)
    true_variance = sum((estimate - centre) ** 2 for estimate in estimates) / len(estimates)

    intervals = [
        mean_ci(Gaps(np.array(e + h), 2, ("e",) * 3 + ("h",) * 2), a_design(e=5, h=4), method="wald_fpc")
        for e, h in draws
    ]

    assert centre == Fraction(sum(map(sum, populations.values())), 18)
    assert np.mean([(interval.standard_error or 0.0) ** 2 for interval in intervals]) == pytest.approx(
        float(true_variance), rel=1e-12
    )


@STRATIFIED
def test_one_stratum_is_a_simple_random_sample(method: str) -> None:
    """Naming the whole benchmark a stratum adds no information."""
    sample = a_stratified_sample(all=EASY * 10)

    stratified = mean_ci(sample, a_design(all=500), method=method)
    simple = mean_ci(sample, FinitePopulationDesign(500), method=method)

    assert (stratified.low, stratified.high) == pytest.approx((simple.low, simple.high), abs=1e-15)


def test_full_audit_of_every_stratum_has_width_zero() -> None:
    """Nothing is left to sample, with strata as without."""
    interval = mean_ci(a_stratified_sample(e=EASY, h=[1.0]), a_design(e=6, h=1), method="wald_fpc")

    assert interval.half_width == 0
    assert interval.state is IntervalState.CENSUS


def test_stratum_observed_whole_adds_no_width() -> None:
    """A small stratum is often audited completely; its single parent is then knowledge, not a missing variance."""
    interval = mean_ci(a_stratified_sample(e=EASY, h=[1.0]), a_design(e=60, h=1), method="wald_fpc")

    alone = mean_ci(a_stratified_sample(e=EASY), a_design(e=60), method="wald_fpc")
    assert interval.state is IntervalState.ESTIMATED
    assert interval.half_width == pytest.approx(alone.half_width * 60 / 61, rel=1e-12)


def test_single_parent_in_a_sampled_stratum_leaves_the_whole_range() -> None:
    """Other packages drop such a stratum from the variance, which then is too small."""
    interval = mean_ci(a_stratified_sample(e=EASY, h=[1.0]), a_design(e=60, h=40), method="wald_fpc")

    assert (interval.low, interval.high, interval.state) == (-1, 1, IntervalState.SINGLE_IN_STRATUM)
    assert "a stratum with a single observation" in str(interval)


def test_constant_strata_are_flagged() -> None:
    """Constant inside each stratum is constant for a stratified variance, even where the strata differ."""
    interval = mean_ci(a_stratified_sample(e=[0, 0], h=[1, 1]), a_design(e=60, h=40), method="wald_fpc")

    assert interval.state is IntervalState.CONSTANT
    assert interval.is_degenerate


@STRATIFIED
def test_row_order_changes_nothing(method: str) -> None:
    """Names travel with their gaps."""
    sample = a_stratified_sample(e=EASY, h=HARD)
    rows = np.random.Generator(np.random.PCG64(1)).permutation(sample.count)

    assert mean_ci(sample.take(rows), a_design(e=90, h=10), method=method) == mean_ci(
        sample, a_design(e=90, h=10), method=method
    )


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (Gaps.of(EASY), "the gaps name none"),
        (a_stratified_sample(e=EASY), "stratum 'h' has no sampled parent"),
        (a_stratified_sample(e=EASY, h=HARD, x=[0]), "stratum 'x' is not in the design"),
        (a_stratified_sample(e=EASY, h=HARD * 9), "stratum 'h' has 27 sampled parents of 10"),
    ],
)
@STRATIFIED
def test_sample_that_does_not_fit_the_strata_is_refused(sample: Gaps, words: str, method: str) -> None:
    """Silence would drop a stratum or give it the wrong weight."""
    with pytest.raises(DesignError, match=words):
        mean_ci(sample, a_design(e=90, h=10), method=method)
