"""What was deposited and amended, and who fetched forms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Final

from leakscale.audit.remote.names import audit_name, scores_name
from leakscale.models import SignedStatement
from leakscale.statements import Predicate, statement
from leakscale_server.errors import DigestConflict, InvalidRequest, NotFound
from leakscale_server.registry.audits.audit import Audit, AuditDraft, AuditHead
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.signing import Signer

__all__ = ["AuditRegistry"]

_AUDITS_MAX: Final = 1024
"""Of a project."""


class AuditRegistry:
    """Deposited audits of one server. Whatever is another project's does not exist.

    Args:
        registry: Where they are kept.
        ledger: Where each step is entered.
        signer: Signs what was known when an amendment came.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        ledger: Ledger,
        signer: Signer,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._signer = signer
        self._now = now

    def transaction(self) -> AbstractContextManager[None]:
        """Make what is written meanwhile one commit, or nothing."""
        return self._registry.transaction()

    def known(self, draft: AuditDraft) -> Audit | None:
        """Return the audit that a deposit made, if it was made before.

        Raises:
            DigestConflict: If another registration has its id.
            InvalidRequest: If it would be one too many.
        """
        row = self._row(draft.project, draft.audit_id)
        if row is None:
            query = "SELECT count(*) AS audit_count FROM audits WHERE project = ?"
            (counted,) = self._registry.rows(query, (draft.project,))
            if counted["audit_count"] >= _AUDITS_MAX:
                raise InvalidRequest(
                    f"the project has {_AUDITS_MAX:,} audits, which is the most; deposit in another", subject="audit_id"
                )
            return None
        if (row["registration"], row["author_key"]) != (draft.registration, draft.author_key):
            raise DigestConflict(
                f"audit {draft.audit_id!r} is deposited with another registration; register yours under another name",
                subject=audit_name(draft.audit_id),
            )
        return self._audit(row)

    def create(self, draft: AuditDraft) -> Audit:
        """Enter an audit whose deposit is in the vault; entered before, that one stands.

        Raises:
            DigestConflict: If another registration has its id.
        """
        row: Row = {
            "project": draft.project,
            "audit_id": draft.audit_id,
            "depositor": draft.depositor,
            "title": draft.title,
            "author_key": draft.author_key,
            "registration": draft.registration,
            "model_ids": json.dumps(draft.model_ids),
            "banks": json.dumps(draft.banks),
            "create_time": self._now().isoformat(timespec="microseconds"),
        }
        with self._registry.transaction():
            known = self.known(draft)
            if known is not None:
                return known
            self._registry.add("audits", [row])
            digest = hashlib.sha256(draft.registration).hexdigest()
            self._enter("audit-deposited", draft, {"registration": digest}, by=draft.depositor)
        return self._audit(row)

    def get(self, project: str, audit_id: str) -> Audit:
        """Return an audit.

        Raises:
            NotFound: If the project has none of that id.
        """
        row = self._row(project, audit_id)
        if row is None:
            name = audit_name(audit_id)
            raise NotFound(f"audit {name!r} does not exist on this server", subject=name)
        return self._audit(row)

    def of_project(self, project: str) -> list[AuditHead]:
        """Return what the audits of a project are listed by, newest first. Their documents stay where they are."""
        query = (
            "SELECT audit_id, title, depositor, author_key, create_time FROM audits WHERE project = ? "
            "ORDER BY create_time DESC, audit_id"
        )
        return [
            AuditHead(**{**row, "create_time": datetime.fromisoformat(row["create_time"])})
            for row in self._registry.rows(query, (project,))
        ]

    def amend(self, audit: Audit, *, number: int, amendment: bytes, principal: str) -> Audit:
        """Add an amendment; added before, nothing changes.

        Raises:
            InvalidRequest: If its number is not the next.
            DigestConflict: If another one has its number.
        """
        draft = audit.draft
        with self._registry.transaction():
            there = self.get(draft.project, draft.audit_id).amendments
            if number > len(there) + 1:
                raise InvalidRequest(
                    f"amendment {number} does not follow the {len(there)} that audit {draft.audit_id!r} has; send "
                    f"amendment {len(there) + 1} first",
                    subject="amendment",
                )
            if number <= len(there):
                if there[number - 1] != amendment:
                    raise DigestConflict(
                        f"audit {draft.audit_id!r} has another amendment {number}; an amendment is not replaced, add "
                        "the next",
                        subject=audit.name,
                    )
                return self.get(draft.project, draft.audit_id)
            facts: Row = {"number": number, "amendment": hashlib.sha256(amendment).hexdigest()}
            index = self._enter("audit-amended", draft, facts, by=principal)
            payload = self._amendment_payload(draft, facts, by=principal, ledger_index=index)
            row: Row = {
                "project": draft.project,
                "audit_id": draft.audit_id,
                "number": number,
                "amendment": amendment,
                "principal": principal,
                "payload": payload,
                "signature": self._signer.sign_statement(payload),
            }
            self._registry.add("audit_amendments", [row])
            return self.get(draft.project, draft.audit_id)

    def enter_fetch(self, audit: Audit, bank: str, *, principal: str) -> None:
        """Enter that the forms of a bank leave for a principal, the first time."""
        row: Row = {
            "project": audit.draft.project,
            "audit_id": audit.draft.audit_id,
            "bank": bank,
            "principal": principal,
            "fetch_time": self._now().isoformat(),
        }
        with self._registry.transaction():
            if self._registry.add("audit_fetches", [row]):
                self._enter("audit-forms-fetched", audit.draft, {"bank": bank}, by=principal)

    def _amendment_payload(self, draft: AuditDraft, facts: Row, *, by: str, ledger_index: int) -> bytes:
        """Say what was sealed, and which scores had left, when an amendment came: its author may have seen them."""
        place, variant = (draft.project, draft.audit_id), f"amendment-{facts['number']}"
        (sealed,) = self._registry.rows(
            "SELECT count(*) AS set_count FROM form_seals WHERE project = ? AND audit_id = ?", place
        )
        released = self._registry.rows(
            "SELECT variant FROM audit_scores WHERE project = ? AND audit_id = ? ORDER BY ledger_index", place
        )
        return statement(
            Predicate.AUDIT_AMENDMENT,
            subject=scores_name(draft.audit_id, variant),
            digest=bytes.fromhex(facts["amendment"]),
            predicate={
                "audit": audit_name(draft.audit_id),
                "registration": hashlib.sha256(draft.registration).hexdigest(),
                "variant": variant,
                "amendment": facts["amendment"],
                "by": by,
                "released_before": [row["variant"] for row in released],
                "sealed_before": sealed["set_count"],
                "ledger_index": ledger_index,
                "amend_time": self._now().isoformat(timespec="seconds"),
            },
        )

    def _enter(self, kind: str, draft: AuditDraft, facts: Mapping[str, str | int], *, by: str) -> int:
        return self._ledger.append(kind, {"audit": draft.audit_id, **facts, "by": by}, project=draft.project)

    def _row(self, project: str, audit_id: str) -> Row | None:
        return self._registry.row("SELECT * FROM audits WHERE project = ? AND audit_id = ?", (project, audit_id))

    def _audit(self, row: Row) -> Audit:
        query = (
            "SELECT amendment, payload, signature, principal FROM audit_amendments WHERE project = ? AND audit_id = ? "
            "ORDER BY number"
        )
        amendments = self._registry.rows(query, (row["project"], row["audit_id"]))
        draft = AuditDraft(
            project=row["project"],
            audit_id=row["audit_id"],
            depositor=row["depositor"],
            title=row["title"],
            author_key=row["author_key"],
            registration=row["registration"],
            model_ids=tuple(json.loads(row["model_ids"])),
            banks=tuple(json.loads(row["banks"])),
        )
        key = self._signer.public_key
        return Audit(
            draft,
            tuple(each["amendment"] for each in amendments),
            tuple(SignedStatement(each["payload"], each["signature"], key) for each in amendments),
            frozenset((row["depositor"], *(each["principal"] for each in amendments))),
            datetime.fromisoformat(row["create_time"]),
        )
