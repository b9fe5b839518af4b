"""Stratified forms of the Hoeffding and Wald intervals.

    mean gap = sum_h W_h mean_h,  W_h = N_h / N

Source: CleanScore Proposition 2 and 3.1; METHODS 1.2 and 1.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import DesignError
from leakscale.stats.gaps import Gaps
from leakscale.stats.intervals import IntervalState
from leakscale.stats.mean_intervals.closed_form import normal_quantile

__all__ = ["STRATIFIED", "StratifiedMean", "stratified_hoeffding", "stratified_wald"]


@dataclass(frozen=True, slots=True)
class StratifiedMean:
    """A stratified estimate with the half-width of one method."""

    estimate: float
    half_width: float
    standard_error: float | None
    state: IntervalState


@dataclass(frozen=True, slots=True)
class _Part:
    """One stratum: its gaps, its size in the benchmark and its weight."""

    gaps: Gaps
    population_size: int
    weight: float

    @property
    def is_census(self) -> bool:
        return self.gaps.count == self.population_size

    @property
    def variance_of_mean(self) -> float:
        """(1 - n_h/N_h) s_h² / n_h; 0 for a stratum that was observed whole."""
        if self.is_census:
            return 0.0
        unsampled = (self.population_size - self.gaps.count) / self.population_size
        return unsampled * (self.gaps.variance or 0.0) / self.gaps.count


def stratified_hoeffding(gaps: Gaps, design: FinitePopulationDesign, alpha: float) -> StratifiedMean:
    """Compute sqrt(2 log(2/alpha) sum_h W_h² / n_h), which is the simple form under proportional allocation.

    Raises:
        DesignError: If gaps and strata do not belong together.
    """
    parts = _parts(gaps, design)
    spread = math.fsum(part.weight**2 / part.gaps.count for part in parts)
    half_width = math.sqrt(2 * math.log(2 / alpha) * spread)
    return StratifiedMean(_estimate(parts), half_width, None, IntervalState.ESTIMATED)


def stratified_wald(gaps: Gaps, design: FinitePopulationDesign, alpha: float) -> StratifiedMean:
    """Compute z sqrt(sum_h W_h² (1 - n_h/N_h) s_h² / n_h).

    Raises:
        DesignError: If gaps and strata do not belong together.
    """
    parts = _parts(gaps, design)
    estimate = _estimate(parts)
    sampled = [part for part in parts if not part.is_census]
    if not sampled:
        return StratifiedMean(estimate, 0.0, 0.0, IntervalState.CENSUS)
    if any(part.gaps.count == 1 for part in sampled):
        return StratifiedMean(estimate, math.inf, None, IntervalState.SINGLE_IN_STRATUM)
    if all(part.gaps.is_constant for part in sampled):
        return StratifiedMean(estimate, 0.0, None, IntervalState.CONSTANT)
    error = math.sqrt(math.fsum(part.weight**2 * part.variance_of_mean for part in parts))
    return StratifiedMean(estimate, normal_quantile(alpha) * error, error, IntervalState.ESTIMATED)


STRATIFIED = {"hoeffding": stratified_hoeffding, "wald_fpc": stratified_wald}
"""The methods that have a stratified form."""


def _estimate(parts: list[_Part]) -> float:
    return math.fsum(part.weight * part.gaps.mean for part in parts)


def _parts(gaps: Gaps, design: FinitePopulationDesign) -> list[_Part]:
    weights, names = design.weights, _names(gaps, design)
    parts = []
    for name, stratum in (design.strata or {}).items():
        rows = np.array([each == name for each in names], np.bool_)
        count = int(rows.sum())
        if count == 0:
            raise DesignError(f"stratum {name!r} has no sampled parent; sample each stratum, or merge it with another")
        if count > stratum.population_size:
            raise DesignError(
                f"stratum {name!r} has {count} sampled parents of {stratum.population_size}; check its size"
            )
        parts.append(_Part(gaps.take(rows), stratum.population_size, weights[name]))
    return parts


def _names(gaps: Gaps, design: FinitePopulationDesign) -> tuple[str, ...]:
    strata: Mapping[str, object] = design.strata or {}
    if gaps.strata is None:
        raise DesignError("the design has strata and the gaps name none; pass `strata=` to `paired_gap`")
    strangers = sorted(set(gaps.strata) - set(strata))
    if strangers:
        raise DesignError(f"stratum {strangers[0]!r} is not in the design; it has {', '.join(strata)}")
    return gaps.strata
