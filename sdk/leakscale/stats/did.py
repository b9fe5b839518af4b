"""Difference in differences: how far exposure moved accuracy, beyond what adaptation alone did.

    effect = (adapted - base accuracy under targeted exposure, C2) - (adapted - base accuracy of the control, C0)

The interval treats families as the observations. A family moves as a block with all its base and adapted draws, so
neither more draws nor copies of draws make it narrower than the families allow; C0 and C2 are resampled apart.

Source: LeakScale E.1; METHODS 10.3, 10.4 and 13.5. The quantile rule, which the paper leaves open, is numpy's linear
one for the simulated interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.errors import ParameterError, SeedRequiredError, UnsupportedMethodError
from leakscale.stats.intervals import Interval, IntervalState
from leakscale.stats.outcomes import Outcomes
from leakscale.stats.quantiles import difference_bounds, sum_bounds
from leakscale.stats.resampling import resampled_sums, sum_distribution

__all__ = ["METHODS", "DidResult", "difference_in_differences"]

METHODS = ("percentile", "exact")
"""`percentile` simulates with a seed (the registered one); `exact` is its limit for infinitely many resamples."""


@dataclass(frozen=True, slots=True, eq=False)
class DidResult:
    """The exposure effect, the two changes it is the difference of, and the counts they come from."""

    effect: Interval
    """C2 change minus C0 drift, in [-2, 2]."""
    c0_drift: Interval
    """Adapted minus base accuracy of the no-key control, in [-1, 1]."""
    c2_change: Interval
    """Adapted minus base accuracy under targeted exposure, in [-1, 1]."""
    c0: Outcomes
    c2: Outcomes
    method: str
    alpha: float
    n_resamples: int | None
    """None for the exact method, which draws nothing."""
    seed: int | None
    """None for the exact method, and when a generator was passed."""

    @property
    def is_degenerate(self) -> bool:
        """Tell whether any of the three intervals comes from the lack of variation."""
        return any(part.is_degenerate for part in (self.effect, self.c0_drift, self.c2_change))

    def to_dict(self) -> dict[str, object]:
        """Return the three intervals, the integer totals and the settings as JSON-ready values."""
        return {
            "effect": self.effect.to_dict(),
            "c0_drift": self.c0_drift.to_dict(),
            "c2_change": self.c2_change.to_dict(),
            "c0": self.c0.to_dict(),
            "c2": self.c2.to_dict(),
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "is_degenerate": self.is_degenerate,
        }

    def __str__(self) -> str:
        families = f"{self.c0.family_count} + {self.c2.family_count} families"
        return f"exposure effect {self.effect}, {families}"


class _Bounds(NamedTuple):
    low: float
    high: float
    standard_error: float


class _Bounded(NamedTuple):
    effect: _Bounds
    c0_drift: _Bounds
    c2_change: _Bounds


def difference_in_differences(
    c0: Outcomes,
    c2: Outcomes,
    *,
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: int | np.random.Generator | None = None,
    alpha: float = 0.05,
) -> DidResult:
    """Estimate the exposure effect with an interval over families.

    Args:
        c0: Outcomes of the no-key control.
        c2: Outcomes under targeted exposure. The conditions may differ in families and in draws.
        method: `percentile`, the seeded family-block bootstrap, or `exact`, its infinite-resample limit, which needs
            no seed and no resamples. Exchanging `c0` and `c2` mirrors the exact interval; the simulated one is
            mirrored up to its simulation noise.
        n_resamples: Resamples of each condition; 10,000 in the paper.
        seed: Seeds `Generator(PCG64(seed))`, which first draws every resample of C0, then every resample of C2.
        alpha: Probability left outside the interval, in (0, 1).

    Raises:
        ParameterError: If `alpha` or `n_resamples` is out of range.
        SeedRequiredError: If `percentile` is asked for without a seed.
        UnsupportedMethodError: If the method is not one of `METHODS`.

    A condition with one family, or whose families all changed alike, is no error: the interval's `state` says so.
    Not covered: the variation between training runs (there is one adapter), and between shapes as a sample of shapes.
    """
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha is {alpha}; it lies between 0 and 1, e.g. 0.05")
    if method == "percentile":
        bounded = _simulated(c0, c2, n_resamples, _generator(seed), alpha)
    elif method == "exact":
        bounded = _exact(c0, c2, alpha)
    else:
        raise UnsupportedMethodError(f"method {method!r} is not one of {', '.join(METHODS)}")
    c0_drift = _change(c0, bounded.c0_drift, method, alpha)
    c2_change = _change(c2, bounded.c2_change, method, alpha)
    return DidResult(
        effect=_effect(c0_drift, c2_change, bounded.effect, _point(c0, c2)),
        c0_drift=c0_drift,
        c2_change=c2_change,
        c0=c0,
        c2=c2,
        method=method,
        alpha=alpha,
        n_resamples=n_resamples if method == "percentile" else None,
        seed=seed if method == "percentile" and isinstance(seed, int) else None,
    )


def _generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    if seed is None:
        raise SeedRequiredError("the percentile method needs a seed; pass `seed=`, or use method='exact'")
    return seed if isinstance(seed, np.random.Generator) else np.random.Generator(np.random.PCG64(seed))


def _weights(c0: Outcomes, c2: Outcomes) -> tuple[int, int, int]:
    """Return w0, w2 and m such that the effect is (w2 * sum of C2 changes - w0 * sum of C0 changes) / m, exactly."""
    draws0, draws2 = c0.family_count * c0.draws, c2.family_count * c2.draws
    m = math.lcm(draws0, draws2)
    return m // draws0, m // draws2, m


def _point(c0: Outcomes, c2: Outcomes) -> float:
    w0, w2, m = _weights(c0, c2)
    return (w2 * int(c2.changes.sum()) - w0 * int(c0.changes.sum())) / m


def _simulated(c0: Outcomes, c2: Outcomes, n_resamples: int, rng: np.random.Generator, alpha: float) -> _Bounded:
    if n_resamples < 2:
        raise ParameterError(f"n_resamples is {n_resamples}; an interval needs at least 2, the paper takes 10,000")
    sums0 = resampled_sums(c0.changes, n_resamples, rng)
    sums2 = resampled_sums(c2.changes, n_resamples, rng)
    w0, w2, m = _weights(c0, c2)
    return _Bounded(
        effect=_percentiles(w2 * sums2 - w0 * sums0, m, alpha),
        c0_drift=_percentiles(sums0, c0.family_count * c0.draws, alpha),
        c2_change=_percentiles(sums2, c2.family_count * c2.draws, alpha),
    )


def _percentiles(numerators: NDArray[np.int64], denominator: int, alpha: float) -> _Bounds:
    low, high = np.quantile(numerators, (alpha / 2, 1 - alpha / 2))
    spread = np.std(numerators, ddof=1)
    return _Bounds(float(low) / denominator, float(high) / denominator, float(spread) / denominator)


def _exact(c0: Outcomes, c2: Outcomes, alpha: float) -> _Bounded:
    total0, total2 = sum_distribution(c0.changes), sum_distribution(c2.changes)
    w0, w2, m = _weights(c0, c2)
    error0, error2 = _plug_in_error(c0), _plug_in_error(c2)
    low, high = difference_bounds(total2, total0, w2, w0, alpha)
    low0, high0 = sum_bounds(total0, alpha)
    low2, high2 = sum_bounds(total2, alpha)
    draws0, draws2 = c0.family_count * c0.draws, c2.family_count * c2.draws
    return _Bounded(
        effect=_Bounds(low / m, high / m, math.hypot(error0, error2)),
        c0_drift=_Bounds(low0 / draws0, high0 / draws0, error0),
        c2_change=_Bounds(low2 / draws2, high2 / draws2, error2),
    )


def _plug_in_error(outcomes: Outcomes) -> float:
    """Return the standard deviation of the bootstrap distribution of the change, in closed form."""
    return float(np.std(outcomes.changes)) / (outcomes.draws * math.sqrt(outcomes.family_count))


def _change(outcomes: Outcomes, bounds: _Bounds, method: str, alpha: float) -> Interval:
    estimate = int(outcomes.changes.sum()) / (outcomes.family_count * outcomes.draws)
    if outcomes.family_count == 1:
        return Interval(estimate, -1.0, 1.0, None, method, alpha, IntervalState.SINGLE_FAMILY)
    if np.ptp(outcomes.changes) == 0:
        return Interval(estimate, estimate, estimate, None, method, alpha, IntervalState.CONSTANT)
    return Interval(estimate, *bounds, method, alpha)


def _effect(c0_drift: Interval, c2_change: Interval, bounds: _Bounds, estimate: float) -> Interval:
    """Give the effect the state of its parts: unknown if one is unknown, constant only if both are."""
    states = {c0_drift.state, c2_change.state}
    method, alpha = c0_drift.method, c0_drift.alpha
    if IntervalState.SINGLE_FAMILY in states:
        return Interval(estimate, -2.0, 2.0, None, method, alpha, IntervalState.SINGLE_FAMILY)
    if states == {IntervalState.CONSTANT}:
        return Interval(estimate, estimate, estimate, None, method, alpha, IntervalState.CONSTANT)
    return Interval(estimate, *bounds, method, alpha)
