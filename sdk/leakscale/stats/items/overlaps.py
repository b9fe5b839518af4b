"""In how many places do random sets overlap? The law of the number of members that lie in two sets or more.

Each set has a fixed size and is uniform among the subsets of that size of one population, independent of the others.
The law is built up set by set over pairs (members in exactly one set, members in two or more).

Source: METHODS 7.1 (expectation), 13.4 (law).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from leakscale.stats.errors import EnumerationError
from leakscale.stats.resampling import SumDistribution

__all__ = ["expected_overlap", "overlap_law", "simulated_overlaps"]

_MULTIPLICATIONS_MAX: Final = 20_000_000_000
"""About a minute."""
_CELLS_PER_CHUNK: Final = 1 << 20
"""Random numbers held at once: 8 MiB."""


def overlap_law(sizes: Sequence[int], population_size: int) -> SumDistribution:
    """Return the exact law of the number of members in two sets or more.

    Args:
        sizes: Size of each set, in 0..population_size.
        population_size: Members in all.

    Raises:
        EnumerationError: If the sizes are so large that the law would take more than a minute.
    """
    _check_size(sizes, population_size)
    law = np.ones((1, 1))
    for size in sorted(sizes):  # small sets first keep the table small for longest; the law does not depend on it
        law = _with_another_set(law, size, population_size)
    return SumDistribution(0, 1, law.sum(axis=0))


def _with_another_set(law: NDArray[np.float64], size: int, population_size: int) -> NDArray[np.float64]:
    """Take the law over (in one, in two or more) from some sets to one set more.

    Of the new set's members, x were in no set so far, y in one and z in two or more: a multivariate hypergeometric
    draw. Afterwards x - y more members are in exactly one set and y more in two or more.
    """
    ones, twos = (np.arange(length) for length in law.shape)
    free = population_size - np.add.outer(ones, twos)
    after = np.zeros((law.shape[0] + size, law.shape[1] + min(size, law.shape[0] - 1)))
    every_draw = _log_choose(np.array(population_size), size)
    for x in range(size + 1):
        from_none = law * np.exp(_log_choose(free, x) - every_draw)
        for y in range(min(size - x, law.shape[0] - 1) + 1):
            z = size - x - y
            if z >= law.shape[1]:
                continue
            ways = np.exp(_log_choose(ones[y:], y))[:, None] * np.exp(_log_choose(twos[z:], z))
            # Row `a` moves to `a + x - y`; rows below y and columns below z cannot lose that many members.
            after[x : x + law.shape[0] - y, y + z : y + law.shape[1]] += from_none[y:, z:] * ways
    return after


def _log_choose(n: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return log C(n, k), minus infinity where n < k."""
    chosen = gammaln(np.maximum(n, 0) + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0) + 1.0)
    return np.where(n >= k, chosen, -np.inf)


def expected_overlap(sizes: Sequence[int], population_size: int) -> float:
    """Return the mean of `overlap_law` in closed form: a member is in each set with probability size / population."""
    shares = [size / population_size for size in sizes]
    in_none = math.prod(1 - share for share in shares)
    in_one = sum(
        share * math.prod(1 - other for k, other in enumerate(shares) if k != m) for m, share in enumerate(shares)
    )
    return max(population_size * (1 - in_none - in_one), 0.0)  # rounding can leave -1e-16, printed as -0.0


def simulated_overlaps(
    sizes: Sequence[int], population_size: int, draw_count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the sets again and again, and return the number of members in two or more, shape (draw_count,)."""
    rows = max(1, _CELLS_PER_CHUNK // population_size)
    overlaps = np.empty(draw_count, np.int64)
    for start in range(0, draw_count, rows):
        stop = min(start + rows, draw_count)
        hits = np.zeros((stop - start, population_size), np.int32)
        for size in sizes:
            order = rng.random((stop - start, population_size)).argsort(axis=1)
            hits += order < size  # the places of 0..size-1 in a random permutation: a uniform subset
        overlaps[start:stop] = (hits >= 2).sum(axis=1)
    return overlaps


def _check_size(sizes: Sequence[int], population_size: int) -> None:
    work, ones, twos = 0, 1, 1
    for size in sorted(sizes):
        work += 3 * (size + 1) * min(size + 1, ones) * ones * twos
        ones, twos = ones + size, twos + min(size, ones - 1)
    if work > _MULTIPLICATIONS_MAX:
        raise EnumerationError(
            f"sets of {list(sizes)} among {population_size:,} would take {work:,} multiplications; "
            "compare fewer models at a time"
        )
