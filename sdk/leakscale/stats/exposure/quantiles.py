"""Central bounds of exact distributions of totals, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from leakscale.stats.intervals import IntervalState
from leakscale.stats.resampling import SumDistribution
from leakscale.stats.wide_integers import widened

__all__ = ["difference_bounds", "state_of_bounds", "sum_bounds"]

_TIE = 1e-12
"""Probabilities this close count as equal: far above the rounding of a transform, far below any level in use."""


def state_of_bounds(low: float, high: float) -> IntervalState:
    """Tell quantiles that bound an estimate from two that fell on one value, up to the rounding of a division."""
    return IntervalState.ESTIMATED if high - low > _TIE else IntervalState.COLLAPSED


def sum_bounds(total: SumDistribution, alpha: float) -> tuple[int, int]:
    """Return the least t with P(total <= t) >= alpha/2 and the greatest t with P(total >= t) >= alpha/2.

    The two rules mirror each other, so mirrored data mirror the bounds.
    """
    nothing = SumDistribution(0, 1, np.ones(1))
    return difference_bounds(total, nothing, 1, 1, alpha)


def difference_bounds(
    plus: SumDistribution, minus: SumDistribution, w_plus: int, w_minus: int, alpha: float
) -> tuple[int, int]:
    """Bound w_plus * plus - w_minus * minus for two independent totals and positive whole weights.

    The weighted difference can have millions of lattice points when the conditions differ in size, so its distribution
    is never formed: a bisection over whole thresholds asks for one cumulative probability at a time.
    """
    plus_ends, minus_ends = ([int(total.support[end]) for end in (0, -1)] for total in (plus, minus))
    reach = 2 * (w_plus + w_minus) * (1 + max(map(abs, plus_ends + minus_ends)))
    minus_points = w_minus * widened(minus.support, reach)

    def at_most(threshold: int) -> float:
        return float(minus.probabilities @ plus.at_most((threshold + minus_points) // w_plus))

    first = w_plus * plus_ends[0] - w_minus * minus_ends[1]
    last = w_plus * plus_ends[1] - w_minus * minus_ends[0]
    low = _first_reaching(at_most, alpha / 2 - _TIE, first, last)
    # P(X >= t) >= a is P(X <= t - 1) <= 1 - a, so the greatest such t is the first that exceeds 1 - a.
    high = _first_reaching(at_most, 1 - alpha / 2 + _TIE, first, last)
    return low, high


def _first_reaching(at_most: Callable[[int], float], level: float, first: int, last: int) -> int:
    """Return the least t in first..last with P(X <= t) >= level, taking P(X <= last) as 1."""
    while first < last:
        middle = (first + last) // 2
        if at_most(middle) >= level:
            last = middle
        else:
            first = middle + 1
    return first
