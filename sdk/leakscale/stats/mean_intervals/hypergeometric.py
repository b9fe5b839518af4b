"""Exact interval for a mean gap on a lattice, one layer of the lattice at a time.

A gap on the lattice of 1/q is -1 plus 1/q for each of the 2q layers that it reaches,

    D = -1 + (1/q) sum_{k=1..2q} 1{q D >= k - q}

so its mean follows from 2q proportions. Each proportion has an exact bound by inverting the hypergeometric tail (the
binomial one without a population), at alpha/2 shared evenly by the layers on each side, and the bounds add up.
Row order does not matter. Coverage is at least 1 - alpha.

Source: METHODS 13 (layered exact hypergeometric).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln

from leakscale.stats.errors import DesignError, UnsupportedMethodError

__all__ = ["DENOMINATOR_MAX", "layer_counts", "layer_membership", "layered_bounds", "least_plausible_count"]

DENOMINATOR_MAX = 32
"""Finest lattice: with 2q layers each layer gets alpha/(4q), and beyond this the interval is of no use to anybody."""

POPULATION_MAX = 10**10
"""Largest population: the logarithms of its factorials, and so the tails, keep six digits up to here."""

_ROUNDING = 1e-10
"""A tail probability this close to its level, relatively, counts as equal to it, which keeps the count plausible."""


def layer_membership(numerators: NDArray[np.int64], denominator: int) -> NDArray[np.int64]:
    """Tell as 0 or 1 which layers each gap reaches, shape (gaps, 2q).

    Raises:
        UnsupportedMethodError: If the lattice is finer than `DENOMINATOR_MAX`.
    """
    _require_coarse(denominator)
    return (numerators[:, np.newaxis] >= np.arange(1 - denominator, denominator + 1)).astype(np.int64)


def layer_counts(numerators: NDArray[np.int64], denominator: int) -> NDArray[np.int64]:
    """Return how many gaps reach each layer, shape (samples, 2q), from numerators of shape (samples, n).

    Raises:
        UnsupportedMethodError: If the lattice is finer than `DENOMINATOR_MAX`.
    """
    _require_coarse(denominator)
    lattice = np.arange(-denominator, denominator + 1)
    membership = layer_membership(lattice, denominator)
    counts = np.stack([(numerators == gap).sum(axis=1) for gap in lattice], axis=1)
    return counts @ membership


def layered_bounds(
    counts: NDArray[np.int64], n: int, population_size: int | None, alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound the mean gap from the layer counts of samples of size n.

    Args:
        counts: Gaps that reach each layer, shape (samples, 2q).
        population_size: N, at least n; None: superpopulation.

    Returns:
        Lower and upper bounds, each of shape (samples,).

    Raises:
        DesignError: If the population is larger than `POPULATION_MAX`.
    """
    if population_size is not None and population_size > POPULATION_MAX:
        raise DesignError(
            f"a population of {population_size:,} is beyond the {POPULATION_MAX:,} that exact_hypergeometric resolves; "
            "pass None, the superpopulation"
        )
    layers = counts.shape[1]
    level = alpha / (2 * layers)
    # A parent that does not reach a layer of D reaches the mirrored layer of -D.
    low = _least_mean(counts, n, population_size, level)
    high = -_least_mean(n - counts, n, population_size, level)
    return low, high


def _require_coarse(denominator: int) -> None:
    if denominator > DENOMINATOR_MAX:
        raise UnsupportedMethodError(
            f"gaps on a lattice of 1/{denominator} have too many layers for exact_hypergeometric, which takes up to "
            f"1/{DENOMINATOR_MAX}; use betting"
        )


def _least_mean(counts: NDArray[np.int64], n: int, population_size: int | None, level: float) -> NDArray[np.float64]:
    """Add up the lower bounds of the layers of each sample."""
    distinct, places = np.unique(counts, return_inverse=True)
    if population_size is None:
        # No success gives no lower bound above 0, for which the beta quantile is undefined.
        proportions = np.where(distinct == 0, 0.0, betaincinv(np.maximum(distinct, 1), n - distinct + 1, level))
        # Sorted: mirrored gaps bring the layers the other way round, and must give the same sum to the last bit.
        whole, reached = 1, np.sort(proportions[places.reshape(counts.shape)], axis=1).sum(axis=1)
    else:
        least = np.array([least_plausible_count(x, n, population_size, level) for x in distinct.tolist()])
        whole, reached = population_size, least[places.reshape(counts.shape)].sum(axis=1)
    half = whole * counts.shape[1] / 2
    return np.asarray((reached - half) / half, np.float64)


@lru_cache(maxsize=1 << 16)
def least_plausible_count(x: int, n: int, population_size: int, level: float) -> int:
    """Return the least M with P(at least x of the n sampled are among the M marked of N) >= level.

    The tail grows with M, so a bisection over whole M finds it; x of the sampled are marked, so M starts at x.
    """
    low, high = x, population_size - (n - x)
    while low < high:
        middle = (low + high) // 2
        if _tail(x, n, population_size, middle) > level * (1 - _ROUNDING):
            high = middle
        else:
            low = middle + 1
    return low


def _tail(x: int, n: int, population_size: int, marked: int) -> float:
    """Return P(X >= x) for the hypergeometric count X of marked parents in the sample."""
    first, last = max(x, n - (population_size - marked)), min(n, marked)
    if first > last:
        return 0.0
    if x <= n - (population_size - marked):
        return 1.0
    hits = np.arange(first, last + 1)
    logs = _log_choose(marked, hits) + _log_choose(population_size - marked, n - hits)
    total = math.lgamma(population_size + 1) - math.lgamma(n + 1) - math.lgamma(population_size - n + 1)
    return float(np.exp(logs - total).sum())


def _log_choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    logs: NDArray[np.float64] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return logs
