"""Everything that stands between an audit and its lock, all at once; the lock itself stops at the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from leakscale.audit.checks import Finding, Severity, check_bank, check_corpus
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import FormBank, read_bank
from leakscale.audit.registration.opening import read_draw
from leakscale.audit.registration.origin import require_golds
from leakscale.audit.registration.plan import load_plan
from leakscale.audit.registration.preconditions import (
    read_control,
    rehearse,
    require_clean_prompt,
    require_draw,
    require_engines,
    require_unlocked,
    resolve_gates,
)
from leakscale.audit.review import ReviewLog, require_reading, review_queue
from leakscale.errors import LeakScaleError
from leakscale.stats.errors import StatisticsError

__all__ = ["Readiness", "readiness_of"]

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Readiness:
    """What the checks found, and what else the lock would refuse."""

    findings: tuple[tuple[BankRole, Finding], ...]
    obstacles: tuple[str, ...]
    """Messages, in the order in which the lock looks."""
    read_forms: frozenset[str] = frozenset()
    """Forms about whose present bytes a reader decided."""

    @property
    def failures(self) -> list[tuple[BankRole, Finding]]:
        """Findings that stop the lock."""
        return [(role, finding) for role, finding in self.findings if finding.severity is Severity.FAILURE]

    @property
    def unread(self) -> list[tuple[BankRole, Finding]]:
        """Findings that ask for a reader, of forms that nobody read."""
        return [
            (role, finding)
            for role, finding in self.findings
            if finding.severity is Severity.READ and str(finding.form) not in self.read_forms
        ]

    @property
    def is_ready(self) -> bool:
        """Tell whether the audit could be locked now."""
        return not self.failures and not self.obstacles

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {
            "is_ready": self.is_ready,
            "findings": [
                {"bank": str(role), **finding.to_json(), "is_read": str(finding.form) in self.read_forms}
                for role, finding in self.findings
            ],
            "obstacles": list(self.obstacles),
        }


def readiness_of(directory: AuditDirectory, *, corpus: Iterable[Path] = ()) -> Readiness:
    """Look at everything that the lock looks at, and change nothing.

    Args:
        corpus: Files of training text that no rewrite may stand in; only looked at here, never by the lock.

    Raises:
        InvalidRequestError, NotFoundError: If the plan or the bank cannot be read at all.
        IntegrityError: If draw or ledger were changed.
        PreconditionError: If the audit was fetched from a server, and has no golds.
    """
    require_golds(directory, "a check")
    plan, record = load_plan(directory.plan), read_draw(directory)
    bank = read_bank(directory.bank(BankRole.AUDIT))
    obstacles: list[str] = []
    _attempt(obstacles, lambda: require_unlocked(directory))
    _attempt(obstacles, lambda: require_draw(directory, record, bank))
    control = _attempt(obstacles, lambda: read_control(directory, plan))
    _attempt(obstacles, lambda: require_clean_prompt(plan, bank, control))
    banks = {BankRole.AUDIT: bank} | ({BankRole.CONTROL: control} if control else {})
    settings, files = plan.checks.settings(), list(corpus)
    findings = [
        (role, finding)
        for role, held in banks.items()
        for finding in (*check_bank(held, settings), *check_corpus(held, files))
    ]
    items = [item for role, held in banks.items() for item in review_queue(held, settings, role=role)]
    standing = ReviewLog(directory).standing(items)
    _attempt(obstacles, lambda: require_reading(items, standing, scope=plan.review.scope))
    _attempt(obstacles, lambda: require_engines(plan))
    _attempt(obstacles, lambda: resolve_gates(plan, bank, control))
    _attempt(obstacles, lambda: rehearse(plan, record, bank, control_count=_count(control)))
    return Readiness(tuple(findings), tuple(obstacles), frozenset(standing))


def _attempt(obstacles: list[str], step: Callable[[], _Value]) -> _Value | None:
    try:
        return step()
    except (LeakScaleError, StatisticsError) as error:
        obstacles.append(str(error))
        return None


def _count(bank: FormBank | None) -> int:
    return len(bank.parents) if bank else 0
