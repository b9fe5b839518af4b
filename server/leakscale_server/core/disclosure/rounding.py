"""Ends of intervals on a coarse grid, away from the estimate.

An interval depends on how the families spread, so its ends say more than the totals do; at full precision as much as
another total. On the grid each takes one of `OFFSET_COUNT` (`BOUND_COUNT`) values. An interval only widens, either side
by at most a tenth (or to 0.4 points), so whatever it covered it covers still.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

from leakscale.stats.transfer.fieller import RatioSet, RatioShape

__all__ = ["BOUND_COUNT", "OFFSET_COUNT", "round_bounds", "round_ends"]

_STEPS_PER_OCTAVE: Final = 8
_DECIMALS: Final = 9


def _ladder(first_octave: int, last_octave: int, steps: int) -> tuple[float, ...]:
    exponents = range(first_octave * steps, last_octave * steps + 1)
    return tuple(round(2.0 ** (exponent / steps), _DECIMALS) for exponent in exponents)


_OFFSETS: Final = (0.0, *_ladder(-8, 2, _STEPS_PER_OCTAVE))
"""From nothing over 0.4 points to 4, the widest that a difference in differences can be from its estimate."""
_MAGNITUDES: Final = _ladder(-4, 6, 4)
"""Of the bounds of a share, from 0.06 to 64."""
_BOUNDS: Final = (*(-magnitude for magnitude in reversed(_MAGNITUDES)), 0.0, *_MAGNITUDES)

OFFSET_COUNT: Final = len(_OFFSETS)
BOUND_COUNT: Final = len(_BOUNDS)


def round_ends(estimate: float, *, low: float, high: float) -> tuple[float, float]:
    """Move both ends of an interval away from its estimate, onto the grid; an end beyond the estimate comes back to it.

    Args:
        estimate: In [-2, 2].
        low: At least -2.
        high: At most 2.
    """
    return estimate - _offset(estimate - low), estimate + _offset(high - estimate)


def round_bounds(bounds: RatioSet) -> RatioSet:
    """Widen a set of ratios onto the grid; where an end would leave the grid, or two rays meet, it is everything."""
    is_interval = bounds.shape is RatioShape.BOUNDED
    low = None if bounds.low is None else _bound(bounds.low, upward=not is_interval)
    high = None if bounds.high is None else _bound(bounds.high, upward=is_interval)
    has_left_grid = (low is None) != (bounds.low is None) or (high is None) != (bounds.high is None)
    has_met = not is_interval and low is not None and high is not None and low >= high
    if has_left_grid or has_met:
        return RatioSet(RatioShape.EVERYTHING, None, None)
    return RatioSet(bounds.shape, low, high)


def _bound(value: float, *, upward: bool) -> float | None:
    """Move a number up or down to the next of the grid; None where there is none."""
    place = bisect_left(_BOUNDS, value) if upward else bisect_right(_BOUNDS, value) - 1
    return _BOUNDS[place] if 0 <= place < BOUND_COUNT else None


def _offset(distance: float) -> float:
    """Return the first step of the grid that is no shorter than a distance."""
    return _OFFSETS[min(bisect_left(_OFFSETS, max(distance, 0.0)), OFFSET_COUNT - 1)]
