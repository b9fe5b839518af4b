"""The betting interval: wealth, guarantee, order, width."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from leakscale.stats import Gaps, IntervalState, exact_coverage, mean_bounds, mean_ci

from .mean_cases import FRAME, a_frame, a_sample, draws_from, population_of

SHAPES: dict[str, dict[float, float]] = {
    "sparse": {-1: 0.02, 0: 0.90, 1: 0.08},
    "near-null": {-1: 0.05, 0: 0.90, 1: 0.05},
    "two-point": {-1: 0.45, 1: 0.55},
    "8 % nonzero": {-1: 0.01, -0.5: 0.025, 0: 0.92, 0.5: 0.035, 1: 0.01},
    "15 % nonzero": {-1: 0.015, -0.5: 0.05, 0: 0.85, 0.5: 0.065, 1: 0.02},
    "24 % nonzero": {-1: 0.03, -0.5: 0.07, 0: 0.76, 0.5: 0.10, 1: 0.04},
    "60 % nonzero": {-1: 0.06, -0.5: 0.22, 0: 0.40, 0.5: 0.24, 1: 0.08},
    "right-skewed": {-0.5: 0.05, 0: 0.70, 0.5: 0.05, 1: 0.20},
}


def wealth_path(draws: list[float], mean: float, size: int | None, alpha: float = 0.05) -> list[float]:
    """Follow the gambler on higher values draw by draw, as the module's text describes it."""
    n, wealth, path = len(draws), 1.0, []
    growth = [(1 if size is None else size / (size - t)) / math.sqrt(1 - 0.8 * (t + 0.5) / n) for t in range(n)]
    level = math.sqrt(sum(g * g for g in growth) / n)
    seen, squares = 0.0, 1.0
    for t, draw in enumerate(draws):
        price = mean if size is None else (size * mean - seen) / (size - t)
        bet = math.sqrt(2 * math.log(2 / alpha) / (n * squares / (t + 1))) * growth[t] / level
        wealth *= 1 + min(bet, 0.9 / (1 + price)) * (draw - price)
        path.append(wealth)
        seen += draw
        squares += (draw - seen / (t + 2)) ** 2
    return path


@given(st.lists(st.integers(-2, 2), min_size=8, max_size=40), st.sampled_from([60, 400, None]))
def test_lower_bound_is_where_the_gambler_stops_being_rich(halves: list[int], size: int | None) -> None:
    """The bound must come from the wealth that the text describes, not from whatever the arrays happen to do."""
    draws = [half / 2 for half in halves]

    low = mean_ci(np.array(draws), a_frame(size), method="betting").low

    least = -1.0 if size is None else (sum(draws) - (size - len(draws))) / size
    assert max(wealth_path(draws, low + 1e-6, size)) < 40
    if low > least + 1e-5:
        assert max(wealth_path(draws, low - 1e-6, size)) >= 40


@given(
    st.lists(st.integers(-2, 2), min_size=2, max_size=20),
    st.lists(st.floats(-0.99, 0.99), min_size=2, max_size=6, unique=True),
)
def test_wealth_falls_with_the_mean(halves: list[int], means: list[float]) -> None:
    """Bisection finds the bound only if it is the one place where the wealth crosses the line."""
    wealth = [wealth_path([half / 2 for half in halves], mean, None)[-1] for mean in sorted(means)]

    assert all(later <= earlier * (1 + 1e-12) for earlier, later in itertools.pairwise(wealth))


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.6])
def test_coverage_holds_over_every_draw_order_of_every_small_population(alpha: float) -> None:
    """The promise is for every population; here each one of up to six parents is listed order by order."""
    for size in range(2, 7):
        for negative, zero in itertools.product(range(size + 1), repeat=2):
            if negative + zero > size:
                continue
            population: dict[float, int] = {-1: negative, 0: zero, 1: size - negative - zero}
            for n in range(1, size):
                assert exact_coverage(population, n, method="betting", alpha=alpha) >= 1 - alpha - 1e-12


def test_wealth_of_the_true_mean_is_a_fair_game() -> None:
    """Averaged over all draw orders the wealth is exactly 1, without replacement too: the whole guarantee is this."""
    population = [-1.0, 0.0, 0.0, 0.5, 1.0, 1.0]
    mean = sum(population) / len(population)
    orders = list(itertools.permutations(population, 4))

    wealth = [wealth_path(list(order), mean, len(population))[-1] for order in orders]

    assert np.mean(wealth) == pytest.approx(1, abs=1e-12)
    assert np.std(wealth) > 0.1


def test_order_of_the_draws_matters() -> None:
    """It is the one method for which the registered draw order is part of the data."""
    sample = a_sample()

    forth = mean_ci(sample, a_frame(), method="betting")
    back = mean_ci(sample.take(np.arange(sample.count)[::-1]), a_frame(), method="betting")

    assert (forth.low, forth.high) != (back.low, back.high)
    assert forth.estimate == back.estimate


def test_draws_that_trend_are_named_and_not_narrow() -> None:
    """Sorted rows are no random order; the two gamblers then contradict each other and nothing may be claimed."""
    trending = Gaps(np.repeat([2, -2], 200), 2)

    interval = mean_ci(trending, a_frame(), method="betting")

    assert interval.state is IntervalState.DRIFTING
    assert interval.half_width > 0.05
    assert not interval.excludes(0.9)
    assert "not in random order" in str(interval)


@pytest.mark.parametrize("shape", SHAPES)
def test_coverage_over_shapes_and_sizes_stays_above_96_percent(shape: str) -> None:
    """The bound promises 95 %; over the shapes that audits show it keeps a margin at every size."""
    population = population_of(SHAPES[shape])
    centre = population.sum() / (2 * FRAME)

    for n in (50, 100, 200, 400):
        bounds = mean_bounds(draws_from(population, n, samples=4000, seed=2), 2, a_frame(), method="betting")
        assert np.mean((bounds.low <= centre) & (centre <= bounds.high)) >= 0.96


def test_sparse_bank_of_100_is_bounded_three_times_tighter_than_by_hoeffding() -> None:
    """Distribution-free bounds can say something about a hundred paired items, against the paper's 7.9."""
    population = population_of(SHAPES["sparse"])
    centre = population.sum() / (2 * FRAME)
    draws = draws_from(population, 100, samples=4000, seed=2)

    bounds = mean_bounds(draws, 2, a_frame(), method="betting")

    half_width: NDArray[np.float64] = (bounds.high - bounds.low) / 2
    assert half_width.mean() <= 0.083
    assert half_width.mean() < mean_ci(np.zeros(100), a_frame(), method="hoeffding").half_width / 3
    assert np.mean((bounds.low <= centre) & (centre <= bounds.high)) >= 0.965


def test_bounds_do_not_depend_on_how_samples_are_chunked() -> None:
    """A memory setting that changed a bound would change a paper's table."""
    draws = draws_from(population_of(SHAPES["sparse"]), 400, samples=1500, seed=3)

    together = mean_bounds(draws, 2, a_frame(), method="betting")
    apart = mean_bounds(draws[1400:], 2, a_frame(), method="betting")

    assert together.low[1400:].tolist() == apart.low.tolist()
