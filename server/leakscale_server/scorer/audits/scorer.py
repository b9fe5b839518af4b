"""What the scorer does for deposited audits, behind one object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from leakscale.sealing import SealedPiece
from leakscale_server.scorer.audits.contract import (
    AmendmentOrder,
    AuditFacts,
    AuditOrder,
    CheckedChunk,
    ChunkOrder,
    DepositKeyFacts,
    DepositOrder,
    FormsOrder,
    PieceOrder,
    ReleasedPart,
    ReleaseOrder,
)
from leakscale_server.scorer.audits.deposits import Deposits
from leakscale_server.scorer.audits.documents import (
    amendment_of,
    banks_of,
    registration_of,
    require_depositable,
    require_one_answer,
)
from leakscale_server.scorer.audits.marks import Marks
from leakscale_server.scorer.audits.releases import Releases
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Vault

__all__ = ["AuditScorer"]

_TITLE_CHARACTERS: Final = 200
"""Of a title, as audits are listed by it."""


class AuditScorer:
    """Keeps deposits and scores answers; see `AuditScoring`. Safe to use from several threads."""

    def __init__(self, vault: Vault, signer: Signer) -> None:
        self._deposits = Deposits(vault, signer)
        self._marks = Marks(vault, self._deposits)
        self._releases = Releases(vault, signer, self._deposits, self._marks)

    def deposit_key(self, project: str) -> DepositKeyFacts:
        """Return the key of a project; see `AuditScoring`."""
        return self._deposits.told_key(project)

    def facts(self, audit: AuditOrder) -> AuditFacts:
        """Read a registration; see `AuditScoring`."""
        registration = registration_of(audit)
        require_depositable(registration, audit_id=audit.audit_id)
        plan = registration.plan
        return AuditFacts(
            plan.title[:_TITLE_CHARACTERS], tuple(model.id for model in plan.models), tuple(banks_of(registration))
        )

    def keep(self, piece: PieceOrder) -> str:
        """Keep a piece of a deposit; see `AuditScoring`."""
        return self._deposits.keep(piece)

    def deposit(self, order: DepositOrder) -> None:
        """Hold a deposit against its registration, and keep it; see `AuditScoring`."""
        self._deposits.deposit(order)

    def forms(self, order: FormsOrder) -> Iterator[SealedPiece]:
        """Return forms without right answers; see `AuditScoring`."""
        return self._deposits.forms(order)

    def amendment(self, order: AmendmentOrder) -> int:
        """Read an amendment; see `AuditScoring`."""
        amendment = amendment_of(order.audit, order.amendment)
        require_one_answer(registration_of(order.audit, amendment=order.amendment))
        return amendment.number

    def mark(self, chunk: ChunkOrder) -> CheckedChunk:
        """Judge a chunk of answers; see `AuditScoring`."""
        return self._marks.mark(chunk)

    def release(self, order: ReleaseOrder) -> Iterator[ReleasedPart]:
        """Score a variant and sign; see `AuditScoring`."""
        return self._releases.release(order)
