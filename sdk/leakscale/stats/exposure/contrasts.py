"""Weighted sums of mean changes, with intervals that know which of them were measured on the same families.

Blocks are independent of one another (C0 and C2, or two domains). All contrasts of one analysis read the same
resamples, so that a reader can compare them.

Source: METHODS 10.4 (percentile), 13.5 (its exact limit).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EnumerationError, SeedRequiredError, UnsupportedMethodError
from leakscale.stats.exposure.joint import JointChanges
from leakscale.stats.exposure.quantiles import state_of_bounds, sum_bounds
from leakscale.stats.intervals import Interval, IntervalState
from leakscale.stats.resampling import sum_distribution

__all__ = ["CONTRAST_METHODS", "Contrasts", "Weights", "draw_contrasts"]

CONTRAST_METHODS = ("percentile", "exact")

Weights = tuple[tuple[Fraction, ...], ...]
"""One weight for each outcome of each block."""


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """Independent blocks with one set of resamples, from which any contrast can be read."""

    blocks: tuple[JointChanges, ...]
    drawn: tuple[NDArray[np.float64], ...] | None
    """Mean changes of each block in each resample, shape (resamples, outcomes); None for the exact method."""
    method: str
    alpha: float
    seed: int | None = None
    """None where nothing was drawn, or a generator was passed."""

    @property
    def n_resamples(self) -> int | None:
        """Number of resamples; None where nothing was drawn."""
        return None if self.drawn is None else self.drawn[0].shape[0]

    def estimate(self, weights: Weights) -> Fraction:
        """Return the weighted sum of mean changes, exactly."""
        pairs = zip(weights, self.blocks, strict=True)
        return sum((w * mean for each, block in pairs for w, mean in zip(each, block.means, strict=True)), Fraction())

    def covariance(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two contrasts, from the variation between families."""
        total = 0.0
        for left, right, block in zip(first, second, self.blocks, strict=True):
            a, b = (np.array([float(weight) for weight in each]) for each in (left, right))
            total += float(a @ block.covariance @ b)
        return total

    def resampled(self, weights: Weights) -> NDArray[np.float64]:
        """Return the contrast in each resample, shape (resamples,)."""
        if self.drawn is None:
            raise UnsupportedMethodError("the exact method draws no resamples; use method='percentile'")
        pairs = zip(weights, self.drawn, strict=True)
        return np.asarray(sum(means @ np.array([float(w) for w in each]) for each, means in pairs))

    def interval(self, weights: Weights) -> Interval:
        """Bound one contrast.

        Raises:
            UnsupportedMethodError: If the method is `exact` and families are missing in some outcomes.
            EnumerationError: If the exact distribution would not fit into memory.
        """
        estimate, state = float(self.estimate(weights)), self.state(weights)
        if state is IntervalState.CONSTANT:
            return Interval(estimate, estimate, estimate, None, self.method, self.alpha, state)
        if state is not IntervalState.ESTIMATED:
            limit = float(sum(abs(weight) for each in weights for weight in each))
            return Interval(estimate, -limit, limit, None, self.method, self.alpha, state)
        if self.drawn is None:
            low, high, error = self._exact(weights)
            return Interval(estimate, low, high, error, self.method, self.alpha, state_of_bounds(low, high))
        values = self.resampled(weights)
        low, high = (float(bound) for bound in np.quantile(values, (self.alpha / 2, 1 - self.alpha / 2)))
        error = float(np.std(values, ddof=1))
        return Interval(estimate, low, high, error, self.method, self.alpha, state_of_bounds(low, high))

    def state(self, weights: Weights) -> IntervalState:
        """Tell whether the families that a contrast weighs vary at all, and if not, why."""
        used = [(each, block) for each, block in zip(weights, self.blocks, strict=True) if any(each)]
        for each, block in used:
            if min(count for weight, count in zip(each, block.family_counts, strict=True) if weight) == 1:
                return IntervalState.SINGLE_FAMILY
        parts = [block.contributions(each)[0] for each, block in used]
        varies = any(part.max() != part.min() for part in parts)
        return IntervalState.ESTIMATED if varies else IntervalState.CONSTANT

    def _exact(self, weights: Weights) -> tuple[float, float, float]:
        """Return the bounds and the standard deviation of the exact bootstrap distribution."""
        if not all(block.is_complete for block in self.blocks):
            raise UnsupportedMethodError(
                "the exact method needs every family in every outcome; use method='percentile' with missing ones"
            )
        parts = [block.contributions(each) for each, block in zip(weights, self.blocks, strict=True) if any(each)]
        m = math.lcm(*(denominator for _, denominator in parts))
        if max(int(np.abs(part).max()) * (m // denominator) for part, denominator in parts) >= 1 << 62:
            raise EnumerationError("the weights have too fine a common measure; use method='percentile'")
        whole = [(part * (m // denominator)).astype(np.int64) for part, denominator in parts]
        low, high = sum_bounds(sum_distribution(*whole), self.alpha)
        deviation = math.sqrt(sum(part.size * float(np.var(part)) for part in whole))
        return low / m, high / m, deviation / m


def draw_contrasts(
    blocks: Sequence[JointChanges],
    *,
    method: str,
    n_resamples: int,
    seed: parameters.Seed | None,
    alpha: float,
) -> Contrasts:
    """Draw the families of each block, block after block, or prepare the exact method.

    Raises:
        ParameterError: If `alpha` or `n_resamples` is out of range.
        SeedRequiredError: If `percentile` is asked for without a seed.
        UnsupportedMethodError: If the method is not one of `CONTRAST_METHODS`.
    """
    alpha = parameters.level(alpha)
    if method == "exact":
        return Contrasts(tuple(blocks), None, method, alpha)
    if method != "percentile":
        raise UnsupportedMethodError(f"method {method!r} is not one of {', '.join(CONTRAST_METHODS)}")
    if seed is None:
        raise SeedRequiredError("the percentile method needs a seed; pass `seed=`, or use method='exact'")
    n_resamples = parameters.count(n_resamples, "n_resamples", 2)
    rng, number = parameters.seeded(seed)
    drawn = tuple(block.resampled_means(n_resamples, rng) for block in blocks)
    return Contrasts(tuple(blocks), drawn, method, alpha, number)
