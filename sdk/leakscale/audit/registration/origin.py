"""Where an audit directory comes from: its sample was drawn in it, or its forms were fetched, without their golds.

Whoever answers a deposited audit has a directory with a key and a ledger of their own. Its first entry names what was
fetched from whom: the author's registration, the key that signed it, and the server's, by which all that the server
says later is held.

What this does not guard: that the server's key was the right one on the day of the fetch. Its name is published, or
given to `leakscale audit fetch`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.entries import EntryKind
from leakscale.audit.registration.ledger import AuditLedger
from leakscale.errors import IntegrityError, PreconditionError
from leakscale.reading import fault_of

__all__ = ["Fetched", "fetched_of", "require_golds"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an audit directory was fetched from."""

    audit: str
    """`audits/{audit}`."""
    registration_digest: str
    """Hex SHA-256 of the author's signed registration."""
    author_key: bytes
    """Raw Ed25519 key that signed it, 32 bytes."""
    server: str
    """Address, as it was given."""
    server_key: bytes
    """Raw Ed25519 key by which the server signs, 32 bytes."""

    def to_json(self) -> dict[str, str]:
        """Return the fields as plain JSON values."""
        return {
            "audit": self.audit,
            "registration_digest": self.registration_digest,
            "author_key": self.author_key.hex(),
            "server": self.server,
            "server_key": self.server_key.hex(),
        }

    @classmethod
    def from_json(cls, fields: Any, *, source: str) -> Fetched:
        """Read what `to_json` wrote.

        Raises:
            IntegrityError: If it is something else.
        """
        try:
            keys = {name: bytes.fromhex(fields[name]) for name in ("author_key", "server_key")}
            return cls(**(dict(fields) | keys))
        except (KeyError, TypeError, ValueError) as error:
            raise IntegrityError(
                f"{source}: says not what was fetched ({fault_of(error)}); fetch the audit again"
            ) from error


def fetched_of(directory: AuditDirectory) -> Fetched | None:
    """Return what a directory was fetched from; None of one whose sample was drawn in it.

    Raises:
        NotFoundError, IntegrityError: As `AuditLedger.entries`.
    """
    first = AuditLedger(directory).entries()[0]
    if first.kind is not EntryKind.FETCH:
        return None
    return Fetched.from_json(first.facts, source=f"ledger '{directory.ledger}', entry 1")


def require_golds(directory: AuditDirectory, doing: str) -> None:
    """Refuse what needs the golds, or the author's key, where neither is.

    Args:
        directory: Of an audit.
        doing: What is refused, the subject of the message, e.g. `an amendment`.

    Raises:
        PreconditionError: If the directory was fetched.
    """
    fetched = fetched_of(directory)
    if fetched is not None:
        raise PreconditionError(
            f"audit '{directory.root}' was fetched from {fetched.server} without its golds, and {doing} needs them and "
            "the author's key; do it where the forms were written"
        )
