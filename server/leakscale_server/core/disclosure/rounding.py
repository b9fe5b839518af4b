"""Ends of intervals on a coarse grid, away from the estimate.

An interval depends on how the families spread, so its ends say more than the totals do; at full precision as much as
another total. On the grid each takes one of `OFFSET_COUNT` (`BOUND_COUNT`) values. An interval only widens, either side
by at most a tenth (or to 0.4 points) and by what its estimate may be off, so whatever it covered it covers still.

Source: rounding of totals (`leakscale.totals`) hides parts of a family; ends are therefore measured from the estimate
before it was rounded and set off from the one that is told, so that they do not say what was rounded away.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from leakscale.stats.transfer.fieller import RatioSet, RatioShape
from leakscale_server.core.disclosure.grids import BOUND_COUNT, BOUNDS, OFFSET_COUNT, OFFSETS

__all__ = ["round_bounds", "round_ends"]


def round_ends(told: float, *, below: float, above: float, error_max: float = 0.0) -> tuple[float, float]:
    """Set off both ends of an interval from the estimate that is told, at distances of the grid.

    Args:
        told: Estimate as it leaves, in [-4, 4].
        below: From the exact low end up to the exact estimate; negative where that lies below its interval.
        above: From the exact estimate up to the exact high end.
        error_max: Farthest that the told estimate may be from the exact one.

    Returns:
        Ends that hold the told estimate and the exact interval; both are the told estimate where the exact interval is
        one point, which claims no coverage.
    """
    if below <= 0 and above <= 0:
        return told, told
    return told - _offset(below + error_max), told + _offset(above + error_max)


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
    place = bisect_left(BOUNDS, value) if upward else bisect_right(BOUNDS, value) - 1
    return BOUNDS[place] if 0 <= place < BOUND_COUNT else None


def _offset(distance: float) -> float:
    """Return the first step of the grid that is no shorter than a distance."""
    return OFFSETS[min(bisect_left(OFFSETS, max(distance, 0.0)), OFFSET_COUNT - 1)]
