"""A counterfactual that is borrowed from another form, and the gate that says whether it may be.

The gate is sized before anything is trained: one that cannot see its tolerance is refused. Without a registered gate
what is borrowed is printed, and called descriptive.

Source: CleanScore 7.13 and 7.14; METHODS 9.7, 9.8 and 13.10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from leakscale.audit.controls import heads
from leakscale.audit.controls.effects import RunEffects
from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.registering import ControlRun
from leakscale.audit.forms.models import FormBank
from leakscale.errors import InvalidRequestError
from leakscale.stats import BorrowedCounterfactual, GateVerdict, Interval, UnderpoweredGateError, register_gate
from leakscale.tables import PERCENT, Table

__all__ = ["BorrowedRow", "borrowed_table", "require_gate"]


@dataclass(frozen=True, slots=True)
class BorrowedRow:
    """The effect on deep forms if untouched parents had changed on theirs as they did on fresh ones."""

    run: str
    deep: Interval | None
    """Measured, with the deep forms of untouched parents; None where they have none."""
    borrowed: Interval
    off_by: float | None
    """Borrowed less measured."""
    gate: Interval | None
    """Change of untouched parents on deep forms less that on fresh ones: zero, where the assumption holds."""
    gate_parents: int
    """Untouched parents with both."""
    resolution: float | None
    """Half-width of the gate."""
    tolerance: float
    false_alarm: float | None = field(metadata=PERCENT)
    """How often such a gate fires although the assumption holds."""
    reading: str


def require_gate(bank: FormBank, exposed: Sequence[str], control: ControlPlan) -> None:
    """Refuse a registered gate that could not see its own tolerance.

    Args:
        bank: Audited.
        exposed: Ids of the parents whose forms are leaked.
        control: Without the table `borrowed` it registers no gate, and what it borrows is descriptive.

    Raises:
        InvalidRequestError: If no untouched parent has a deep form, on which alone the gate is measured.
        UnderpoweredGateError: If the half-width of the gate exceeds its tolerance; the message says how many parents
            with both forms it takes.
    """
    if control.borrowed is None:
        return
    subject, untouched = f"control '{control.name}'", [each for each in bank.parents if each.parent_id not in exposed]
    with_both = sum(any(each.deep) and any(each.fresh) for each in untouched)
    if not with_both:
        raise InvalidRequestError(
            f"{subject}: the gate of [borrowed] is measured on untouched parents with fresh and deep forms, and of "
            f"{len(untouched)} none has both; write deep forms for them, or leave [borrowed] out"
        )
    try:
        register_gate(
            with_both,
            control.borrowed.standard_deviation,
            tolerance=control.borrowed.tolerance,
            alpha=control.judgement.alpha,
        )
    except UnderpoweredGateError as error:
        raise UnderpoweredGateError(f"{subject}: {error}") from error


def borrowed_table(control: ControlPlan, leaks: Sequence[RunEffects]) -> Table[BorrowedRow]:
    """Set the borrowed estimate of every run beside the measured one, and beside what its gate can say."""
    is_registered = control.borrowed is not None
    rows = [_row(each.run, each.borrowed, is_registered=is_registered) for each in leaks if each.borrowed is not None]
    if not rows:
        return heads.BORROWED.withheld("no exposed parent has a deep form")
    return heads.BORROWED.filled(
        rows,
        "Where untouched parents lack deep forms, their change on fresh ones can stand for it; whether it may is an "
        "assumption. A gate that cannot see its tolerance fires on noise: that it fired says little, that it did not "
        "says as little. Writing the missing forms needs no assumption.",
    )


def _row(run: ControlRun, found: BorrowedCounterfactual, *, is_registered: bool) -> BorrowedRow:
    gate = found.gate
    return BorrowedRow(
        run=run.label,
        deep=None if found.direct is None else found.direct.effect,
        borrowed=found.borrowed.effect,
        off_by=found.off_by,
        gate=None if gate is None else gate.difference,
        gate_parents=0 if gate is None else gate.parent_count,
        resolution=None if gate is None or gate.difference.is_degenerate else gate.resolution,
        tolerance=found.tolerance,
        false_alarm=found.false_alarm,
        reading=_reading(found, is_registered=is_registered),
    )


def _reading(found: BorrowedCounterfactual, *, is_registered: bool) -> str:
    if not found.is_needed:
        return "not needed: every untouched parent has deep forms"
    if found.gate is None:
        return "descriptive: no untouched parent has both, so nothing checks the assumption"
    if found.verdict is GateVerdict.HOLDS:
        return "as registered: the gate held" if is_registered else "descriptive: its gate was not registered"
    if found.verdict is GateVerdict.VIOLATED:
        return "descriptive: the assumption is violated"
    needed = found.gate.parents_needed
    return "descriptive: the gate cannot see its tolerance" + (f"; about {needed} parents could" if needed else "")
