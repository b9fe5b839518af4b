"""Append-only log of what the server did, with a signed Merkle head.

Everybody may check the whole log, and nobody may read in it what another project does: a project's entries are salted,
so that their leaf hashes, which all see, say nothing, and only its own callers get their contents.

Source: RFC 9162, section 2.1.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from leakscale.digests import canonical_json
from leakscale.heads import head_bytes
from leakscale.merkle import consistency_path, inclusion_path, leaf_hash, tree_hash
from leakscale_server.errors import IntegrityFailure, InvalidRequest
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.remembered import Remembered
from leakscale_server.store.signing import Signer

__all__ = ["PUBLIC", "Entry", "Head", "Ledger", "LedgerTree", "LoggedEntry"]

PUBLIC: Final = ""
"""Project of an entry that every caller may read."""
_SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Head:
    """Signed state of the ledger."""

    entry_count: int
    root: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as a caller sees it."""

    position: int
    leaf: bytes
    content: bytes
    """Canonical JSON; empty where it is another project's."""


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """A public entry with the proof that a signed head has it."""

    content: bytes
    position: int
    path: tuple[bytes, ...]
    head: Head


class LedgerTree:
    """The Merkle tree over the leaves of a ledger."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._leaves = leaves

    def inclusion(self, position: int, *, entry_count: int) -> tuple[bytes, tuple[bytes, ...]]:
        """Return the leaf hash of an entry and the proof that the tree of the first `entry_count` holds it.

        Raises:
            InvalidRequest: If there is no such tree, or it has no such entry.
        """
        leaves = self._first(entry_count, field="entry_count")
        if not 0 <= position < entry_count:
            raise InvalidRequest(f"position {position} is not in 0 to {entry_count - 1}", subject="position")
        return leaves[position], inclusion_path(leaves, position)

    def consistency(self, first_entry_count: int, second_entry_count: int) -> tuple[bytes, ...]:
        """Return the proof that the second tree begins with the first.

        Raises:
            InvalidRequest: If one of them does not exist, or the first is larger.
        """
        leaves = self._first(second_entry_count, field="second_entry_count")
        if not 1 <= first_entry_count <= second_entry_count:
            raise InvalidRequest(
                f"first_entry_count {first_entry_count} is not in 1 to {second_entry_count}",
                subject="first_entry_count",
            )
        return consistency_path(leaves, first_entry_count)

    def _first(self, entry_count: int, *, field: str) -> Sequence[bytes]:
        there = len(self._leaves)
        if not 1 <= entry_count <= there:
            raise InvalidRequest(f"{field} {entry_count} is not in 1 to {there}, which the ledger has", subject=field)
        return self._leaves[:entry_count]


class Ledger:
    """The ledger of one server, kept in its registry.

    Args:
        registry: Where it is kept.
        signer: Signs its heads.
        now: Clock, in UTC.
        random: Draws so many random bytes; salts come from it.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        signer: Signer,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._registry = registry
        self._signer = signer
        self._now = now
        self._random = random
        self._heads: Remembered[Head] = Remembered(registry)
        self._trees: Remembered[LedgerTree] = Remembered(registry)

    def append(self, kind: str, body: Mapping[str, str | int], *, project: str) -> int:
        """Add an entry and return its position, 0-based.

        Call it inside the transaction that writes what the entry speaks of, so that both exist or neither. The body
        must hold nothing that depends on an association before that is disclosed.

        Args:
            kind: What happened, such as `edition-frozen`.
            body: The facts.
            project: Whose callers may read it; `PUBLIC` for everybody.
        """
        with self._registry.transaction():
            position = self._entry_count()
            fields: dict[str, str | int] = {
                "position": position,
                "time": self._now().isoformat(timespec="seconds"),
                "kind": kind,
                **body,
            }
            if project != PUBLIC:
                fields["salt"] = self._random(_SALT_BYTES).hex()
            entry = canonical_json(fields)
            row = {"position": position, "project": project, "entry": entry, "leaf": leaf_hash(entry)}
            self._registry.add("ledger", [row])
            return position

    def head(self) -> Head:
        """Return entry count, root and signature."""
        return self._heads.get("head", self._make_head)

    def _make_head(self) -> Head:
        leaves = self._leaves()
        root = tree_hash(leaves)
        return Head(len(leaves), root, self._signer.sign(head_bytes(entry_count=len(leaves), root=root)))

    def entries(self, *, project: str, start: int, limit: int) -> list[Entry]:
        """Return entries from a position on, with the contents of those that are the project's or everybody's."""
        query = "SELECT * FROM ledger WHERE position >= ? ORDER BY position LIMIT ?"
        return [
            Entry(row["position"], row["leaf"], row["entry"] if row["project"] in {PUBLIC, project} else b"")
            for row in self._registry.rows(query, (start, limit))
        ]

    def logged(self, kind: str, *, edition_id: str) -> LoggedEntry:
        """Return the first public entry of a kind about an edition, which must be there, proved to the head of now."""
        query = (
            "SELECT position, entry FROM ledger WHERE project = ? AND json_extract(CAST(entry AS TEXT), '$.kind') = ? "
            "AND json_extract(CAST(entry AS TEXT), '$.edition') = ? ORDER BY position"
        )
        found = self._registry.row(query, (PUBLIC, kind, edition_id))
        if found is None:
            raise IntegrityFailure(
                f"the ledger has no entry {kind!r} of edition {edition_id!r}; restore the registry from a copy of the "
                "server's data folder",
                subject=f"editions/{edition_id}",
            )
        head, position = self.head(), found["position"]
        _, path = self.tree().inclusion(position, entry_count=head.entry_count)
        return LoggedEntry(found["entry"], position, path, head)

    def tree(self) -> LedgerTree:
        """Return the tree over all entries, which makes proofs."""
        return self._trees.get("tree", lambda: LedgerTree(self._leaves()))

    def _leaves(self) -> list[bytes]:
        return [row["leaf"] for row in self._registry.rows("SELECT leaf FROM ledger ORDER BY position")]

    def _entry_count(self) -> int:
        found = self._registry.row("SELECT count(*) AS entry_count FROM ledger")
        return int(found["entry_count"]) if found else 0
