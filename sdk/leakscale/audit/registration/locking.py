"""Lock an audit: from here on nothing is decided any more, only measured.

What this does not guard: that nobody asked a model elsewhere before. The lock refuses a directory in which something
was answered, and a log that is imported says of itself that it is older; more a single party cannot show.

Source: CleanScore 7.1 (locked before any audited model saw any item); METHODS 2.6 and 13.10.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import leakscale
from leakscale.audit.clock import utc_now
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import NONCE_BYTES, FormBank, read_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind, LedgerEntry
from leakscale.audit.registration.models import BankFacts, Registration
from leakscale.audit.registration.opening import read_draw
from leakscale.audit.registration.plan import AuditPlan, load_plan
from leakscale.audit.registration.preconditions import (
    read_control,
    rehearse,
    require_checks,
    require_clean_prompt,
    require_draw,
    require_engines,
    require_unlocked,
    resolve_gates,
)
from leakscale.audit.registration.signing import AuditKey, AuditStatement
from leakscale.audit.review import ReviewLog, require_reading, review_queue
from leakscale.whole_files import load_or_create, write_whole

__all__ = ["Locked", "lock_audit"]


@dataclass(frozen=True, slots=True)
class Locked:
    """A lock, and what its reader should know of it."""

    registration: Registration
    entry: LedgerEntry
    notes: tuple[str, ...]
    """What was allowed and weakens the audit."""


def lock_audit(directory: AuditDirectory, *, now: datetime | None = None) -> Locked:
    """Freeze bank, plan and gates into one signed document, and enter it in the ledger.

    A lock that broke off before its ledger entry is done again.

    Raises:
        AlreadyDoneError: If the audit is locked.
        PreconditionError: If something was answered already, a form fails a check, the reading is not done, or the
            audit was fetched from a server.
        InvalidRequestError: If plan, bank, draw or control bank break a rule; the message names it.
        UnderpoweredGateError: If a gate cannot see its own tolerance.
        IntegrityError: If draw, frame or ledger were changed.
        ConflictError: If another process works in the directory.
    """
    with directory.held():
        # 1. Nothing is locked yet, and nothing was asked.
        require_unlocked(directory)
        plan, record = load_plan(directory.plan), read_draw(directory)
        # 2. The bank holds the drawn parents, and the control bank none of the benchmark's.
        bank = read_bank(directory.bank(BankRole.AUDIT))
        require_draw(directory, record, bank)
        control = read_control(directory, plan)
        require_clean_prompt(plan, bank, control)
        # 3. Every form passes the mechanical checks.
        require_checks(bank, plan, role=BankRole.AUDIT)
        if control is not None:
            require_checks(control, plan, role=BankRole.CONTROL)
        # 4. Somebody read what the plan wants read.
        read_count = _require_reading(directory, plan, bank, control)
        # 5. The gates can see as finely as they judge, and the registered analysis can run.
        require_engines(plan)
        gates = resolve_gates(plan, bank, control)
        rehearse(plan, record, bank, control_count=len(control.parents) if control else 0)
        # 6. Sign, then enter: without the entry the document counts for nothing.
        nonce = load_or_create(directory.nonce, lambda: secrets.token_bytes(NONCE_BYTES))
        registration = Registration(
            plan=plan,
            draw=record,
            bank=_facts(bank, nonce),
            control=_facts(control, nonce) if control else None,
            gates=gates,
            review_commitment=ReviewLog(directory).commitment(nonce),
            reviewed_form_count=read_count,
            locked_at=(now or utc_now()).isoformat(),
            leakscale_version=leakscale.__version__,
        )
        entry = _sign(directory, registration, now)
    return Locked(registration, entry, tuple(_notes(registration)))


def _require_reading(directory: AuditDirectory, plan: AuditPlan, bank: FormBank, control: FormBank | None) -> int:
    settings = plan.checks.settings()
    items = review_queue(bank, settings, role=BankRole.AUDIT)
    if control is not None:
        items += review_queue(control, settings, role=BankRole.CONTROL)
    return require_reading(items, ReviewLog(directory).standing(items), scope=plan.review.scope)


def _facts(bank: FormBank, nonce: bytes) -> BankFacts:
    return BankFacts(
        digest=bank.digest,
        gold_commitment=bank.gold_commitment(nonce),
        parent_count=len(bank.parents),
        fresh_count=bank.fresh_count,
        deep_form_count=sum(form is not None for parent in bank.parents for form in parent.deep),
    )


def _sign(directory: AuditDirectory, registration: Registration, now: datetime | None) -> LedgerEntry:
    name = f"audits/{registration.name}"
    content = AuditKey.kept_in(directory.key).sign(
        AuditStatement.REGISTRATION,
        subject=name,
        digest=bytes.fromhex(registration.bank.digest),
        facts=registration.to_json(),
    )
    write_whole(directory.registration, content)
    return AuditLedger(directory).append(
        EntryKind.LOCK,
        subject=directory.registration.name,
        digest=hashlib.sha256(content).digest(),
        facts={"audit": name, "bank_digest": registration.bank.digest},
        at=now,
    )


def _notes(registration: Registration) -> Sequence[str]:
    """Say what was allowed and weakens the audit."""
    notes = []
    sample, control = registration.draw.sample_size, registration.control
    if control is None:
        notes.append("no control bank: the gap is measured, and no claim about exposure can fire")
    elif control.parent_count < sample:
        notes.append(
            f"the control bank has {control.parent_count} parents, fewer than the {sample} audited; its own interval "
            "will decide the width"
        )
    if registration.is_retrospective:
        notes.append("answers of a log are older than this lock: it binds the analysis, not the questions")
    if registration.plan.review.scope == "none":
        notes.append("no reading was asked for: nobody vouches that a rewrite asks what its original asks")
    return notes
