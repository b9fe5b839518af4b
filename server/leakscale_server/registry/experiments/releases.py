"""What becomes of a sealed experiment: charged, scored, released; each a row that is there or not, written once.

Charging is the point of no return: from there on the numbers leave, whatever is killed in between, and they leave once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from leakscale.models import BankPhase
from leakscale.statements import envelope_bytes
from leakscale_server.registry.experiments.times import time_text
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["Released", "Releases", "Statement"]


@dataclass(frozen=True, slots=True)
class Statement:
    """Numbers as the scorer signed them."""

    payload: bytes
    signature: bytes
    public_key: bytes


@dataclass(frozen=True, slots=True)
class Released:
    """A disclosure as stored."""

    payload: bytes
    signature: bytes
    public_key: bytes
    ledger_index: int


class Releases:
    """Charges, scores and disclosures of every experiment. Writes belong into a transaction of the caller's."""

    def __init__(self, registry: InsertOnlyDatabase, ledger: Ledger) -> None:
        self._registry = registry
        self._ledger = ledger

    def phase(self, project: str, experiment_id: str, *, expire_time: str, now: datetime) -> BankPhase | None:
        """Return the phase that all banks of an experiment share, or None where each has its own."""
        if self._has("disclosures", project, experiment_id):
            return BankPhase.RELEASED
        if self._has("scores", project, experiment_id):
            return BankPhase.SCORED
        if time_text(now) >= expire_time and not self.is_charged(project, experiment_id):
            return BankPhase.EXPIRED
        return None

    def is_charged(self, project: str, experiment_id: str) -> bool:
        """Tell whether the numbers of an experiment are bound to leave."""
        return self._has("charges", project, experiment_id)

    def charge(self, project: str, experiment_id: str, *, now: datetime) -> None:
        """Spend what the registration set aside."""
        row: Row = {"project": project, "experiment_id": experiment_id, "charge_time": time_text(now)}
        self._registry.add("charges", [row])

    def score(self, project: str, experiment_id: str, statement: Statement, *, now: datetime) -> None:
        """Keep what the scorer signed; the first statement stays."""
        row: Row = {
            "project": project,
            "experiment_id": experiment_id,
            "payload": statement.payload,
            "signature": statement.signature,
            "public_key": statement.public_key,
            "score_time": time_text(now),
        }
        self._registry.add("scores", [row])

    def release(self, project: str, experiment_id: str, *, now: datetime) -> None:
        """Enter what was scored in the ledger, and let it go."""
        (score,) = self._rows("scores", project, experiment_id)
        sealed = envelope_bytes(score["payload"], signature=score["signature"], public_key=score["public_key"])
        row: Row = {
            "project": project,
            "experiment_id": experiment_id,
            "ledger_index": self._ledger.append(
                "experiment-disclosed",
                # Of the envelope: the payload's own digest could be searched for by guessing its few counts.
                {"experiment": experiment_id, "envelope": hashlib.sha256(sealed).hexdigest()},
                project=project,
            ),
            "disclose_time": time_text(now),
        }
        self._registry.add("disclosures", [row])

    def released(self, project: str, experiment_id: str) -> Released | None:
        """Return what was disclosed of an experiment, if it was."""
        disclosures = self._rows("disclosures", project, experiment_id)
        if not disclosures:
            return None
        (score,) = self._rows("scores", project, experiment_id)
        return Released(score["payload"], score["signature"], score["public_key"], disclosures[0]["ledger_index"])

    def _has(self, table: str, project: str, experiment_id: str) -> bool:
        return bool(self._rows(table, project, experiment_id))

    def _rows(self, table: str, project: str, experiment_id: str) -> list[Row]:
        query = f"SELECT * FROM {table} WHERE project = ? AND experiment_id = ?"  # noqa: S608 - names are ours
        return self._registry.rows(query, (project, experiment_id))
