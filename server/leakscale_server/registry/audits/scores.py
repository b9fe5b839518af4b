"""What left of a variant: the signed statement and its tables, kept as they went, so that the same bytes return."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from leakscale.models import SignedStatement
from leakscale_server.registry.audits.audit import Audit
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["Scores"]


class Scores:
    """Scores of one registry.

    Args:
        registry: Where they are kept.
        ledger: Told of each release.
        public_key: Of the server, which signed them.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        ledger: Ledger,
        *,
        public_key: bytes,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._public_key = public_key
        self._now = now

    def released(self, audit: Audit) -> dict[str, int]:
        """Return each variant whose scores have left, with the place of its entry in the ledger, in that order."""
        query = "SELECT variant, ledger_index FROM audit_scores WHERE project = ? AND audit_id = ? ORDER BY 2"
        rows = self._registry.rows(query, (audit.draft.project, audit.draft.audit_id))
        return {row["variant"]: row["ledger_index"] for row in rows}

    def statement(self, audit: Audit, variant: str) -> SignedStatement | None:
        """Return the statement of a variant, if its scores have left."""
        query = "SELECT payload, signature FROM audit_scores WHERE project = ? AND audit_id = ? AND variant = ?"
        row = self._registry.row(query, (audit.draft.project, audit.draft.audit_id, variant))
        return None if row is None else SignedStatement(row["payload"], row["signature"], self._public_key)

    def tables(self, audit: Audit, variant: str) -> Iterator[bytes]:
        """Yield the tables of a variant whose scores have left, in the order of its statement."""
        place = (audit.draft.project, audit.draft.audit_id, variant)
        where = "FROM audit_tables WHERE project = ? AND audit_id = ? AND variant = ?"
        for row in self._registry.rows(f"SELECT position {where} ORDER BY position", place):
            query = f"SELECT content {where} AND position = ?"
            (table,) = self._registry.rows(query, (*place, row["position"]))
            yield table["content"]

    def keep(self, audit: Audit, variant: str, *, payload: bytes, signature: bytes, tables: Sequence[bytes]) -> None:
        """Keep what leaves; kept before, that stands."""
        draft = audit.draft
        with self._registry.transaction():
            if self.statement(audit, variant) is not None:
                return
            digest = hashlib.sha256(payload).hexdigest()
            body = {"audit": draft.audit_id, "variant": variant, "scores": digest}
            row: Row = {
                "project": draft.project,
                "audit_id": draft.audit_id,
                "variant": variant,
                "ledger_index": self._ledger.append("audit-scores-released", body, project=draft.project),
                "payload": payload,
                "signature": signature,
                "release_time": self._now().isoformat(),
            }
            self._registry.add("audit_scores", [row])
            place = {"project": draft.project, "audit_id": draft.audit_id, "variant": variant}
            self._registry.add(
                "audit_tables", [{**place, "position": number, "content": each} for number, each in enumerate(tables)]
            )
