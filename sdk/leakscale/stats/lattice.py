"""Decimal numbers as whole multiples of one small fraction, so that sums and ties are exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats.errors import ScoreError

__all__ = ["FINEST", "common_denominator", "on_lattice", "rounding_of"]

FINEST = 10**9
"""Denominator for numbers that are no small fractions; they are rounded to a billionth."""

_SMALL = 1000
"""Fractions with denominators up to this are recognised: thirds, percents, marks out of any plain maximum."""
_COMMON = 10**6
"""A common denominator beyond this says that the numbers share no lattice."""
_SAME = 1e-12
"""How far a double may lie from the fraction that it stands for."""


def rounding_of(values: ArrayLike) -> float:
    """Return how far numbers in [-1, 1] of this array's type may lie from the fractions that they stand for.

    A third in single precision is off by 1e-8: as far from 1/3 as no double is, and nearer to it than to any other
    small fraction.
    """
    dtype = np.asarray(values).dtype
    if dtype.kind != "f":
        return _SAME
    return max(_SAME, 4 * float(np.finfo(dtype).eps))


def common_denominator(values: ArrayLike, *, rounding: float = _SAME) -> int:
    """Return the least q such that every value is a multiple of 1/q, or `FINEST` where there is no small one.

    Args:
        values: Finite numbers in [-1, 1].
        rounding: How far a value may lie from its fraction, from `rounding_of`; the coarser it is, the smaller the
            denominators among which a fraction is unmistakable.
    """
    denominators = set()
    unmistakable = min(_SMALL, math.isqrt(int(1 / (2 * rounding))))
    for value in np.unique(np.asarray(values, np.float64)).tolist():
        fraction = Fraction(value).limit_denominator(unmistakable)
        if abs(float(fraction) - value) > rounding:
            return FINEST
        denominators.add(fraction.denominator)
    denominator = math.lcm(*denominators)
    return denominator if denominator <= _COMMON else FINEST


def on_lattice(values: NDArray[np.float64], denominator: int, *, rounding: float = _SAME) -> NDArray[np.int64]:
    """Return the numerators of values in [-1, 1] that are multiples of 1/denominator.

    Raises:
        ScoreError: If a value is farther from the lattice than rounding explains.
    """
    scaled = values * denominator
    numerators = np.rint(scaled).astype(np.int64)
    if denominator != FINEST and numerators.size and np.abs(scaled - numerators).max() > rounding * denominator:
        raise ScoreError(f"a value is no multiple of 1/{denominator}; pass the denominator of the lattice, or none")
    return numerators
