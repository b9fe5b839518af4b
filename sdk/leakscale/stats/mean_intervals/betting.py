"""Hedged betting interval for a mean under sampling without replacement.

To test the mean m, a gambler bets before each draw on the side of the draw that m makes too cheap. Under m the fair
price of draw t is the mean of what is then left in the population,

    m_t = (N m - D_1 - ... - D_{t-1}) / (N - t + 1)

so the wealth is a nonnegative martingale and exceeds 2/alpha at any time with probability at most alpha/2 (Ville). One
gambler bets on higher values, one on lower; the interval holds every m that made neither of them rich at any time.
Nothing is approximated: the coverage is at least 1 - alpha for every population and every sample size.

The bets start from the predictable plug-in of Waudby-Smith and Ramdas for a fixed sample size,
sqrt(2 log(2/alpha) / (n v_{t-1})) with the running variance v started at its maximum. Two changes are ours, and any
predictable bet keeps the guarantee. Bets grow with N / (N - t + 1), because that is how much faster the price moves
with m as the population empties; and with 1 / sqrt(1 - .8 t/n), because wealth that falls short at the last draw is
worth nothing. On a frame of 1,319 parents and samples of 50 to 400 this makes the interval up to 7 % narrower and
lifts the lowest simulated coverage from .965 to .969. A draw takes at most nine tenths of the wealth.

The wealth of the gambler on higher values falls in m, caps included, because a bet depends on m in no other way; the
other's rises. So each bound is found by bisection.

The order of the rows matters: bets learn from earlier draws. Use the registered draw order and no other.

Source: Waudby-Smith and Ramdas 2024 (sections 3.2, 4.4, 5); METHODS 13.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["RESOLUTION", "BettingBounds", "betting_bounds"]

Floats = NDArray[np.float64]

RESOLUTION = 1e-9
"""Bounds are rounded outward by less than this."""

_STEPS = math.ceil(math.log2(2 / RESOLUTION))
_STAKE_MAX = 0.9
"""Largest share of the wealth that one draw can take."""
_URGENCY = 0.8
"""How much bets grow towards the last draw: 0 would be the plug-in of the source."""
_DRAWS_PER_CHUNK = 1 << 18
"""Draws worked on at once, 2 MiB a matrix, so that memory does not grow with the number of samples."""
_TINY = 1e-300


class BettingBounds(NamedTuple):
    """Bounds of each sample, and whether the draws drift too much for any mean to be plausible."""

    low: Floats
    high: Floats
    conflicts: NDArray[np.bool_]
    """True where every mean made one of the gamblers rich: an event with probability at most alpha under random
    order. The bounds then are the gap between the two gamblers' verdicts, widened to hold the estimate."""


def betting_bounds(draws: Floats, population_size: int | None, alpha: float) -> BettingBounds:
    """Bound the mean gap of each sample.

    Args:
        draws: Gaps in [-1, 1] of shape (samples, n), columns in draw order.
        population_size: N, at least n; None: draws with replacement, m_t = m.
        alpha: Probability left outside, split evenly between the two sides.
    """
    rows = max(1, _DRAWS_PER_CHUNK // draws.shape[1])
    parts = [_bounds(draws[start : start + rows], population_size, alpha) for start in range(0, len(draws), rows)]
    return BettingBounds(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _bounds(draws: Floats, population_size: int | None, alpha: float) -> BettingBounds:
    bets = _bets(draws, alpha) * _schedule(draws.shape[1], population_size)
    low = _lowest_plausible(draws, bets, population_size, alpha)
    high = -_lowest_plausible(-draws, bets, population_size, alpha)
    mean = draws.sum(axis=1) / draws.shape[1]
    conflicts = low > high
    return BettingBounds(
        low=np.minimum(np.minimum(low, high), mean), high=np.maximum(np.maximum(low, high), mean), conflicts=conflicts
    )


def _bets(draws: Floats, alpha: float) -> Floats:
    """Return the plug-in bet on each draw, made from the draws before it; mirrored draws give the same bets."""
    n = draws.shape[1]
    times = np.arange(1, n + 1)
    running_mean = np.cumsum(draws, axis=1) / (times + 1)
    running_variance = (1 + np.cumsum((draws - running_mean) ** 2, axis=1)) / (times + 1)
    before = np.concatenate((np.ones((len(draws), 1)), running_variance[:, :-1]), axis=1)
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (n * before)), np.float64)


def _schedule(n: int, population_size: int | None) -> Floats:
    """Return how much larger than the plug-in each bet is, with mean square 1, shape (n,)."""
    times = np.arange(1, n + 1)
    urgency = 1 / np.sqrt(1 - _URGENCY * (times - 0.5) / n)
    emptying = np.ones(n) if population_size is None else population_size / (population_size - times + 1)
    schedule = emptying * urgency
    return np.asarray(schedule / np.sqrt(np.mean(schedule**2)), np.float64)


def _lowest_plausible(draws: Floats, bets: Floats, population_size: int | None, alpha: float) -> Floats:
    """Return, rounded down, the least mean that did not make the gambler on higher values rich.

    The bracket starts at the means that the sample leaves possible at all: the unsampled parents lie in [-1, 1].
    """
    n = draws.shape[1]
    totals = draws.sum(axis=1)
    if population_size is None:
        floor, ceiling = np.full(len(draws), -1.0), np.full(len(draws), 1.0)
        taken, left = np.zeros_like(draws), np.ones(n)
        scale = 1.0
    else:
        unsampled = population_size - n
        floor, ceiling = (totals - unsampled) / population_size, (totals + unsampled) / population_size
        taken, left = np.cumsum(draws, axis=1) - draws, population_size - np.arange(n, dtype=np.float64)
        scale = float(population_size)

    def is_rich(mean: Floats) -> NDArray[np.bool_]:
        price = (scale * mean[:, np.newaxis] - taken) / left
        stake = np.minimum(bets, _STAKE_MAX / np.maximum(1 + price, _TINY))
        with np.errstate(over="ignore", invalid="ignore"):
            wealth = np.cumprod(1 + stake * (draws - price), axis=1)
        return np.asarray((wealth >= 2 / alpha).any(axis=1), np.bool_)

    rejected, open_above = floor.copy(), ceiling.copy()
    floor_is_plausible = ~is_rich(floor)
    for _ in range(_STEPS):
        middle = (rejected + open_above) / 2
        rich = is_rich(middle)
        rejected = np.where(rich, middle, rejected)
        open_above = np.where(rich, open_above, middle)
    return np.where(floor_is_plausible, floor, rejected)
