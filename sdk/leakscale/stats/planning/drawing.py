"""Audits drawn from a simulated benchmark, and how exactly a share of them is known."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import ParameterError

__all__ = ["AUDIT_MAX", "chunked", "drawn_counts", "shuffled", "simulation_error"]

AUDIT_MAX = 10**9 - 1
"""Most parents of a benchmark or an audit: numpy draws from no larger one without replacement."""
_NUMERATORS_PER_CHUNK = 1 << 20
"""Gaps drawn at once, 8 MiB, so that memory does not grow with the replicates."""


def chunked(replicates: int, n: int) -> Iterator[int]:
    """Split audits of n parents into as many as are held at once."""
    rows = max(1, _NUMERATORS_PER_CHUNK // n)
    for start in range(0, replicates, rows):
        yield min(rows, replicates - start)


def drawn_counts(
    shares: NDArray[np.float64],
    design: FinitePopulationDesign,
    *,
    n: int,
    replicates: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw audits from a benchmark that holds each kind of parent in its share, to the nearest parent.

    Returns:
        How many parents of each kind an audit has, shape (replicates, kinds).

    Raises:
        DesignError: If the benchmark has fewer than n parents.
        ParameterError: If it has more than can be simulated.
    """
    design.require_sample(n)
    size = design.population_size
    if size is None:
        return rng.multinomial(n, shares, replicates)
    if size > AUDIT_MAX:
        raise ParameterError(
            f"a benchmark of {size:,} parents cannot be simulated, at most {AUDIT_MAX:,}; leave the population out, "
            "which at this size changes nothing"
        )
    return rng.multivariate_hypergeometric(_apportioned(shares, size), n, replicates, method="marginals")


def shuffled(values: NDArray[np.int64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return each audit's values one by one in random order, shape (replicates, n), from how many it has of each."""
    audits = np.repeat(np.tile(values, len(counts)), counts.ravel()).reshape(len(counts), -1)
    return rng.permuted(audits, axis=1, out=audits)


def _apportioned(shares: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return whole counts in proportion to the shares that add up to `size` (largest remainders)."""
    exact = shares * size
    counts = np.floor(exact + 1e-9).astype(np.int64)
    largest_first = np.argsort(counts - exact, kind="stable")
    counts[largest_first[: size - int(counts.sum())]] += 1
    return counts


def simulation_error(found: int, replicates: int) -> float:
    """Return the standard error of a simulated share, with Laplace's two added audits, so that it is never zero."""
    smoothed = (found + 1) / (replicates + 2)
    return math.sqrt(smoothed * (1 - smoothed) / replicates)
