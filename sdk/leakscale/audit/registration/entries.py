"""Entries of an audit's ledger, one by one; `leakscale.audit.registration.ledger` has the chain of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from leakscale.audit.registration.signing import AuditStatement, open_envelope
from leakscale.errors import IntegrityError, InvalidRequestError
from leakscale.reading import fault_of

__all__ = ["WORDS", "EntryKind", "LedgerEntry", "entry_in"]

WORDS: Final = ("envelope", "receipt")
"""Facts beside an amendment in the ledger of a fetched audit: what its author and the server signed."""


class EntryKind(StrEnum):
    """What an entry says was done."""

    DRAW = "draw"
    """The sample was drawn. The first entry of an audit; it names the key of all."""
    FETCH = "fetch"
    """A deposited audit was fetched without its golds, in place of a draw; it names registration and keys."""
    LOCK = "lock"
    AMENDMENT = "amendment"
    SCORES = "scores"
    """A table of scores was made or imported."""
    ANALYSIS = "analysis"
    CONTROL = "control"
    """A positive control was registered, before anything was trained for it."""
    DEPOSIT = "deposit"
    """The audit, or an amendment of it, was deposited on a server."""
    SEAL = "seal"
    """Answers were sealed on a server; the digest is its receipt's."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One thing that was done."""

    number: int
    """From 1."""
    kind: EntryKind
    subject: str
    """What it is about, e.g. `registration.json`."""
    digest: str
    """Hex SHA-256 of that."""
    at: str
    """UTC, ISO 8601, by the clock of whoever did it."""
    facts: Mapping[str, Any]
    previous: str
    """Hex Merkle root over the entries before it."""

    @property
    def told(self) -> Mapping[str, Any]:
        """The facts without the words that others signed."""
        return {name: value for name, value in self.facts.items() if name not in WORDS}


def entry_in(content: bytes, *, public_key: bytes, source: str) -> LedgerEntry:
    """Return what a signed entry says. Its place in a chain is not looked at.

    Args:
        content: The envelope, a line of a ledger without its end.
        public_key: Raw key that has to have signed it.
        source: Ledger and place in it, for messages.

    Raises:
        IntegrityError: If a byte was changed, another key signed, or it is no entry.
        InvalidRequestError: If it is of a kind that only a newer version knows.
    """
    opened = open_envelope(content, AuditStatement.ENTRY, public_key=public_key, source=source)
    try:
        number, kind, at, facts, previous = (
            opened.facts[name] for name in ("number", "kind", "at", "facts", "previous")
        )
    except KeyError as error:
        raise IntegrityError(
            f"{source}: is no entry of a ledger ({fault_of(error)}); restore it from a copy"
        ) from error
    if kind not in list(EntryKind):
        raise InvalidRequestError(
            f"{source}: says '{kind}', which this version of leakscale does not know; install a newer one"
        )
    return LedgerEntry(number, EntryKind(kind), opened.subject, opened.digest.hex(), at, facts, previous)
