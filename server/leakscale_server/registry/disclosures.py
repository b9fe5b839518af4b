"""Numbers that left, each once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from leakscale.statements import envelope_bytes
from leakscale_server.identity.bootstrap import BOOTSTRAP_PROJECT
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["DisclosureRegistry", "Released"]


@dataclass(frozen=True, slots=True)
class Released:
    """A disclosure as stored."""

    payload: bytes
    signature: bytes
    ledger_index: int


class DisclosureRegistry:
    """Disclosures of one server."""

    def __init__(self, registry: InsertOnlyDatabase, ledger: Ledger, *, public_key: bytes) -> None:
        self._registry = registry
        self._ledger = ledger
        self._public_key = public_key

    def get(self, experiment_id: str) -> Released | None:
        """Return the disclosure of an experiment, if it has one."""
        row = self._registry.row("SELECT * FROM disclosures WHERE experiment_id = ?", (experiment_id,))
        return Released(row["payload"], row["signature"], row["ledger_index"]) if row else None

    def add(self, experiment_id: str, *, payload: bytes, signature: bytes) -> Released:
        """Store a disclosure and log it, and return the one that stands; the first one wins."""
        with self._registry.transaction():
            standing = self.get(experiment_id)
            if standing is not None:
                return standing
            envelope = envelope_bytes(payload, signature=signature, public_key=self._public_key)
            index = self._ledger.append(
                "experiment-disclosed",
                # Of the envelope: the payload's own digest could be searched for by guessing its few counts.
                {"experiment": experiment_id, "envelope": hashlib.sha256(envelope).hexdigest()},
                project=BOOTSTRAP_PROJECT,
            )
            row: Row = {
                "experiment_id": experiment_id,
                "payload": payload,
                "signature": signature,
                "ledger_index": index,
                "disclose_time": datetime.now(UTC).isoformat(),
            }
            self._registry.add("disclosures", [row])
            return Released(payload, signature, index)
