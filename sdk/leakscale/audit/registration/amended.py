"""The amendments of a fetched audit: its author's word and its server's, kept in the ledger and read again each time.

The ledger is signed by whoever answers, who could write any amendment into it. So an entry holds the envelope that the
author signed and the server's statement of what had been sealed, and which scores had left, when it came.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leakscale.audit.directory import REGISTERED, AuditDirectory
from leakscale.audit.registration.documents import amendment_in
from leakscale.audit.registration.entries import WORDS, EntryKind
from leakscale.audit.registration.ledger import AuditLedger
from leakscale.audit.registration.models import Amendment
from leakscale.audit.registration.origin import Fetched
from leakscale.envelopes import open_envelope
from leakscale.errors import IntegrityError, NotFoundError
from leakscale.statements import Predicate

__all__ = ["FetchedAmendment", "amendment_digest", "amendment_facts", "fetched_amendments", "read_amendment"]


@dataclass(frozen=True, slots=True)
class FetchedAmendment:
    """An amendment with what the server knew when it came."""

    amendment: Amendment
    digest: str
    """Hex SHA-256 of the envelope that its author signed."""
    released_before: tuple[str, ...]
    """Variants whose scores had left: its author may have seen them."""
    sealed_before: int
    """Answer sets that were sealed."""

    def __str__(self) -> str:
        """Say what was known when it came, in words."""
        left = f"scores of {', '.join(self.released_before)} had left" if self.released_before else "no score had left"
        return f"{self.amendment.variant} came to the server with {self.sealed_before} answer sets sealed; {left}"


def fetched_amendments(directory: AuditDirectory, fetched: Fetched) -> tuple[FetchedAmendment, ...]:
    """Return the amendments of a fetched audit, in order, each as its author and the server signed it.

    Raises:
        IntegrityError: If one of them did not, or the ledger says something else.
    """
    entries = [entry for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.AMENDMENT]
    found = []
    for number, entry in enumerate(entries, start=1):
        source = f"ledger '{directory.ledger}', entry {entry.number}"
        words = [entry.facts.get(name) for name in WORDS]
        if not all(isinstance(each, str) for each in words):
            raise IntegrityError(f"{source}: an amendment without its author's and the server's word; fetch again")
        envelope, receipt = (str(each).encode() for each in words)
        read = read_amendment(envelope, receipt, fetched, number=number, source=source)
        if entry.told != read.amendment.to_json():
            raise IntegrityError(f"{source}: says another amendment than its author signed; fetch again")
        found.append(read)
    return tuple(found)


def read_amendment(envelope: bytes, receipt: bytes, fetched: Fetched, *, number: int, source: str) -> FetchedAmendment:
    """Read an amendment by what its author and the server signed.

    Args:
        envelope: The entry of the author's ledger.
        receipt: The server's statement, as an envelope.
        fetched: The audit, with both keys.
        number: Which amendment it has to be, from 1.
        source: Where it is from, for messages.

    Raises:
        IntegrityError: If a signature does not hold, or it is another amendment.
    """
    amendment = amendment_in(envelope, public_key=fetched.author_key, source=source)
    if amendment.number != number:
        raise IntegrityError(f"{source}: is amendment {amendment.number}, where {number} belongs; fetch again")
    digest = hashlib.sha256(envelope).hexdigest()
    facts = open_envelope(
        receipt, Predicate.AUDIT_AMENDMENT, public_key=fetched.server_key, source=f"{source}, the server's word"
    ).facts
    about = {
        "audit": fetched.audit,
        "registration": fetched.registration_digest,
        "variant": amendment.variant,
        "amendment": digest,
    }
    if other := [name for name, value in about.items() if facts.get(name) != value]:
        raise IntegrityError(f"{source}: the server's word is of another {other[0]}; fetch again")
    return FetchedAmendment(amendment, digest, tuple(facts["released_before"]), int(facts["sealed_before"]))


def amendment_facts(read: FetchedAmendment, envelope: bytes, receipt: bytes) -> Mapping[str, Any]:
    """Return the facts of the ledger's entry about an amendment."""
    return read.amendment.to_json() | dict(zip(WORDS, (envelope.decode(), receipt.decode()), strict=True))


def amendment_digest(directory: AuditDirectory, fetched: Fetched, variant: str) -> str:
    """Return how the server names the amendment of a variant; empty of the registered one.

    Raises:
        NotFoundError: If there is no such amendment.
        IntegrityError: As `fetched_amendments`.
    """
    if variant == REGISTERED:
        return ""
    for each in fetched_amendments(directory, fetched):
        if each.amendment.variant == variant:
            return each.digest
    raise NotFoundError(f"variant '{variant}' is not in {fetched.audit}; fetch again, it may have come since")
