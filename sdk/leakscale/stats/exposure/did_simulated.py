"""Bounds of the exposure effect from seeded resamples: percentile, bias-corrected (BCa) and studentized.

Source: LeakScale E.1 and METHODS 10.4 (percentile, numpy's linear quantile rule); Efron 1987 (BCa), with the middle
rank of ties; Efron 1982 (studentized, "bootstrap-t").
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from leakscale.stats.exposure.resampling_units import Quantity, ResamplingUnits
from leakscale.stats.resampling import resampled_rows, resampled_sums
from leakscale.stats.wide_integers import largest, widened

__all__ = ["Bounds", "Replicates", "bca", "percentile", "replicates", "share_below", "studentized"]

_FAR = 1e12
"""Stands for an infinite studentized value, so that quantiles between order statistics stay finite."""


class Bounds(NamedTuple):
    """Two bounds and the standard error, as shares."""

    low: float
    high: float
    standard_error: float


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """What every resample added up to."""

    units: ResamplingUnits
    totals: NDArray[Any]
    """Change and families of C0, change and families of C2: shape (resamples, 4)."""
    spread: NDArray[np.float64] | None
    """Sums over the groups of n / (n - 1) times the cross products of the drawn rows, centred in their group: shape
    (4, 4, resamples). None where nobody asked for it."""

    def values(self, quantity: Quantity) -> tuple[NDArray[np.int64] | NDArray[np.float64], int]:
        """Return the quantity in each resample, shape (resamples,), and the number to divide by.

        Whole numerators where every resample holds as many families as the data do, floats otherwise.
        """
        change0, families0, change2, families2 = self.totals.T
        if self.units.has_fixed_sizes:
            return self.units.weighted(quantity, change0, change2), self.units.weights(quantity)[2]
        sign0, sign2 = quantity.value
        draws0, draws2 = self.units.draws
        shares = sign0 * change0 / (families0 * draws0) + sign2 * change2 / (families2 * draws2)
        return shares.astype(np.float64, copy=False), 1

    def standard_errors(self, quantity: Quantity) -> NDArray[np.float64]:
        """Return the standard error that each resample would have reported, shape (resamples,)."""
        if self.spread is None:
            raise RuntimeError("these replicates were drawn without their spread")
        change0, families0, change2, families2 = self.totals.T.astype(np.float64)
        sign0, sign2 = quantity.value
        size0, size2 = families0 * self.units.draws[0], families2 * self.units.draws[1]
        gradient = np.stack(
            (
                sign0 / size0,
                -sign0 * change0 / (families0 * size0),
                sign2 / size2,
                -sign2 * change2 / (families2 * size2),
            )
        )
        variances = np.einsum("ir,ijr,jr->r", gradient, self.spread, gradient)
        return np.asarray(np.sqrt(np.clip(variances, 0.0, None)))


def replicates(
    units: ResamplingUnits, n_resamples: int, rng: np.random.Generator, *, with_spread: bool = False
) -> Replicates:
    """Draw each group `n_resamples` times, in the order of the groups."""
    if with_spread:
        return _with_spread(units, n_resamples, rng)
    groups = _ready(units.groups, 1)
    totals = np.zeros((n_resamples, 4), groups[0].dtype)
    for group in groups:
        moving = np.ptp(group, axis=0) > 0
        totals += np.where(moving, 0, group[0] * group.shape[0])
        if moving.sum() > 1:
            totals += resampled_rows(group, n_resamples, rng) * moving
        else:
            column = int(np.argmax(moving))
            totals[:, column] += resampled_sums(group[:, column], n_resamples, rng) * moving[column]
    return Replicates(units, totals, None)


def _with_spread(units: ResamplingUnits, n_resamples: int, rng: np.random.Generator) -> Replicates:
    """Draw as `replicates` does, and add up the spread of what varies: a column without any has none in a resample."""
    groups = _ready(units.groups, 2)
    totals = np.zeros((n_resamples, 4), groups[0].dtype)
    spread = np.zeros((4, 4, n_resamples))
    for group in groups:
        n = group.shape[0]
        moving = np.ptp(group, axis=0) > 0
        totals += np.where(moving, 0, group[0] * n)
        varying = np.flatnonzero(moving) if moving.any() else np.array([0])
        pairs = list(itertools.combinations_with_replacement(range(varying.size), 2))
        products = [group[:, varying[i]] * group[:, varying[j]] for i, j in pairs]
        drawn = resampled_rows(np.column_stack((group[:, varying], *products)), n_resamples, rng)
        totals[:, varying] += drawn[:, : varying.size] * moving[varying]
        for (i, j), product in zip(pairs, drawn[:, varying.size :].T, strict=True):
            # n * sum(ab) - sum(a) * sum(b) in whole numbers: exactly zero where all drawn units are equal.
            centred = ((n * product - drawn[:, i] * drawn[:, j]) / max(n - 1, 1)).astype(np.float64, copy=False)
            spread[varying[i], varying[j]] += centred
            if i != j:
                spread[varying[j], varying[i]] += centred
    return Replicates(units, totals, spread)


def _ready(groups: Sequence[NDArray[np.int64]], power: int) -> list[NDArray[Any]]:
    """Return the groups in numbers that hold totals of resamples, or products of two such totals."""
    reach = 2 * sum(group.shape[0] * largest(group) for group in groups) ** power
    return [widened(group, reach) for group in groups]


def percentile(drawn: Replicates, quantity: Quantity, alpha: float) -> Bounds:
    """Take the quantiles alpha/2 and 1 - alpha/2 of the resamples."""
    return _quantiles(drawn, quantity, (alpha / 2, 1 - alpha / 2))


def bca(drawn: Replicates, quantity: Quantity, alpha: float) -> Bounds:
    """Take quantiles whose levels are corrected for bias and for a spread that changes with the effect."""
    below = share_below(drawn, quantity)
    count = drawn.totals.shape[0]
    bias = special.ndtri(np.clip(below, 0.5 / count, 1 - 0.5 / count))
    acceleration = _acceleration(drawn.units, quantity)
    levels = [_corrected(level, float(bias), acceleration) for level in (alpha / 2, 1 - alpha / 2)]
    return _quantiles(drawn, quantity, (levels[0], levels[1]))


def share_below(drawn: Replicates, quantity: Quantity) -> float:
    """Return the share of resamples below the estimate, half of those that equal it included.

    Ties carry much of the mass in small groups, so whole numbers decide them. Where clusters differ in size a resample
    is a ratio: change0 / families0 and change2 / families2 are compared over their common denominator.
    """
    numerators, sizes = _ratios(drawn.totals, drawn.units, quantity)
    estimate, size = _ratios(np.array([drawn.units.totals]), drawn.units, quantity)
    reach = (largest(numerators) + 1) * int(size[0]) + (abs(int(estimate[0])) + 1) * largest(sizes)
    moved = widened(numerators, reach) * int(size[0]) - int(estimate[0]) * widened(sizes, reach)
    return float((np.count_nonzero(moved < 0) + np.count_nonzero(moved <= 0)) / (2 * moved.size))


def _ratios(totals: NDArray[np.int64], units: ResamplingUnits, quantity: Quantity) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the quantity of each row of totals as numerator and denominator, both over the same whole factor."""
    reach = 2 * (largest(totals) + 1) ** 2 * max(units.draws)
    change0, families0, change2, families2 = widened(totals, reach).T
    (sign0, sign2), (draws0, draws2) = quantity.value, units.draws
    return sign0 * change0 * families2 * draws2 + sign2 * change2 * families0 * draws0, families0 * families2


def _corrected(level: float, bias: float, acceleration: float) -> float:
    """Return the level at which BCa reads the quantile; an infinite correction ends at the extreme resample."""
    shifted = bias + float(special.ndtri(level))
    stretch = 1 - acceleration * shifted
    if stretch <= 0:
        return float(shifted > 0)
    return float(special.ndtr(bias + shifted / stretch))


def studentized(drawn: Replicates, quantity: Quantity, alpha: float) -> Bounds:
    """Divide each resample's error by its own standard error and turn the quantiles of that around.

    A resample without any spread counts as infinitely far out, so that it widens the interval; the bounds end where
    the quantity does.
    """
    estimate, error = drawn.units.estimate(quantity), analytic_error(drawn.units, quantity)
    values, denominator = drawn.values(quantity)
    moved, errors = (values / denominator).astype(np.float64) - estimate, drawn.standard_errors(quantity)
    moved = np.where(np.abs(moved) < 1e-12, 0.0, moved)
    ratios = np.where(errors > 0, moved / np.where(errors > 0, errors, 1.0), np.sign(moved) * _FAR)
    low, high = np.quantile(ratios, (alpha / 2, 1 - alpha / 2))
    limit = quantity.limit
    return Bounds(max(estimate - float(high) * error, -limit), min(estimate - float(low) * error, limit), error)


def analytic_error(units: ResamplingUnits, quantity: Quantity) -> float:
    """Return the standard error of the quantity from the variance of the units inside their groups."""
    deviations = units.deviations(quantity)
    return float(np.sqrt(sum(part.size / (part.size - 1) * (part @ part) for part in deviations if part.size > 1)))


def _acceleration(units: ResamplingUnits, quantity: Quantity) -> float:
    deviations = np.concatenate(units.deviations(quantity))
    return float((deviations**3).sum() / (6 * (deviations @ deviations) ** 1.5))


def _quantiles(drawn: Replicates, quantity: Quantity, levels: tuple[float, float]) -> Bounds:
    values, denominator = drawn.values(quantity)
    if values.dtype == object:
        values, denominator = (values / denominator).astype(np.float64), 1
    low, high = np.quantile(values, levels)
    spread = np.std(values, ddof=1)
    return Bounds(float(low) / denominator, float(high) / denominator, float(spread) / denominator)
