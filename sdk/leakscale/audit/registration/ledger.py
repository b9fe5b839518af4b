"""The ledger of an audit: what was done, in order, signed, each entry bound to all before it.

An entry holds the Merkle root over the entries before it, so no entry can be changed, dropped or moved without breaking
a signature. Entries cut off at the end cannot be seen from the file alone: publish the head, which
`leakscale audit show` prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from leakscale.audit.clock import utc_now
from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.entries import EntryKind, LedgerEntry, entry_in
from leakscale.audit.registration.order import breach_of
from leakscale.audit.registration.signing import (
    AuditKey,
    AuditStatement,
    Frontier,
    claimed_key,
    key_id,
    leaf_hash,
)
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, NotFoundError
from leakscale.whole_files import write_whole

__all__ = ["AuditLedger", "EntryKind", "Head", "LedgerEntry"]


_HEAD: Final = re.compile(r"([1-9]\d{0,8}):([0-9a-f]{64}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Head:
    """The ledger in one line: who keeps it can tell later that nothing before it was changed."""

    entry_count: int
    root: str
    """Hex Merkle root over the entries (RFC 9162)."""
    key_id: str
    """Hex SHA-256 of the public key."""

    def __str__(self) -> str:
        return f"{self.entry_count}:{self.root}:{self.key_id}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Read what `str` wrote.

        Raises:
            InvalidRequestError: If it is no head.
        """
        match = _HEAD.fullmatch(text.strip())
        if match is None:
            raise InvalidRequestError(f"head {text!r} is none; pass COUNT:ROOT:KEY as `leakscale audit show` prints it")
        return cls(int(match[1]), match[2], match[3])


class AuditLedger:
    """The ledger of one directory."""

    def __init__(self, directory: AuditDirectory) -> None:
        self._path = directory.ledger
        self._key_path = directory.key

    def entries(self) -> tuple[LedgerEntry, ...]:
        """Read and verify every entry.

        Raises:
            NotFoundError: If there is no ledger.
            IntegrityError: If an entry was changed, moved, dropped or signed by another key.
        """
        return self._read()[0]

    def head(self) -> Head:
        """Return what to publish; raises as `entries`."""
        entries, root, key = self._read()
        return Head(len(entries), root.hex(), key_id(key))

    def public_key(self) -> bytes:
        """Return the raw key that signed every entry; raises as `entries`."""
        return self._read()[2]

    def require_extends(self, head: Head) -> None:
        """Refuse a ledger that does not begin with what an earlier head stands for.

        Raises:
            IntegrityError: If it has fewer entries, other ones, or another key.
        """
        self.entries()
        lines = self._path.read_bytes().splitlines()[: head.entry_count]
        tree = Frontier(leaf_hash(line) for line in lines)
        if tree.leaf_count < head.entry_count or tree.root().hex() != head.root or self.head().key_id != head.key_id:
            raise IntegrityError(
                f"ledger '{self._path}' does not go on from the head of {head.entry_count} entries that was published; "
                "entries were dropped or signed again, restore the file from a copy"
            )

    def latest(self, kind: EntryKind) -> LedgerEntry | None:
        """Return the last entry of a kind, or None; raises as `entries`."""
        return next((entry for entry in reversed(self.entries()) if entry.kind is kind), None)

    def envelopes(self, kind: EntryKind) -> tuple[bytes, ...]:
        """Return the signed bytes of every entry of a kind, in order; raises as `entries`."""
        lines = self._path.read_bytes().splitlines() if self._path.is_file() else []
        return tuple(lines[entry.number - 1] for entry in self.entries() if entry.kind is kind)

    def append(
        self,
        kind: EntryKind,
        *,
        subject: str,
        digest: bytes,
        facts: Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> LedgerEntry:
        """Sign and write the next entry, complete or not at all. Hold the directory meanwhile.

        Args:
            digest: SHA-256 of what the subject stands for, 32 bytes.
            facts: What else is to be bound; nothing that shows a private form.
            at: Now, unless given.

        Raises:
            NotFoundError: If the key is gone; only the first entry makes one.
            IntegrityError: If what is there already does not hold, or another key began the ledger.
            ConflictError: If the entry may not follow those that are there; see `leakscale.audit.registration.order`.
        """
        is_first = not self._path.exists()
        key = AuditKey.made_in(self._key_path) if is_first else AuditKey.kept_in(self._key_path)
        entries, root, before = self._before(key)
        moment = (at or utc_now()).isoformat()
        content = {
            "number": len(entries) + 1,
            "kind": str(kind),
            "at": moment,
            "previous": root.hex(),
            "public_key": key.public.hex(),
            "facts": dict(facts or {}),
        }
        line = key.sign(AuditStatement.ENTRY, subject=subject, digest=digest, facts=content)
        entry = entry_in(line, public_key=key.public, source=f"ledger '{self._path}', entry {len(entries) + 1}")
        if breach := breach_of((*entries, entry)):
            raise ConflictError(f"ledger '{self._path}': {breach[1]}; nothing was entered, keep what is there")
        write_whole(self._path, before + line + b"\n")
        return entry

    def append_once(self, kind: EntryKind, *, subject: str, digest: bytes, facts: Mapping[str, Any]) -> None:
        """Append an entry, unless a run that was repeated, or broke off just here, entered subject and digest already.

        Raises as `append`; ConflictError also if the subject was entered with another digest.
        """
        if all((entry.subject, entry.digest) != (subject, digest.hex()) for entry in self.entries()):
            self.append(kind, subject=subject, digest=digest, facts=facts)

    def _before(self, key: AuditKey) -> tuple[tuple[LedgerEntry, ...], bytes, bytes]:
        """Return what the next entry follows: entries, root over them, and their bytes."""
        if not self._path.exists():
            return (), Frontier().root(), b""
        entries, root, public_key = self._read()
        if public_key != key.public:
            raise IntegrityError(f"ledger '{self._path}' was begun with another key; restore private/key")
        return entries, root, self._path.read_bytes()

    def _read(self) -> tuple[tuple[LedgerEntry, ...], bytes, bytes]:
        """Return entries, root over them, and the key."""
        if not self._path.is_file():
            raise NotFoundError(f"ledger '{self._path}' does not exist; the audit is incomplete, restore the file")
        content = self._path.read_bytes()
        lines = content.removesuffix(b"\n").split(b"\n")
        if not content.endswith(b"\n"):
            raise IntegrityError(f"ledger '{self._path}': its last entry is cut off; restore the file from a copy")
        public_key = claimed_key(lines[0], source=str(self._path))
        tree, entries = Frontier(), []
        for number, line in enumerate(lines, start=1):
            source = f"ledger '{self._path}', entry {number}"
            entry = entry_in(line, public_key=public_key, source=source)
            if entry.number != number or entry.previous != tree.root().hex():
                raise IntegrityError(f"{source}: does not follow the entry before; restore the file from a copy")
            entries.append(entry)
            tree.append(leaf_hash(line))
        if breach := breach_of(entries):
            entry, rule = breach
            raise IntegrityError(f"ledger '{self._path}', entry {entry.number}: {rule}; restore the file from a copy")
        return tuple(entries), tree.root(), public_key
