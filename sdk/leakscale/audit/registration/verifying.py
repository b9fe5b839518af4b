"""Read back what was locked, and refuse anything that is not it."""

from __future__ import annotations

import hashlib

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import NONCE_BYTES, FormBank, read_bank
from leakscale.audit.registration.documents import registration_in
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import BankFacts, Registration
from leakscale.audit.registration.opening import read_draw
from leakscale.audit.registration.origin import fetched_of
from leakscale.audit.review import ReviewLog
from leakscale.errors import IntegrityError, NotFoundError, PreconditionError

__all__ = [
    "locked_bank",
    "locked_nonce",
    "locked_registration",
    "registration_in",
    "require_bank",
    "require_locked_reading",
]


def locked_registration(directory: AuditDirectory) -> Registration:
    """Return what was locked, once everything that binds it was checked. The plan file is not read: it is history.

    Raises:
        PreconditionError: If the audit is not locked.
        IntegrityError: If ledger, registration or draw were changed, by as little as a byte.
        InvalidRequestError: If another version of leakscale locked it, whose plans this one cannot read.
    """
    # 1. The ledger holds: every signature, every root. `read_draw` and `entries` check it.
    draw, (digest, author_key) = read_draw(directory), _locked(directory)
    # 2. The document is, byte for byte, the one that was entered.
    path = directory.registration
    if not path.is_file():
        raise IntegrityError(f"registration '{path}' is missing, and the audit is locked; restore it from a copy")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise IntegrityError(f"registration '{path}' was changed after it was signed; restore it from a copy")
    # 3. Its author signed it: with the ledger's key, unless the audit was fetched.
    registration = registration_in(content, public_key=author_key, source=f"registration '{path}'")
    # 4. It is about the draw that lies beside it.
    if registration.draw != draw:
        raise IntegrityError(f"registration '{path}' is about another draw than '{directory.draw}'; restore both")
    return registration


def require_locked_reading(directory: AuditDirectory, registration: Registration) -> None:
    """Refuse a log of the human reading that does not begin with what was locked; what was read later may follow.

    An audit that was fetched has none: its author holds it.

    Raises:
        IntegrityError: If a decision from before the lock was changed or dropped.
    """
    if fetched_of(directory) is not None:
        return
    if not ReviewLog(directory).begins_with(registration.review_commitment, locked_nonce(directory)):
        raise IntegrityError(
            f"review log '{directory.review_log}': decisions from before the lock were changed; restore it from a copy"
        )


def locked_bank(directory: AuditDirectory, registration: Registration, role: BankRole = BankRole.AUDIT) -> FormBank:
    """Return a bank with the very forms that were locked, and with their golds, unless the audit was fetched.

    Raises:
        NotFoundError: If the audit has no such bank.
        IntegrityError: If a form, a gold answer or an option was changed after the lock.
    """
    facts = registration.bank if role is BankRole.AUDIT else registration.control
    if facts is None:
        raise NotFoundError(f"audit '{registration.name}' was locked without a control bank")
    path = directory.bank(role)
    is_fetched = fetched_of(directory) is not None
    bank = read_bank(path, golds="withheld" if is_fetched else "required")
    require_bank(bank, facts, source=f"bank '{path}'")
    if not is_fetched and bank.gold_commitment(locked_nonce(directory)) != facts.gold_commitment:
        raise IntegrityError(
            f"bank '{path}': a gold answer was changed after the lock (gold-changed), or '{directory.nonce}' was; "
            "restore both from a copy"
        )
    return bank


def locked_nonce(directory: AuditDirectory) -> bytes:
    """Return the nonce of the lock's commitments.

    Raises:
        IntegrityError: If it is gone or of another length; whether it is the right one, the commitments tell.
    """
    content = directory.nonce.read_bytes() if directory.nonce.is_file() else b""
    if len(content) != NONCE_BYTES:
        raise IntegrityError(
            f"nonce '{directory.nonce}' has {len(content)} bytes, and the lock wrote {NONCE_BYTES}; golds and reading "
            "cannot be held against the registration without it, restore it from a copy"
        )
    return content


def _locked(directory: AuditDirectory) -> tuple[str, bytes]:
    """Return digest and author's key of the registration, by the ledger."""
    ledger = AuditLedger(directory)
    if (fetched := fetched_of(directory)) is not None:
        return fetched.registration_digest, fetched.author_key
    entry = ledger.latest(EntryKind.LOCK)
    if entry is None:
        raise PreconditionError(f"audit '{directory.root}' is not locked; run `leakscale audit lock` first")
    return entry.digest, ledger.public_key()


def require_bank(bank: FormBank, facts: BankFacts, *, source: str) -> None:
    """Refuse a bank whose forms, golds apart, are not the locked ones.

    Raises:
        IntegrityError: If one was changed, added, dropped or moved.
    """
    if bank.digest != facts.digest:
        raise IntegrityError(
            f"{source} was changed after the lock (digest {bank.digest[:12]}, locked {facts.digest[:12]}); "
            "restore it from a copy"
        )
