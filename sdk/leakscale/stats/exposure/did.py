"""Difference in differences: how far exposure moved accuracy, beyond what adaptation alone did.

    effect = (adapted - base accuracy under targeted exposure, C2) - (adapted - base accuracy of the control, C0)

The interval treats families as the observations. A family moves as a block with all its base and adapted draws, so
neither more draws nor copies of draws make it narrower than the families allow; C0 and C2 are resampled apart.

Source: LeakScale E.1; METHODS 10.3, 10.4 and 13.5. The quantile rule, which the paper leaves open, is numpy's linear
one for the simulated interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from leakscale.stats import parameters
from leakscale.stats.errors import SeedRequiredError, UnsupportedMethodError
from leakscale.stats.exposure.did_exact import exact
from leakscale.stats.exposure.did_simulated import Bounds, bca, percentile, replicates, studentized
from leakscale.stats.exposure.did_warnings import warnings_about
from leakscale.stats.exposure.labels import Labels
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.exposure.quantiles import state_of_bounds
from leakscale.stats.exposure.resampling_units import Quantity, ResamplingUnits, resampling_units
from leakscale.stats.intervals import Interval, IntervalState

__all__ = ["METHODS", "DidResult", "difference_in_differences"]

_SIMULATED = {"percentile": percentile, "bca": bca, "studentized": studentized}
METHODS = (*_SIMULATED, "exact")
"""`percentile` simulates with a seed (the registered one); `bca` and `studentized` do too and hold their level better
in small groups; `exact` is the limit of `percentile` for infinitely many resamples."""


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
    resampled: str = "families"
    """What was drawn, and how many of it, e.g. `32 clusters of both conditions`."""
    warnings: tuple[str, ...] = ()
    """Why the interval may cover less than it promises; empty where nothing speaks for that."""

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
            "resampled": self.resampled,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        families = f"{self.c0.family_count} + {self.c2.family_count} families"
        return "; beware: ".join((f"exposure effect {self.effect}, {families}", *self.warnings))


def difference_in_differences(
    c0: Outcomes,
    c2: Outcomes,
    *,
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    strata: Labels | None = None,
    cluster: Labels | None = None,
    alpha: float = 0.05,
) -> DidResult:
    """Estimate the exposure effect with an interval over families.

    Args:
        c0: Outcomes of the no-key control.
        c2: Outcomes under targeted exposure. The conditions may differ in families and in draws.
        method: `percentile`, the seeded family-block bootstrap; `exact`, its infinite-resample limit, which needs no
            seed and no resamples; `bca` or `studentized`, seeded, for small groups. Exchanging `c0` and `c2` mirrors
            the exact interval; a simulated one is mirrored up to its simulation noise.
        n_resamples: Resamples of each condition; 10,000 in the paper.
        seed: Seeds `Generator(PCG64(seed))`, which first draws every resample of C0, then every resample of C2.
        strata: Labels of the C0 families and of the C2 families. Families are then drawn within their stratum, for a
            design that fixed how many families each stratum holds. The estimate is the same.
        cluster: Labels likewise. Clusters are then drawn with all their families: for clusters that are a sample of
            those the conclusion is about, e.g. shapes. Clusters that have families of both conditions are drawn once
            for both. The estimate is the same.
        alpha: Probability left outside the interval, in (0, 1).

    Raises:
        DesignError: If labels do not fit the families, or only some clusters have families of both conditions.
        EnumerationError: If the exact distribution would not fit into memory.
        ParameterError: If `alpha` or `n_resamples` is out of range.
        SeedRequiredError: If a simulated method is asked for without a seed.
        UnsupportedMethodError: If the method is not one of `METHODS`, or is `exact` for clusters of unequal size.

    A condition with one family (or cluster, or stratum with one), or whose families all changed alike, is no error:
    the interval's `state` says so. Not covered: the variation between training runs (there is one adapter), and
    between shapes as a sample of shapes unless they are the clusters.
    """
    alpha = parameters.level(alpha)
    units = resampling_units(c0, c2, strata, cluster)
    bounds, settings = _bounds(units, method, n_resamples, seed, alpha)
    return DidResult(
        effect=_interval(units, Quantity.EFFECT, bounds, method, alpha),
        c0_drift=_interval(units, Quantity.C0_DRIFT, bounds, method, alpha),
        c2_change=_interval(units, Quantity.C2_CHANGE, bounds, method, alpha),
        c0=c0,
        c2=c2,
        method=method,
        alpha=alpha,
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        resampled=str(units),
        warnings=warnings_about(units, method),
    )


class _Drawn(NamedTuple):
    """Resamples and their seed, None where nothing was drawn or a generator was passed."""

    n_resamples: int | None
    seed: int | None


def _bounds(
    units: ResamplingUnits, method: str, n_resamples: int, seed: parameters.Seed | None, alpha: float
) -> tuple[Callable[[Quantity], Bounds], _Drawn]:
    """Do the work that the three quantities share, and return how to bound one of them, and what was drawn."""
    if method == "exact":
        return lambda quantity: exact(units, quantity, alpha), _Drawn(None, None)
    if method not in _SIMULATED:
        raise UnsupportedMethodError(f"method {method!r} is not one of {', '.join(METHODS)}")
    if seed is None:
        raise SeedRequiredError(f"the {method} method needs a seed; pass `seed=`, or use method='exact'")
    n_resamples = parameters.count(n_resamples, "n_resamples", 2)
    rng, number = parameters.seeded(seed)
    drawn = replicates(units, n_resamples, rng, with_spread=method == "studentized")
    return lambda quantity: _SIMULATED[method](drawn, quantity, alpha), _Drawn(n_resamples, number)


def _interval(
    units: ResamplingUnits, quantity: Quantity, bounds: Callable[[Quantity], Bounds], method: str, alpha: float
) -> Interval:
    estimate, state = units.estimate(quantity), units.state(quantity)
    if state is IntervalState.ESTIMATED:
        found = bounds(quantity)
        return Interval(estimate, *found, method, alpha, state_of_bounds(found.low, found.high))
    low, high = (estimate, estimate) if state is IntervalState.CONSTANT else (-quantity.limit, quantity.limit)
    return Interval(estimate, low, high, None, method, alpha, state)
