"""An effect on a form that untouched parents lack, with their change on another form in the place of the missing one.

    borrowed = change of the exposed on the wanted form - change of the untouched on the form that they have

It is right where the untouched parents would have changed on the wanted form as they did on the other: an assumption,
which a gate on the parents that have both can only refuse. The paper's Study 5 borrowed, its gate of twenty parents
fired, and its Study 6 measured that it had borrowed 6.2 points too much.

Source: CleanScore 7.13 and 7.14; METHODS 9.7 and 9.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from leakscale.stats.errors import PairingError
from leakscale.stats.exposure.did import DidResult, difference_in_differences
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.transfer.assumption_gate import AssumptionGate, GateVerdict, assumption_gate
from leakscale.stats.transfer.gate_planning import check_tolerance

__all__ = ["BorrowedCounterfactual", "borrowed_counterfactual"]

_METHOD = "exact"


@dataclass(frozen=True, slots=True, eq=False)
class BorrowedCounterfactual:
    """The borrowed estimate, what can be measured beside it, and what the gate says."""

    borrowed: DidResult
    """C0 are the untouched parents on the form that they have."""
    direct: DidResult | None
    """The effect with the wanted form in both groups; None where no untouched parent has it."""
    gate: AssumptionGate | None
    """Wanted less borrowed change of the untouched parents that have both forms; None where none has."""
    tolerance: float
    """Of the gate, whether or not there is one."""

    @property
    def off_by(self) -> float | None:
        """How much less the borrowed estimate is than the direct one; None where there is none."""
        return None if self.direct is None else self.borrowed.effect.estimate - self.direct.effect.estimate

    @property
    def is_needed(self) -> bool:
        """Tell whether an untouched parent lacks the wanted form."""
        return self.direct is None or self.direct.c0.family_count < self.borrowed.c0.family_count

    @property
    def verdict(self) -> GateVerdict:
        """What the gate says; without one, nothing is resolved."""
        return GateVerdict.UNRESOLVED if self.gate is None else self.gate.verdict

    @property
    def false_alarm(self) -> float | None:
        """Probability that the gate fires although the assumption holds; None without a gate that sees a spread."""
        return None if self.gate is None else self.gate.false_alarm

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "borrowed": self.borrowed.to_dict(),
            "direct": self.direct and self.direct.to_dict(),
            "gate": self.gate and self.gate.to_dict(),
            "tolerance": self.tolerance,
            "off_by": self.off_by,
            "is_needed": self.is_needed,
            "verdict": self.verdict.value,
        }

    def __str__(self) -> str:
        gate = "no parent has both forms" if self.gate is None else str(self.gate)
        return f"borrowed counterfactual: {self.borrowed.effect}; {gate}"


def borrowed_counterfactual(
    exposed: Outcomes,
    lent: Outcomes,
    own: Outcomes | None,
    *,
    tolerance: float = 0.05,
    alpha: float = 0.05,
) -> BorrowedCounterfactual:
    """Estimate an effect whose counterfactual is borrowed from another form.

    Args:
        exposed: Exposed parents on the wanted form.
        lent: Untouched parents on the form whose change is borrowed.
        own: Untouched parents on the wanted form, those that have it; None if none has. Matched to `lent` by id.
        tolerance: Greatest difference of the two changes under which the borrowing is allowed; 0.05 in the paper.
        alpha: Probability left outside each interval, in (0, 1).

    Raises:
        ParameterError: If tolerance or alpha is out of range.
    """
    tolerance = check_tolerance(tolerance)
    return BorrowedCounterfactual(
        difference_in_differences(lent, exposed, method=_METHOD, alpha=alpha),
        None if own is None else difference_in_differences(own, exposed, method=_METHOD, alpha=alpha),
        None if own is None else _gate(own, lent, tolerance, alpha),
        tolerance,
    )


def _gate(own: Outcomes, lent: Outcomes, tolerance: float, alpha: float) -> AssumptionGate | None:
    try:
        return assumption_gate(own, lent, tolerance=tolerance, method=_METHOD, alpha=alpha)
    except PairingError:
        return None
