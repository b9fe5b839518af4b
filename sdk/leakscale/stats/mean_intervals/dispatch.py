"""One door to every interval for the mean gap: `mean_ci` for a sample, `mean_bounds` for many samples at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import DesignError, ScoreError, UnsupportedMethodError
from leakscale.stats.gaps import Gaps
from leakscale.stats.intervals import Interval, IntervalState
from leakscale.stats.mean_intervals.betting import betting_bounds
from leakscale.stats.mean_intervals.closed_form import HALF_WIDTHS, NEEDS_VARIANCE, standard_error
from leakscale.stats.mean_intervals.hypergeometric import layer_counts, layered_bounds
from leakscale.stats.mean_intervals.stratified import STRATIFIED
from leakscale.stats.mean_intervals.totals import SampleTotals
from leakscale.stats.wide_integers import largest

__all__ = [
    "MEAN_METHODS",
    "MeanBounds",
    "bounds_from_totals",
    "mean_bounds",
    "mean_ci",
    "mean_half_width",
    "require_design",
    "require_method",
    "vanishes_in_census",
]

MEAN_METHODS = (*HALF_WIDTHS, "betting", "exact_hypergeometric")
"""Methods of `mean_ci`."""

_WITHOUT_POPULATION_FORM = frozenset({"hoeffding", "empirical_bernstein"})
"""Methods that ignore the population size, so that even a full audit leaves them their width."""

_VARIANCE_MAX = 2.0
"""Of two gaps, -1 and 1, with n - 1 below the line; no sample in [-1, 1] has a larger one."""

Floats = NDArray[np.float64]


class MeanBounds(NamedTuple):
    """Bounds of many samples, each array of shape (samples,)."""

    estimate: Floats
    low: Floats
    high: Floats
    is_degenerate: NDArray[np.bool_]
    """Where `mean_ci` gives a state that no claim can rest on."""

    @property
    def above_zero_count(self) -> int:
        """Samples whose bounds exclude zero from below; degenerate ones exclude nothing."""
        return int(((self.low > 0) & ~self.is_degenerate).sum())


def mean_ci(gaps: Gaps | ArrayLike, design: FinitePopulationDesign, *, method: str, alpha: float = 0.05) -> Interval:
    """Bound the mean gap of the benchmark.

    Args:
        gaps: Gaps of the sampled parents in draw order, or numbers in [-1, 1] of shape (parents,).
        design: The population they were sampled from.
        method: One of `MEAN_METHODS`. Which of them is the registered one is a decision to take before the data are
            seen; picking the narrowest afterwards does not keep the level. `guardrail` applies the registered rule.
        alpha: Probability left outside the bounds, in (0, 1).

    Returns:
        Bounds inside [-1, 1]. `state` tells of a census (width exactly 0, for each method with a finite-population
        form), of a single parent and of constant gaps (for the methods that need a variance), and of draws that are
        not in random order (betting). Mirrored gaps give mirrored bounds. Row order matters to `betting` only.

    Raises:
        DesignError: If sample and design contradict each other, or the design is none.
        EmptySampleError: If there is no gap.
        ParameterError: If alpha is out of range.
        ScoreError: If the gaps are not numbers in [-1, 1].
        UnsupportedMethodError: If the method does not exist, has no stratified form and the design has strata, or
            (`exact_hypergeometric`) the lattice of the gaps is too fine.

    Source: METHODS 1 and 13; the modules of this package name the papers.
    """
    sample = gaps if isinstance(gaps, Gaps) else Gaps.of(gaps)
    alpha = require_method(method, alpha)
    require_design(design)
    if design.strata is not None:
        return _stratified(sample, design, method, alpha)
    bounds = mean_bounds(sample.numerators[np.newaxis], sample.denominator, design, method=method, alpha=alpha)
    state = _state(sample, design, method, is_degenerate=bool(bounds.is_degenerate[0]))
    return Interval(
        estimate=sample.mean,
        low=float(bounds.low[0]),
        high=float(bounds.high[0]),
        standard_error=_standard_error(sample, design, method, state),
        method=method,
        alpha=alpha,
        state=state,
    )


def mean_bounds(
    numerators: ArrayLike,
    denominator: int,
    design: FinitePopulationDesign,
    *,
    method: str,
    alpha: float = 0.05,
) -> MeanBounds:
    """Bound the mean gap in each of many simple random samples, as `mean_ci` does in one.

    Args:
        numerators: Whole numerators of the gaps in any integer type, shape (samples, n), each row in its draw order.
        denominator: Lattice of the gaps.
        design: The population, without strata.

    Raises:
        DesignError, ParameterError, UnsupportedMethodError: As `mean_ci`.
        ScoreError: If the samples are no table of whole numbers with at least one gap in a row, or a gap lies outside
            [-1, 1].
    """
    alpha = require_method(method, alpha)
    require_design(design)
    numerators, denominator = _table(numerators, denominator)
    if design.strata is not None:
        raise UnsupportedMethodError("samples in bulk are simple random samples; use `mean_ci` where there are strata")
    if not len(numerators):
        return MeanBounds(np.empty(0), np.empty(0), np.empty(0), np.empty(0, np.bool_))
    totals = SampleTotals.of(numerators, denominator)
    design.require_sample(totals.n)
    if design.is_census(totals.n) and vanishes_in_census(method):
        return MeanBounds(totals.means, totals.means, totals.means, np.zeros(len(numerators), np.bool_))
    if method == "betting":
        return MeanBounds(totals.means, *betting_bounds(numerators / denominator, design.population_size, alpha))
    if method == "exact_hypergeometric":
        counts = layer_counts(numerators, denominator)
        low, high = layered_bounds(counts, totals.n, design.population_size, alpha)
        return MeanBounds(totals.means, low, high, np.zeros(len(numerators), np.bool_))
    return bounds_from_totals(totals, design.population_size, method, alpha)


def bounds_from_totals(totals: SampleTotals, population_size: int | None, method: str, alpha: float) -> MeanBounds:
    """Bound the mean gap of each sample by a formula, which needs nothing of the sample but its totals."""
    means, degenerate = totals.means, np.zeros(len(totals.sums), np.bool_)
    if totals.n == 1 and method in NEEDS_VARIANCE:
        return MeanBounds(means, np.full_like(means, -1.0), np.full_like(means, 1.0), ~degenerate)
    half_widths = HALF_WIDTHS[method](totals.n, population_size, totals.variances, alpha)
    if method == "wald_fpc":
        degenerate = totals.are_constant
    return MeanBounds(means, np.maximum(means - half_widths, -1.0), np.minimum(means + half_widths, 1.0), degenerate)


def mean_half_width(method: str, *, n: int, population_size: int | None, variance: float, alpha: float = 0.05) -> float:
    """Return the half-width that a method with a formula gives at a sample variance, for planning an audit.

    It is not cut at the range of a gap: a half-width above 1 says that the audit would learn nothing.

    Raises:
        DesignError: If n is larger than the population.
        ParameterError: If alpha or n is out of range, or the variance is not in 0..2.
        UnsupportedMethodError: If the method has no formula (`betting`, `exact_hypergeometric`): simulate it.
    """
    alpha = require_method(method, alpha)
    if method not in HALF_WIDTHS:
        raise UnsupportedMethodError(f"method {method!r} has no formula for its width; simulate it with `mean_bounds`")
    n = parameters.count(n, "n", 2 if method in NEEDS_VARIANCE else 1)
    variance = parameters.number(variance, "variance", 0, _VARIANCE_MAX)
    design = FinitePopulationDesign(population_size)
    design.require_sample(n)
    population_size = design.population_size
    if n == population_size and vanishes_in_census(method):
        return 0.0
    return float(HALF_WIDTHS[method](n, population_size, np.asarray(variance, np.float64), alpha))


def vanishes_in_census(method: str) -> bool:
    """Tell whether the method has a finite-population form, which leaves a full audit no width."""
    return method not in _WITHOUT_POPULATION_FORM


def require_method(method: str, alpha: float) -> float:
    """Refuse a method that does not exist, and a level that is none; return the level as a float.

    Raises:
        ParameterError: If alpha is not between 0 and 1.
        UnsupportedMethodError: If the method is not one of `MEAN_METHODS`.
    """
    alpha = parameters.level(alpha)
    if not isinstance(method, str) or method not in MEAN_METHODS:
        raise UnsupportedMethodError(f"method {method!r} is not one of {', '.join(MEAN_METHODS)}")
    return alpha


def require_design(design: FinitePopulationDesign) -> None:
    """Refuse what is no design, e.g. the bare population size.

    Raises:
        DesignError: If it is none.
    """
    if not isinstance(design, FinitePopulationDesign):
        raise DesignError(f"the design is {design!r}; pass FinitePopulationDesign(N), N parents in the benchmark")


def _table(numerators: ArrayLike, denominator: int) -> tuple[NDArray[np.int64], int]:
    """Return the samples in 64 bits, whatever type they are stored in, and the denominator."""
    table = parameters.whole_numbers(numerators, "whole numerators", error=ScoreError)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ScoreError(f"samples have shape {table.shape}; pass whole numerators of shape (samples, n)")
    denominator = parameters.count(denominator, "denominator", 1)
    if largest(table) > denominator:
        raise ScoreError(f"a gap lies outside -1..1 over the denominator {denominator}; check the samples")
    return table, denominator


def _state(sample: Gaps, design: FinitePopulationDesign, method: str, *, is_degenerate: bool) -> IntervalState:
    if design.is_census(sample.count) and vanishes_in_census(method):
        return IntervalState.CENSUS
    if not is_degenerate:
        return IntervalState.ESTIMATED
    if method == "betting":
        return IntervalState.DRIFTING
    return IntervalState.SINGLE_OBSERVATION if sample.count == 1 else IntervalState.CONSTANT


def _standard_error(sample: Gaps, design: FinitePopulationDesign, method: str, state: IntervalState) -> float | None:
    if state is IntervalState.CENSUS:
        return 0.0
    if method != "wald_fpc" or state is not IntervalState.ESTIMATED:
        return None
    return float(standard_error(sample.count, design.population_size, np.asarray(sample.variance, np.float64)))


def _stratified(sample: Gaps, design: FinitePopulationDesign, method: str, alpha: float) -> Interval:
    if method not in STRATIFIED:
        raise UnsupportedMethodError(f"method {method!r} has no stratified form; use {' or '.join(STRATIFIED)}")
    mean = STRATIFIED[method](sample, design, alpha)
    low, high = max(mean.estimate - mean.half_width, -1.0), min(mean.estimate + mean.half_width, 1.0)
    return Interval(mean.estimate, low, high, mean.standard_error, f"{method}_stratified", alpha, mean.state)
