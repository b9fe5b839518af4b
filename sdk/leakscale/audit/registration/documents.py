"""Read what an author signed: a registration, an amendment. Nothing but the bytes and a key is needed."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from leakscale.audit.registration.entries import EntryKind, entry_in
from leakscale.audit.registration.models import Amendment, Registration
from leakscale.audit.registration.signing import AuditStatement, claimed_statement, open_envelope
from leakscale.digests import json_digest
from leakscale.errors import IntegrityError, InvalidRequestError
from leakscale.reading import fault_of

__all__ = ["amendment_in", "registration_in"]

_REGISTRATIONS: Final = str(AuditStatement.REGISTRATION).rpartition(":")[0]
"""What the types of all versions of a registration begin with."""


def registration_in(content: bytes, *, public_key: bytes, source: str) -> Registration:
    """Return what a signed registration says.

    Args:
        content: The envelope, byte for byte.
        public_key: Raw key that has to have signed it.
        source: File or place it is from, for messages.

    Raises:
        IntegrityError: If a byte was changed, or another key signed.
        InvalidRequestError: If another version of leakscale locked it, whose registrations this one cannot read.
    """
    kind = claimed_statement(content)
    if not kind.startswith(_REGISTRATIONS):
        kind = AuditStatement.REGISTRATION
    facts = open_envelope(content, kind, public_key=public_key, source=source).facts
    try:
        if kind != AuditStatement.REGISTRATION:
            raise InvalidRequestError(f"it is a '{kind}', not a '{AuditStatement.REGISTRATION}'")
        registration = Registration.from_json(facts)
        if registration.to_json() != facts:
            raise ValueError("it says more than a registration does, or the same otherwise")
        datetime.fromisoformat(registration.locked_at)
        return registration
    except (InvalidRequestError, AttributeError, KeyError, TypeError, ValueError) as error:
        version = facts.get("leakscale_version", "unknown")
        raise InvalidRequestError(
            f"{source} was locked by leakscale {version}, and this version cannot read it ({fault_of(error)}); "
            "install that one"
        ) from error


def amendment_in(content: bytes, *, public_key: bytes, source: str) -> Amendment:
    """Return the amendment that an entry of its author's ledger says.

    Args:
        content: The envelope, a line of the ledger without its end.
        public_key: Raw key that signed the registration.
        source: File or place it is from, for messages.

    Raises:
        IntegrityError: If a byte was changed, or another key signed.
        InvalidRequestError: If it is another entry than of an amendment.
    """
    entry = entry_in(content, public_key=public_key, source=source)
    if entry.kind is not EntryKind.AMENDMENT:
        raise InvalidRequestError(f"{source} is a ledger's entry of kind '{entry.kind}'; give one of an amendment")
    try:
        amendment = Amendment.from_json(entry.facts)
        if json_digest(amendment.to_json()).hex() != entry.digest:
            raise ValueError("its digest is of another one")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise IntegrityError(f"{source} is no amendment ({fault_of(error)}); restore it from a copy") from error
    return amendment
