"""The values that ends of intervals take when they are rounded: few, so that what they say can be counted."""

from __future__ import annotations

from typing import Final

__all__ = ["BOUNDS", "BOUND_COUNT", "OFFSETS", "OFFSET_COUNT"]

_DECIMALS: Final = 9


def _ladder(first_octave: int, last_octave: int, *, steps_per_octave: int) -> tuple[float, ...]:
    exponents = range(first_octave * steps_per_octave, last_octave * steps_per_octave + 1)
    return tuple(round(2.0 ** (exponent / steps_per_octave), _DECIMALS) for exponent in exponents)


_MAGNITUDES: Final = _ladder(-4, 6, steps_per_octave=4)

OFFSETS: Final = (0.0, *_ladder(-8, 3, steps_per_octave=8))
"""Distances of an end from its estimate: none, or 0.004 to 8, the most that a difference of two effects leaves."""
BOUNDS: Final = (*(-magnitude for magnitude in reversed(_MAGNITUDES)), 0.0, *_MAGNITUDES)
"""Bounds of a share: nought, or 0.06 to 64 on either side."""

OFFSET_COUNT: Final = len(OFFSETS)
BOUND_COUNT: Final = len(BOUNDS)
