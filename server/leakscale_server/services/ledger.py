"""LedgerService."""

from __future__ import annotations

from typing import Protocol

from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc, resources_pb2
from leakscale_server.limits import ENTRIES_PER_PAGE
from leakscale_server.services import codec
from leakscale_server.services.call import Call
from leakscale_server.store.ledger import Entry, Head, LedgerTree

__all__ = ["LedgerService", "ReadableLedger"]


class ReadableLedger(Protocol):
    """What of a ledger is served."""

    def head(self) -> Head:
        """Return entry count, root and signature."""

    def entries(self, *, project: str, start: int, limit: int) -> list[Entry]:
        """Return entries from a position on, with the contents that the project may read."""

    def tree(self) -> LedgerTree:
        """Return the tree over all entries."""


class LedgerService(ledger_service_pb2_grpc.LedgerServiceServicer):
    """The append-only log: all leaves for everybody, a project's entries for its callers."""

    def __init__(self, ledger: ReadableLedger, *, public_key: bytes) -> None:
        self._ledger = ledger
        self._public_key = public_key

    def GetLedgerHead(  # noqa: N802
        self, request: ledger_service_pb2.GetLedgerHeadRequest, call: Call
    ) -> ledger_service_pb2.GetLedgerHeadResponse:
        """Return the signed state of the ledger."""
        head = self._ledger.head()
        return ledger_service_pb2.GetLedgerHeadResponse(
            head=resources_pb2.LedgerHead(
                entry_count=head.entry_count, root=head.root, signature=head.signature, public_key=self._public_key
            )
        )

    def ListLedgerEntries(  # noqa: N802
        self, request: ledger_service_pb2.ListLedgerEntriesRequest, call: Call
    ) -> ledger_service_pb2.ListLedgerEntriesResponse:
        """List entries in order."""
        limit = codec.page_size(request.page_size, default=ENTRIES_PER_PAGE)
        start = codec.page_start(request.page_token)
        found = self._ledger.entries(project=call.caller.project, start=start, limit=limit + 1)
        entries = [
            resources_pb2.LedgerEntry(position=each.position, leaf=each.leaf, content=each.content)
            for each in found[:limit]
        ]
        return ledger_service_pb2.ListLedgerEntriesResponse(
            entries=entries, next_page_token=str(start + limit) if len(found) > limit else ""
        )

    def GetInclusionProof(  # noqa: N802
        self, request: ledger_service_pb2.GetInclusionProofRequest, call: Call
    ) -> ledger_service_pb2.GetInclusionProofResponse:
        """Prove that a tree holds an entry."""
        leaf, path = self._ledger.tree().inclusion(request.position, entry_count=request.entry_count)
        return ledger_service_pb2.GetInclusionProofResponse(leaf=leaf, path=path)

    def GetConsistencyProof(  # noqa: N802
        self, request: ledger_service_pb2.GetConsistencyProofRequest, call: Call
    ) -> ledger_service_pb2.GetConsistencyProofResponse:
        """Prove that a tree begins with an earlier one."""
        path = self._ledger.tree().consistency(request.first_entry_count, request.second_entry_count)
        return ledger_service_pb2.GetConsistencyProofResponse(path=path)
