"""Decimal numbers as whole multiples of one small fraction, so that sums and ties are exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats.errors import ScoreError

__all__ = ["FINEST", "common_denominator", "on_lattice"]

FINEST = 10**9
"""Denominator for numbers that are no small fractions; they are rounded to a billionth."""

_SMALL = 1000
"""Fractions with denominators up to this are recognised: thirds, percents, marks out of any plain maximum."""
_COMMON = 10**6
"""A common denominator beyond this says that the numbers share no lattice."""
_SAME = 1e-12


def common_denominator(values: ArrayLike) -> int:
    """Return the least q such that every value is a multiple of 1/q, or `FINEST` where there is no small one."""
    denominators = set()
    for value in np.unique(np.asarray(values, np.float64)).tolist():
        fraction = Fraction(value).limit_denominator(_SMALL)
        if abs(float(fraction) - value) > _SAME:
            return FINEST
        denominators.add(fraction.denominator)
    denominator = math.lcm(*denominators)
    return denominator if denominator <= _COMMON else FINEST


def on_lattice(values: NDArray[np.float64], denominator: int) -> NDArray[np.int64]:
    """Return the numerators of values that are multiples of 1/denominator.

    Raises:
        ScoreError: If a value is farther from the lattice than rounding explains.
    """
    scaled = values * denominator
    numerators = np.rint(scaled).astype(np.int64)
    if denominator != FINEST and numerators.size and np.abs(scaled - numerators).max() > _SAME * denominator:
        raise ScoreError(f"a value is no multiple of 1/{denominator}; pass the denominator of the lattice, or none")
    return numerators
