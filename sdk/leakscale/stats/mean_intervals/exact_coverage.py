"""Coverage of an interval by listing every sample that a discrete population can give, without simulation error.

    coverage = sum over compositions x of  prod_v C(c_v, x_v) / C(N, n)  1{the interval of x holds the mean gap}

Source: CleanScore 6.5; METHODS 1.6.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import DesignError, EnumerationError, ScoreError
from leakscale.stats.lattice import common_denominator, on_lattice, rounding_of
from leakscale.stats.mean_intervals.compositions import composition_count, compositions
from leakscale.stats.mean_intervals.dispatch import (
    MeanBounds,
    bounds_from_totals,
    mean_bounds,
    require_method,
    vanishes_in_census,
)
from leakscale.stats.mean_intervals.hypergeometric import layer_membership, layered_bounds
from leakscale.stats.mean_intervals.totals import SampleTotals

__all__ = ["DRAWS_MAX", "SAMPLES_MAX", "exact_coverage"]

SAMPLES_MAX = 20_000_000
"""Most compositions that are listed: about half a minute."""

DRAWS_MAX = 20_000_000
"""Most draws in all the draw orders that are listed for `betting`, which bisects each order: about ten seconds."""

_ROUNDING = 1e-12
"""A bound this close to the mean gap holds it: the two are equal but for the last digits."""


def exact_coverage(
    population: Mapping[float, int], n: int, *, method: str, alpha: float = 0.05, denominator: int | None = None
) -> float:
    """Return the probability that the interval of a simple random sample holds the mean gap of the population.

    Args:
        population: Parents of the population with each gap, e.g. {-1: 20, 0: 900, 1: 80}.
        n: Sample size, 1..N.
        method: One of `MEAN_METHODS`. `betting` reads the draw order, so it is enumerated over orders, which is
            feasible for small samples only.
        alpha: Probability that the interval may leave outside.
        denominator: Lattice of the gaps, K for right/wrong scores on K fresh forms; only `exact_hypergeometric` reads
            it. None: the smallest that holds the gaps of the population.

    Raises:
        DesignError: If the sample is larger than the population, or a count is no whole number from 0.
        EnumerationError: If there are more than `SAMPLES_MAX` samples to list, or orders of over `DRAWS_MAX` draws.
        ParameterError, UnsupportedMethodError: As `mean_ci`.
        ScoreError: If a gap lies outside [-1, 1] or off the lattice.

    A constant sample has a Wald interval of width 0, which covers only if the population is constant as well.
    """
    alpha = require_method(method, alpha)
    frame = _Frame.of(population, denominator)
    n = parameters.count(n, "the sample size n", 1, error=DesignError)
    frame.design.require_sample(n)
    if frame.design.is_census(n) and vanishes_in_census(method):
        return 1.0
    if method == "betting":
        return _coverage_over_orders(frame, n, alpha)
    _require_feasible(composition_count(frame.sizes, n), "compositions", "use a smaller sample or fewer distinct gaps")
    missed = []
    for counts, probabilities in compositions(frame.sizes, n):
        bounds = frame.bounds(counts, n, method, alpha)
        missed.append(float(probabilities[~_holds(bounds, frame.mean)].sum()))
    return max(1 - math.fsum(missed), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """A discrete population: gaps as numerators with the number of parents that have each."""

    numerators: NDArray[np.int64]
    denominator: int
    sizes: list[int]

    @classmethod
    def of(cls, population: Mapping[float, int], denominator: int | None) -> _Frame:
        """Order the gaps by size, the most frequent last, because its count follows from the others."""
        if not isinstance(population, Mapping):
            raise DesignError(f"the population is a {type(population).__name__}; pass a mapping of gaps to parents")
        sizes = {
            parameters.number(gap, "a gap of the population", -1, 1, error=ScoreError): parameters.count(
                size, f"the number of parents with gap {gap}", error=DesignError
            )
            for gap, size in population.items()
        }
        if not any(sizes.values()):
            raise DesignError("the population has nobody in it; give each gap its number of parents")
        present = sorted((size, gap) for gap, size in sizes.items() if size)
        gaps = np.array([gap for _, gap in present], np.float64)
        rounding = max(rounding_of(gap) for gap in population)
        scale = common_denominator(gaps, rounding=rounding) if denominator is None else denominator
        scale = parameters.count(scale, "denominator", 1)
        return cls(on_lattice(gaps, scale, rounding=rounding), scale, [size for size, _ in present])

    @property
    def design(self) -> FinitePopulationDesign:
        return FinitePopulationDesign(sum(self.sizes))

    @property
    def mean(self) -> float:
        total = sum(gap * size for gap, size in zip(self.numerators.tolist(), self.sizes, strict=True))
        return float(total / (sum(self.sizes) * self.denominator))

    def bounds(self, counts: NDArray[np.int64], n: int, method: str, alpha: float) -> MeanBounds:
        """Bound the mean in samples that hold each gap `counts` times, shape (samples, gaps)."""
        totals = SampleTotals.counted(counts, self.numerators, self.denominator)
        if method == "exact_hypergeometric":
            reached = counts @ layer_membership(self.numerators, self.denominator)
            low, high = layered_bounds(reached, n, self.design.population_size, alpha)
            return MeanBounds(totals.means, low, high, np.zeros(len(counts), np.bool_))
        return bounds_from_totals(totals, self.design.population_size, method, alpha)


def _holds(bounds: MeanBounds, mean: float) -> NDArray[np.bool_]:
    return (bounds.low - _ROUNDING <= mean) & (mean <= bounds.high + _ROUNDING)


def _coverage_over_orders(frame: _Frame, n: int, alpha: float) -> float:
    remedy = "simulate the coverage of `betting` with `mean_bounds`"
    _require_feasible(len(frame.sizes) ** n * n, "draws in all orders", remedy, limit=DRAWS_MAX)
    orders = np.array(list(itertools.product(range(len(frame.sizes)), repeat=n)))
    probabilities = np.ones(len(orders))
    for time in range(n):
        earlier = (orders[:, :time] == orders[:, [time]]).sum(axis=1)
        left = np.maximum(np.array(frame.sizes)[orders[:, time]] - earlier, 0)
        probabilities *= left / (sum(frame.sizes) - time)
    possible = probabilities > 0
    draws = frame.numerators[orders[possible]]
    bounds = mean_bounds(draws, frame.denominator, frame.design, method="betting", alpha=alpha)
    return max(1 - math.fsum(probabilities[possible][~_holds(bounds, frame.mean)]), 0.0)


def _require_feasible(count: int, kind: str, remedy: str, *, limit: int = SAMPLES_MAX) -> None:
    if count > limit:
        size = f"{count:,}" if count < 10**15 else f"10^{len(str(count)) - 1}"
        raise EnumerationError(f"{size} {kind} are too many to list, the limit is {limit:,}; {remedy}")
