"""The bootstrap distribution of a sum of whole numbers: simulated with a seed, or exact by Fourier transform."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

__all__ = ["SumDistribution", "resampled_sums", "sum_distribution"]

_INDICES_PER_CHUNK = 1 << 18
"""Family indices held at once: 2 MiB, so that memory does not grow with the resample count and stays in cache."""


def resampled_sums(values: NDArray[np.int64], n_resamples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `len(values)` of the values with replacement, `n_resamples` times, and return each total.

    The values are sorted first, so the totals depend on which values there are and not on their order. The generator
    is consumed exactly as by one `rng.integers(0, n, size=n)` a resample; the chunk size leaves no trace.

    Args:
        values: Whole numbers of shape (families,), one a family.
        n_resamples: Number of resamples.
        rng: Source of the family indices; advanced by the call.

    Returns:
        Totals of shape (n_resamples,).
    """
    ordered = np.sort(values).astype(np.int32)
    n = ordered.size
    rows = max(1, _INDICES_PER_CHUNK // n)
    totals = np.empty(n_resamples, np.int64)
    for start in range(0, n_resamples, rows):
        stop = min(start + rows, n_resamples)
        ordered.take(rng.integers(0, n, size=(stop - start, n))).sum(axis=1, dtype=np.int64, out=totals[start:stop])
    return totals


@dataclass(frozen=True, slots=True, eq=False)
class SumDistribution:
    """Exact distribution of a total on the lattice `first`, `first + step`, ..."""

    first: int
    step: int
    probabilities: NDArray[np.float64]
    """Of each lattice point, shape (points,); the sum is 1 within rounding."""

    def at_most(self, thresholds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return P(total <= threshold) for each threshold."""
        cumulative = np.concatenate(([0.0], np.cumsum(self.probabilities)))
        places = (thresholds - self.first) // self.step + 1
        return cumulative[np.clip(places, 0, self.probabilities.size)]

    @property
    def support(self) -> NDArray[np.int64]:
        """The lattice points, ascending."""
        return self.first + self.step * np.arange(self.probabilities.size, dtype=np.int64)


def sum_distribution(values: NDArray[np.int64]) -> SumDistribution:
    """Compute the distribution that `resampled_sums` approaches with infinitely many resamples.

    A resample is a total of n independent draws from the empirical distribution of the values, so its distribution is
    the n-th convolution power of that distribution: one Fourier transform, a power, one transform back. Rounding
    leaves an absolute error near 1e-15 in each probability.

    Source: METHODS 13.5.
    """
    n, low = values.size, int(values.min())
    shifted = values - low
    step = math.gcd(*(int(value) for value in np.unique(shifted))) or 1
    counts = np.bincount(shifted // step)
    length = n * (counts.size - 1) + 1
    size = fft.next_fast_len(length, real=True)
    power = fft.irfft(fft.rfft(counts / n, size) ** n, size)[:length]
    probabilities = np.clip(power, 0.0, None)
    return SumDistribution(n * low, step, probabilities / probabilities.sum())
