"""Builders of populations and samples of gaps, for the tests of the mean intervals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from leakscale.stats import MEAN_METHODS, FinitePopulationDesign, Gaps

FRAME = 1319
"""Parents of the GSM8K test split."""

ORDER_FREE = tuple(method for method in MEAN_METHODS if method != "betting")
PROVEN = tuple(method for method in MEAN_METHODS if method not in {"wald_fpc", "empirical_bernstein"})
"""Methods whose coverage is proven without replacement."""
WITH_POPULATION_FORM = tuple(method for method in MEAN_METHODS if method not in {"hoeffding", "empirical_bernstein"})


def a_frame(size: int | None = FRAME) -> FinitePopulationDesign:
    return FinitePopulationDesign(size)


def a_sample(*, count: int = 60, nonzero: float = 0.3, seed: int = 0, denominator: int = 2) -> Gaps:
    """Draw gaps of right/wrong scores on `denominator` fresh forms, most of them zero."""
    rng = np.random.Generator(np.random.PCG64(seed))
    gaps = rng.integers(-denominator, denominator + 1, count) * (rng.random(count) < nonzero)
    return Gaps(gaps.astype(np.int64), denominator)


def numerators(denominator: int = 2, *, least: int = 1, most: int = 12) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-denominator, denominator), min_size=least, max_size=most)


def samples_of(population: list[int], n: int) -> Iterator[tuple[int, ...]]:
    """List the samples without replacement of n of these parents, each as likely as any other."""
    return itertools.combinations(population, n)


def population_of(shares: dict[float, float], size: int = FRAME) -> NDArray[np.int64]:
    """Build a population of half gaps (denominator 2) with these shares; the most frequent gap takes the rounding."""
    counts = {gap: round(share * size) for gap, share in shares.items()}
    counts[max(shares, key=lambda gap: shares[gap])] += size - sum(counts.values())
    return np.repeat([round(2 * gap) for gap in counts], list(counts.values()))


def draws_from(population: NDArray[np.int64], n: int, *, samples: int, seed: int) -> NDArray[np.int64]:
    """Draw samples without replacement, shape (samples, n), each in random order."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return rng.permuted(np.broadcast_to(population, (samples, population.size)), axis=1)[:, :n]
