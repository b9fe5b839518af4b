"""Append-only log of what the server did, with a signed Merkle head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leakscale.digests import canonical_json
from leakscale.merkle import leaf_hash, tree_hash
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.signing import Signer

__all__ = ["Head", "Ledger"]


@dataclass(frozen=True, slots=True)
class Head:
    """Signed state of the ledger."""

    entry_count: int
    root: bytes
    signature: bytes


class Ledger:
    """The ledger of one server, kept in its registry."""

    def __init__(self, registry: InsertOnlyDatabase, signer: Signer) -> None:
        self._registry = registry
        self._signer = signer

    def append(self, kind: str, body: Mapping[str, str | int]) -> int:
        """Add an entry and return its position, 0-based.

        Call it inside the transaction that writes what the entry speaks of, so that both exist or neither. The body
        must hold nothing that depends on an association before that is disclosed.
        """
        with self._registry.transaction():
            last = self._registry.row("SELECT count(*) AS entry_count FROM ledger")
            position = int(last["entry_count"]) if last else 0
            entry = canonical_json({"position": position, "kind": kind, **body})
            self._registry.add("ledger", [{"position": position, "entry": entry, "leaf": leaf_hash(entry)}])
            return position

    def head(self) -> Head:
        """Return entry count, root and signature."""
        leaves = [row["leaf"] for row in self._registry.rows("SELECT leaf FROM ledger ORDER BY position")]
        root = tree_hash(leaves)
        signed = canonical_json({"entry_count": len(leaves), "root": root.hex()})
        return Head(len(leaves), root, self._signer.sign(signed))
