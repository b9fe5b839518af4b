"""A gate with a tolerance that first says whether it can see its tolerance at all.

The paper borrowed the control parents' change on fresh forms for their missing deep forms, and let 20 parents decide
whether the two changes differ by more than 0.05. Twenty parents cannot: the gate would have fired about as readily
where the assumption held. A gate here is refused registration when its own half-width exceeds its tolerance.

Source: CleanScore 7.13; METHODS 9.7 and 13.10.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from leakscale.stats import parameters
from leakscale.stats.errors import PairingError, UnderpoweredGateError
from leakscale.stats.exposure.joint import joint_changes
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.intervals import Interval
from leakscale.stats.transfer.gate_planning import check_tolerance, gate_advice, gate_size
from leakscale.stats.transfer.visible_gap import gap_movement

__all__ = ["AssumptionGate", "GateVerdict", "assumption_gate"]


class GateVerdict(enum.StrEnum):
    """What the gate can say."""

    HOLDS = "holds"
    """The estimate is within the tolerance, and the gate could have seen a violation."""
    VIOLATED = "violated"
    """The estimate is outside the tolerance, and the gate could see that."""
    UNRESOLVED = "unresolved"
    """The gate's half-width exceeds its tolerance: it would answer about the same whether the assumption holds."""


@dataclass(frozen=True, slots=True, eq=False)
class AssumptionGate:
    """The difference that the assumption says is zero, with the tolerance and the resolution of the gate."""

    difference: Interval
    """Change on the first form less change on the second, in [-2, 2]."""
    tolerance: float
    parent_count: int
    """Parents that have both forms."""
    parents_needed: int | None
    """Parents with this spread whose half-width would be the tolerance; None where no spread was seen."""
    method: str
    alpha: float
    n_resamples: int | None
    seed: int | None

    @property
    def resolution(self) -> float:
        """Half-width of the gate."""
        return self.difference.half_width

    @property
    def is_registrable(self) -> bool:
        """Tell whether the gate can see its own tolerance."""
        return not self.difference.is_degenerate and self.resolution <= self.tolerance

    @property
    def is_within_tolerance(self) -> bool:
        """Tell what the paper's rule says: whether the estimate is within the tolerance, whatever the resolution."""
        return abs(self.difference.estimate) <= self.tolerance

    @property
    def is_equivalent(self) -> bool:
        """Tell whether the whole interval is within the tolerance: the assumption is shown, not just not refuted."""
        inside = -self.tolerance <= self.difference.low and self.difference.high <= self.tolerance
        return inside and not self.difference.is_degenerate

    @property
    def false_alarm(self) -> float | None:
        """Probability that an estimate falls outside the tolerance although the difference is zero, about normal.

        What the paper's rule does where the assumption holds exactly: with twenty parents, it fires seven times in ten.
        None where no spread was seen.
        """
        error = self.difference.standard_error
        return None if not error else 2 * float(special.ndtr(-self.tolerance / error))

    @property
    def verdict(self) -> GateVerdict:
        """What the gate can say."""
        if not self.is_registrable:
            return GateVerdict.UNRESOLVED
        return GateVerdict.HOLDS if self.is_within_tolerance else GateVerdict.VIOLATED

    def registered(self) -> AssumptionGate:
        """Return the gate for registration.

        Raises:
            UnderpoweredGateError: If its half-width exceeds its tolerance.
        """
        if not self.is_registrable:
            raise UnderpoweredGateError(
                f"a gate of {self.parent_count} parents has half-width {self.resolution:.3f} and tolerance "
                f"{self.tolerance:g}; {gate_advice(self.parents_needed)}"
            )
        return self

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "verdict": self.verdict.value,
            "difference": self.difference.to_dict(),
            "tolerance": self.tolerance,
            "resolution": self.resolution,
            "is_registrable": self.is_registrable,
            "is_within_tolerance": self.is_within_tolerance,
            "is_equivalent": self.is_equivalent,
            "false_alarm": self.false_alarm,
            "parent_count": self.parent_count,
            "parents_needed": self.parents_needed,
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        resolution = f"resolution {100 * self.resolution:.1f} against tolerance {100 * self.tolerance:.1f} points"
        return f"assumption {self.verdict.value}: {self.difference}, {self.parent_count} parents, {resolution}"


def assumption_gate(
    first: Outcomes,
    second: Outcomes,
    *,
    tolerance: float = 0.05,
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> AssumptionGate:
    """Compare the changes of the same parents on two forms with a tolerance.

    Args:
        first: Outcomes of the control parents on the form whose change is wanted, e.g. deep paraphrases.
        second: Outcomes on the form whose change is borrowed, e.g. fresh forms. Parents are matched by id where the
            outcomes have ids, and those without both forms are left out.
        tolerance: Greatest difference under which the borrowing is allowed; 0.05 in the paper.
        method: `percentile` with a seed, or `exact`, its infinite-resample limit.
        n_resamples: Resamples of the percentile method.
        seed: Seeds `Generator(PCG64(seed))`.
        alpha: Probability left outside the interval, in (0, 1).

    Raises:
        PairingError: If no parent has both forms.
        ParameterError: If the tolerance is not above zero.
        ParameterError, SeedRequiredError, UnsupportedMethodError: As for `visible_gap`.

    One parent, or parents that all differ by the same amount, are no errors: the verdict is `unresolved`.
    """
    tolerance = check_tolerance(tolerance)
    first, second = _with_both(first, second)
    is_drawn = method == "percentile" and seed is not None
    rng, number = parameters.seeded(seed) if is_drawn else (None, None)
    difference = gap_movement(first, second, method=method, n_resamples=n_resamples, seed=rng, alpha=alpha)
    parents = first.family_count
    error = _standard_deviation(first, second)
    return AssumptionGate(
        difference=difference,
        tolerance=tolerance,
        parent_count=parents,
        parents_needed=gate_size(error, tolerance=tolerance, alpha=difference.alpha) if error > 0 else None,
        method=method,
        alpha=difference.alpha,
        n_resamples=parameters.count(n_resamples, "n_resamples", 2) if method == "percentile" else None,
        seed=number,
    )


def _with_both(first: Outcomes, second: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Leave out the parents that lack a form."""
    if first.ids is None or second.ids is None:
        return first, second
    common = set(first.ids) & set(second.ids)
    if not common:
        raise PairingError("no parent has both forms; the assumption cannot be checked, only replaced by a measurement")
    return _only(first, common), _only(second, common)


def _only(outcomes: Outcomes, ids: set[str]) -> Outcomes:
    rows = [row for row, name in enumerate(outcomes.ids or ()) if name in ids]
    names = [name for name in outcomes.ids or () if name in ids]
    return Outcomes(outcomes.base[rows], outcomes.adapted[rows], outcomes.draws, names)


def _standard_deviation(first: Outcomes, second: Outcomes) -> float:
    covariance = joint_changes([first, second], subject="the two forms").covariance
    weights = np.array([1.0, -1.0])
    return math.sqrt(float(weights @ covariance @ weights) * first.family_count)
