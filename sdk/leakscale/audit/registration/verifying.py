"""Read back what was locked, and refuse anything that is not it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import FormBank, read_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.opening import read_draw
from leakscale.audit.registration.signing import AuditStatement, open_envelope
from leakscale.audit.review import ReviewLog
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError, PreconditionError

__all__ = ["locked_bank", "locked_registration", "require_locked_reading"]


def locked_registration(directory: AuditDirectory) -> Registration:
    """Return what was locked, once everything that binds it was checked. The plan file is not read: it is history.

    Raises:
        PreconditionError: If the audit is not locked.
        IntegrityError: If ledger, registration or draw were changed, by as little as a byte.
        InvalidRequestError: If another version of leakscale locked it, whose plans this one cannot read.
    """
    # 1. The ledger holds: every signature, every root. `read_draw` and `entries` check it.
    ledger = AuditLedger(directory)
    draw, entry = read_draw(directory), ledger.latest(EntryKind.LOCK)
    if entry is None:
        raise PreconditionError(f"audit '{directory.root}' is not locked; run `leakscale audit lock` first")
    # 2. The document is, byte for byte, the one that was entered.
    path = directory.registration
    if not path.is_file():
        raise IntegrityError(f"registration '{path}' is missing, and the audit is locked; restore it from a copy")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != entry.digest:
        raise IntegrityError(f"registration '{path}' was changed after it was signed; restore it from a copy")
    # 3. The ledger's key signed it.
    opened = open_envelope(
        content, AuditStatement.REGISTRATION, public_key=ledger.public_key(), source=f"registration '{path}'"
    )
    registration = _read(opened.facts, path)
    # 4. It is about the draw that lies beside it.
    if registration.draw != draw:
        raise IntegrityError(f"registration '{path}' is about another draw than '{directory.draw}'; restore both")
    return registration


def require_locked_reading(directory: AuditDirectory, registration: Registration) -> None:
    """Refuse a log of the human reading that does not begin with what was locked; what was read later may follow.

    Raises:
        IntegrityError: If a decision from before the lock was changed or dropped.
    """
    if not ReviewLog(directory).begins_with(registration.review_digest):
        raise IntegrityError(
            f"review log '{directory.review_log}': decisions from before the lock were changed; restore it from a copy"
        )


def locked_bank(directory: AuditDirectory, registration: Registration, role: BankRole = BankRole.AUDIT) -> FormBank:
    """Return a bank with the very forms that were locked.

    Raises:
        NotFoundError: If the audit has no such bank.
        IntegrityError: If a form, a gold answer or an option was changed after the lock.
    """
    facts = registration.bank if role is BankRole.AUDIT else registration.control
    if facts is None:
        raise NotFoundError(f"audit '{registration.name}' was locked without a control bank")
    path = directory.bank(role)
    bank = read_bank(path)
    if bank.digest != facts.digest:
        raise IntegrityError(
            f"bank '{path}' was changed after the lock (digest {bank.digest[:12]}, locked {facts.digest[:12]}); "
            "restore it from a copy"
        )
    return bank


def _read(facts: Mapping[str, Any], path: Path) -> Registration:
    try:
        return Registration.from_json(facts)
    except (InvalidRequestError, KeyError, TypeError) as error:
        version = facts.get("leakscale_version", "unknown")
        raise InvalidRequestError(
            f"registration '{path}' was locked by leakscale {version}, and this version cannot read it ({error}); "
            "install that one"
        ) from error
