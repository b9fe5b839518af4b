"""Sums and sums of squares of many samples of one size, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.wide_integers import widened

__all__ = ["SampleTotals"]

_COARSE = 10**5
"""Denominators above it take Python's integers whatever the sample size: quotients are then rounded once."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleTotals:
    """What a formula needs to know of each sample: it is the same for any order of the rows."""

    n: int
    """Gaps in each sample."""
    denominator: int
    sums: NDArray[Any]
    """Sum of the numerators of each sample, shape (samples,): int64, or Python's integers where 64 bits are too few."""
    squares: NDArray[Any]
    """Sum of the squared numerators of each sample."""

    @classmethod
    def of(cls, numerators: NDArray[np.int64], denominator: int) -> SampleTotals:
        """Add up samples of shape (samples, n)."""
        whole = _wide(numerators, denominator, numerators.shape[1])
        return cls(numerators.shape[1], denominator, whole.sum(axis=1), (whole * whole).sum(axis=1))

    @classmethod
    def counted(cls, counts: NDArray[np.int64], numerators: NDArray[np.int64], denominator: int) -> SampleTotals:
        """Add up samples that hold each of the numerators `counts` times, shape (samples, numerators)."""
        n = int(counts[0].sum())
        whole = _wide(numerators, denominator, n)
        return cls(n, denominator, counts @ whole, counts @ (whole * whole))

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean gap of each sample."""
        return np.asarray(self.sums / (self.n * self.denominator), np.float64)

    @property
    def variances(self) -> NDArray[np.float64]:
        """Sample variance with n - 1 below the line; 0 for samples of one gap, which have none."""
        if self.n == 1:
            return np.zeros(len(self.sums))
        spread = self.n * self.squares - self.sums * self.sums
        return np.asarray(spread / (self.n * (self.n - 1) * self.denominator**2), np.float64)

    @property
    def are_constant(self) -> NDArray[np.bool_]:
        """Tell of each sample whether all its gaps are equal."""
        return np.asarray(self.n * self.squares == self.sums * self.sums, np.bool_)


def _wide(numerators: NDArray[np.int64], denominator: int, n: int) -> NDArray[Any]:
    """Choose integers that hold n times the sum of the squares, and the denominator of the variance."""
    if denominator > _COARSE:
        return numerators.astype(object)
    return widened(numerators, (n * denominator) ** 2)
