"""The registered operating rule: which interval is the primary one.

The Wald interval covers too rarely in small samples and where few gaps are nonzero, so there a bound that holds for
every population takes its place. The bound is registered beforehand and both intervals are always shown: taking the
narrower of two after seeing both would not keep the level.

Source: CleanScore 6.5; METHODS 1.5 and 13.1. The paper's bound is `hoeffding`; `betting` is the recommended one.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import UnsupportedMethodError
from leakscale.stats.gaps import Gaps
from leakscale.stats.intervals import Interval, IntervalState
from leakscale.stats.mean_intervals import MEAN_METHODS, MeanBounds, mean_bounds, mean_ci

__all__ = ["Guardrail", "GuardrailReason", "guardrail", "guardrail_bounds", "require_bound"]

WALD = "wald_fpc"


class GuardrailReason(enum.StrEnum):
    """Why the bound took the place of the Wald interval."""

    FEW_PARENTS = "few_parents"
    """Fewer parents were sampled than the rule asks for."""
    FEW_NONZERO = "few_nonzero"
    """Fewer sampled parents than the rule asks for have a nonzero gap."""
    NO_WALD_INTERVAL = "no_wald_interval"
    """The gaps show no variation to build a Wald interval on. Not in the paper, where it would print a zero width."""


@dataclass(frozen=True, slots=True)
class Guardrail:
    """The primary interval, why it is that one, and both intervals."""

    primary: Interval
    reasons: tuple[GuardrailReason, ...]
    """Empty where the Wald interval is primary."""
    intervals: Mapping[str, Interval]
    """Both intervals by method: the registered bound and `wald_fpc`."""
    bound: str
    parent_count: int
    nonzero_count: int
    min_parents: int
    min_nonzero: int

    @property
    def fired(self) -> bool:
        """Tell whether the bound took the place of the Wald interval."""
        return bool(self.reasons)

    @property
    def method(self) -> str:
        """Name the rule: the bound below the thresholds, else Wald."""
        return f"guardrail({self.bound} if n < {self.min_parents} or nonzero < {self.min_nonzero} else {WALD})"

    def to_dict(self) -> dict[str, object]:
        """Return the decision, its reasons and both intervals as JSON-ready values."""
        return {
            "fired": self.fired,
            "primary": self.primary.to_dict(),
            "reasons": [reason.value for reason in self.reasons],
            "intervals": {name: interval.to_dict() for name, interval in self.intervals.items()},
            "method": self.method,
            "parent_count": self.parent_count,
            "nonzero_count": self.nonzero_count,
            "min_parents": self.min_parents,
            "min_nonzero": self.min_nonzero,
        }

    def __str__(self) -> str:
        if not self.fired:
            return f"{self.primary}; guardrail not fired"
        words = {
            GuardrailReason.FEW_PARENTS: f"{self.parent_count} parents, fewer than {self.min_parents}",
            GuardrailReason.FEW_NONZERO: f"{self.nonzero_count} nonzero gaps, fewer than {self.min_nonzero}",
            GuardrailReason.NO_WALD_INTERVAL: "no variation for a Wald interval",
        }
        return f"{self.primary}; guardrail fired: {', '.join(words[reason] for reason in self.reasons)}"


def guardrail(
    gaps: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    *,
    bound: str = "hoeffding",
    min_parents: int = 200,
    min_nonzero: int = 30,
    alpha: float = 0.05,
) -> Guardrail:
    """Apply the registered rule: the bound is primary if n < min_parents or fewer than min_nonzero gaps are nonzero.

    A full audit (n = N) fires nothing: it has no sampling error, and the Wald form says so with width 0.

    Args:
        bound: Method that replaces Wald; `hoeffding` in the paper, `betting` recommended for new registrations.
        min_parents, min_nonzero: Thresholds; both inequalities are strict.

    Raises:
        UnsupportedMethodError: If the bound is `wald_fpc` itself, or does not exist.
        StatisticsError: As `mean_ci`, for either method.
    """
    sample = gaps if isinstance(gaps, Gaps) else Gaps.of(gaps)
    require_bound(bound)
    min_parents, min_nonzero = _thresholds(min_parents, min_nonzero)
    bounded = mean_ci(sample, design, method=bound, alpha=alpha)
    wald = mean_ci(sample, design, method=WALD, alpha=alpha)
    reasons = [] if wald.state is IntervalState.CENSUS else _reasons(sample, min_parents, min_nonzero, wald)
    return Guardrail(
        primary=bounded if reasons else wald,
        reasons=tuple(reasons),
        intervals={bound: bounded, WALD: wald},
        bound=bound,
        parent_count=sample.count,
        nonzero_count=sample.nonzero_count,
        min_parents=min_parents,
        min_nonzero=min_nonzero,
    )


def guardrail_bounds(
    numerators: ArrayLike,
    denominator: int,
    design: FinitePopulationDesign,
    *,
    bound: str = "hoeffding",
    min_parents: int = 200,
    min_nonzero: int = 30,
    alpha: float = 0.05,
) -> MeanBounds:
    """Return the primary bounds of many simple random samples, as `guardrail` does for one.

    Args:
        numerators: Whole numerators of the gaps, shape (samples, n), each row in its draw order.
    """
    require_bound(bound)
    min_parents, min_nonzero = _thresholds(min_parents, min_nonzero)
    wald = mean_bounds(numerators, denominator, design, method=WALD, alpha=alpha)
    samples = np.asarray(numerators)
    if design.is_census(samples.shape[1]):
        return wald
    nonzero = np.count_nonzero(samples, axis=1)
    fires = (nonzero < min_nonzero) | (samples.shape[1] < min_parents) | wald.is_degenerate
    if not fires.any():
        return wald
    bounded = mean_bounds(samples[fires], denominator, design, method=bound, alpha=alpha)
    for whole, part in zip(wald, bounded, strict=True):
        whole[fires] = part
    return wald


def require_bound(bound: str) -> None:
    """Refuse the very interval that the rule guards against: it would have no width where it fails.

    Raises:
        UnsupportedMethodError: If the bound is `wald_fpc`.
    """
    if bound == WALD:
        others = ", ".join(method for method in MEAN_METHODS if method != WALD)
        raise UnsupportedMethodError(f"bound {bound!r} is what the guardrail takes the place of; use one of {others}")


def _reasons(sample: Gaps, min_parents: int, min_nonzero: int, wald: Interval) -> list[GuardrailReason]:
    rules = {
        GuardrailReason.FEW_PARENTS: sample.count < min_parents,
        GuardrailReason.FEW_NONZERO: sample.nonzero_count < min_nonzero,
        GuardrailReason.NO_WALD_INTERVAL: wald.is_degenerate,
    }
    return [reason for reason, holds in rules.items() if holds]


def _thresholds(min_parents: object, min_nonzero: object) -> tuple[int, int]:
    return parameters.count(min_parents, "min_parents"), parameters.count(min_nonzero, "min_nonzero")
