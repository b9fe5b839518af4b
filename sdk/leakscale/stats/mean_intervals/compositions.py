"""Every way in which a sample without replacement can be made up, with its probability."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["composition_count", "compositions"]


def composition_count(sizes: Sequence[int], n: int) -> int:
    """Return how many compositions a sample of n has, without listing them; exact for any size."""
    ways = [1] + [0] * n
    for size in sizes:
        running, sums = 0, []
        for taken in range(n + 1):
            running += ways[taken] - (ways[taken - size - 1] if taken > size else 0)
            sums.append(running)
        ways = sums
    return ways[n]


def compositions(sizes: Sequence[int], n: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """List the compositions in blocks, one for each count of the first value.

    Args:
        sizes: Members of the population with each value.
        n: Sample size, at most their sum.

    Yields:
        Counts of shape (compositions, values), each row summing to n, and their multivariate hypergeometric
        probabilities prod_v C(size_v, count_v) / C(N, n), shape (compositions,).
    """
    whole = _log_choose(sum(sizes), np.array(n))
    room = [sum(sizes[place:]) for place in range(len(sizes) + 1)]
    for first in range(max(0, n - room[1]), min(sizes[0], n) + 1):
        rows = np.array([[first]], np.int64)
        for place in range(1, len(sizes)):
            rows = _extended(rows, sizes[place], n, room[place + 1])
        logs = sum(_log_choose(size, rows[:, place]) for place, size in enumerate(sizes))
        yield rows, np.exp(logs - whole)


def _extended(rows: NDArray[np.int64], size: int, n: int, room: int) -> NDArray[np.int64]:
    """Add each count of the next value that leaves a number the values after it can fill."""
    left = n - rows.sum(axis=1)
    least, most = np.maximum(left - room, 0), np.minimum(left, size)
    repeats = most - least + 1
    starts = np.cumsum(repeats) - repeats
    counts = np.arange(int(repeats.sum())) - np.repeat(starts - least, repeats)
    return np.concatenate((np.repeat(rows, repeats, axis=0), counts[:, np.newaxis]), axis=1)


def _log_choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(math.lgamma(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), np.float64)
