"""Ask the child about deposited audits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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
from leakscale_server.scorer.operations import OPERATIONS
from leakscale_server.scorer_process.connection import Connection

__all__ = ["AuditCalls"]


class AuditCalls:
    """Answers as `AuditScoring` says, by a connection that is asked for anew each time."""

    def __init__(self, connected: Callable[[], Connection]) -> None:
        self._connected = connected

    def deposit_key(self, project: str) -> DepositKeyFacts:
        """See `AuditScoring`."""
        key: DepositKeyFacts = self._ask("deposit_key", project)
        return key

    def facts(self, audit: AuditOrder) -> AuditFacts:
        """See `AuditScoring`."""
        facts: AuditFacts = self._ask("facts", audit)
        return facts

    def keep(self, piece: PieceOrder) -> str:
        """See `AuditScoring`."""
        handle: str = self._ask("keep", piece)
        return handle

    def deposit(self, order: DepositOrder) -> None:
        """See `AuditScoring`."""
        self._ask("deposit", order)

    def forms(self, order: FormsOrder) -> Iterator[SealedPiece]:
        """See `AuditScoring`."""
        return self._connected().ask_items(OPERATIONS["audits.forms"], order)

    def amendment(self, order: AmendmentOrder) -> int:
        """See `AuditScoring`."""
        number: int = self._ask("amendment", order)
        return number

    def mark(self, chunk: ChunkOrder) -> CheckedChunk:
        """See `AuditScoring`."""
        checked: CheckedChunk = self._ask("mark", chunk)
        return checked

    def release(self, order: ReleaseOrder) -> Iterator[ReleasedPart]:
        """See `AuditScoring`."""
        return self._connected().ask_items(OPERATIONS["audits.release"], order)

    def _ask(self, name: str, *arguments: object) -> Any:
        return self._connected().ask(OPERATIONS[f"audits.{name}"], *arguments)
