"""The bootstrap distribution of a sum of whole numbers: simulated with a seed, or exact by Fourier transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from leakscale.stats import parameters
from leakscale.stats.errors import EnumerationError
from leakscale.stats.wide_integers import largest, widened

__all__ = ["SumDistribution", "resampled_rows", "resampled_sums", "seeded", "sum_distribution"]

_INDICES_PER_CHUNK = 1 << 18
"""Family indices held at once: 2 MiB, so that memory does not grow with the resample count and stays in cache."""


def seeded(seed: parameters.Seed) -> np.random.Generator:
    """Return the generator that a seed stands for, or the generator itself, which later draws then advance.

    Raises:
        ParameterError, SeedRequiredError: As `parameters.seeded`.
    """
    return parameters.seeded(seed)[0]


def resampled_sums(values: NDArray[Any], n_resamples: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draw `len(values)` of the values with replacement, `n_resamples` times, and return each total.

    The values are sorted first, so the totals depend on which values there are and not on their order. The generator
    is consumed exactly as by one `rng.integers(0, n, size=n)` a resample; the chunk size leaves no trace.

    Args:
        values: Whole numbers of shape (families,), one a family.
        n_resamples: Number of resamples.
        rng: Source of the family indices; advanced by the call.

    Returns:
        Totals of shape (n_resamples,): int64, or Python's integers where 64 bits are too few.
    """
    n = values.size
    ordered = widened(np.sort(values), n * largest(values))
    if ordered.dtype != object and largest(values) <= np.iinfo(np.int32).max:
        ordered = ordered.astype(np.int32)  # half the memory to gather from
    dtype = object if ordered.dtype == object else np.int64
    rows = max(1, _INDICES_PER_CHUNK // n)
    totals = np.empty(n_resamples, dtype)
    for start in range(0, n_resamples, rows):
        stop = min(start + rows, n_resamples)
        ordered.take(rng.integers(0, n, size=(stop - start, n))).sum(axis=1, dtype=dtype, out=totals[start:stop])
    return totals


_EXACT_IN_FLOAT = 1 << 53
_GATHERED_COLUMNS_MAX = 8
"""Up to here gathering beats the matrix product, by four times at two columns."""
_LATTICE_POINTS_MAX = 1 << 24
"""A distribution of this many points takes 128 MiB, and so does each of its two transforms."""


def resampled_rows(rows: NDArray[Any], n_resamples: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draw `len(rows)` of the rows with replacement, `n_resamples` times, and return the totals of each column.

    A row is one unit with everything measured on it, so its columns always travel together. The rows are sorted
    first, and the generator is consumed as by `resampled_sums`. Few columns of small numbers are gathered and added up
    one by one. Else how often each row was drawn is counted, and one matrix product turns counts into totals: in
    doubles while they are below 2^53, else in integers that hold them.

    Args:
        rows: Whole numbers of shape (units, columns).
        n_resamples: Number of resamples.
        rng: Source of the row indices; advanced by the call.

    Returns:
        Totals of shape (n_resamples, columns): int64, or Python's integers where 64 bits are too few.
    """
    ordered = rows[_row_order(rows)]
    n = ordered.shape[0]
    height = max(1, _INDICES_PER_CHUNK // n)
    if ordered.shape[1] <= _GATHERED_COLUMNS_MAX and largest(ordered) <= np.iinfo(np.int32).max:
        return _gathered(ordered, n_resamples, height, rng)
    reach = n * largest(ordered)
    factors = ordered.astype(np.float64) if reach < _EXACT_IN_FLOAT else widened(ordered, reach)
    totals = np.empty((n_resamples, ordered.shape[1]), object if factors.dtype == object else np.int64)
    for start in range(0, n_resamples, height):
        stop = min(start + height, n_resamples)
        places = rng.integers(0, n, size=(stop - start, n)) + n * np.arange(stop - start)[:, None]
        counts = np.bincount(places.ravel(), minlength=n * (stop - start)).reshape(stop - start, n)
        totals[start:stop] = counts.astype(factors.dtype) @ factors
    return totals


def _gathered(rows: NDArray[Any], n_resamples: int, height: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Add up drawn rows, `height` resamples at once."""
    columns = np.ascontiguousarray(rows.T.astype(np.int32))
    n = columns.shape[1]
    totals = np.empty((n_resamples, columns.shape[0]), np.int64)
    for start in range(0, n_resamples, height):
        stop = min(start + height, n_resamples)
        places = rng.integers(0, n, size=(stop - start, n))
        for column, values in enumerate(columns):
            totals[start:stop, column] = values.take(places).sum(axis=1, dtype=np.int64)
    return totals


def _row_order(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order that sorts rows by their first column, then the second, and so on."""
    if rows.dtype == object:
        return np.array(sorted(range(rows.shape[0]), key=lambda row: rows[row].tolist()), np.int64)
    return np.lexsort(rows.T[::-1])


@dataclass(frozen=True, slots=True, eq=False)
class SumDistribution:
    """Exact distribution of a total on the lattice `first`, `first + step`, ..."""

    first: int
    step: int
    probabilities: NDArray[np.float64]
    """Of each lattice point, shape (points,); the sum is 1 within rounding."""

    def at_most(self, thresholds: NDArray[Any]) -> NDArray[np.float64]:
        """Return P(total <= threshold) for each threshold."""
        cumulative = np.concatenate(([0.0], np.cumsum(self.probabilities)))
        places = (thresholds - self.first) // self.step + 1
        return np.asarray(cumulative[np.clip(places, 0, self.probabilities.size).astype(np.int64)])

    @property
    def support(self) -> NDArray[np.int64]:
        """The lattice points, ascending."""
        return self.first + self.step * np.arange(self.probabilities.size, dtype=np.int64)


def sum_distribution(*groups: NDArray[np.int64]) -> SumDistribution:
    """Compute the distribution that `resampled_sums` approaches with infinitely many resamples.

    A resample is a total of n independent draws from the empirical distribution of the values, so its distribution is
    the n-th convolution power of that distribution: one Fourier transform, a power, one transform back. Groups that
    are resampled apart, e.g. strata, multiply their transforms. Rounding leaves an absolute error near 1e-15 in each
    probability.

    Args:
        groups: Whole numbers of shape (units,), one array a group; the total is over all groups.

    Raises:
        EnumerationError: If the total can take more than 2^24 values.

    Source: METHODS 13.5.
    """
    lows = [int(values.min()) for values in groups]
    shifted = [values - low for values, low in zip(groups, lows, strict=True)]
    step = math.gcd(*(int(value) for values in shifted for value in np.unique(values))) or 1
    length = 1 + sum(values.size * (int(values.max()) // step) for values in shifted)
    if length > _LATTICE_POINTS_MAX:
        raise EnumerationError(f"the exact total has {length:,} possible values; take a simulated method instead")
    size = fft.next_fast_len(length, real=True)
    transform = np.ones(size // 2 + 1, np.complex128)
    for values in shifted:
        counts = np.bincount(values // step)
        transform *= fft.rfft(counts / values.size, size) ** values.size
    power = fft.irfft(transform, size)[:length]
    probabilities = np.clip(power, 0.0, None)
    first = sum(values.size * low for values, low in zip(groups, lows, strict=True))
    return SumDistribution(first, step, probabilities / probabilities.sum())
