"""`client.ledger`."""

from __future__ import annotations

from collections.abc import Iterator

from leakscale.client.conversion import to_ledger_entry, to_ledger_head
from leakscale.client.transport import Transport
from leakscale.models import LedgerEntry, LedgerHead
from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc

__all__ = ["Ledger"]


class Ledger:
    """The server's append-only log. `leakscale.merkle` checks its proofs."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(ledger_service_pb2_grpc.LedgerServiceStub)

    def head(self) -> LedgerHead:
        """Return the signed state of the ledger."""
        request = ledger_service_pb2.GetLedgerHeadRequest()
        return to_ledger_head(self._transport.unary(self._stub.GetLedgerHead, request).head)

    def entries(self) -> Iterator[LedgerEntry]:
        """Return all entries in order, page by page; of another project's the leaf hash alone."""
        token = ""
        while True:
            request = ledger_service_pb2.ListLedgerEntriesRequest(page_token=token)
            page = self._transport.unary(self._stub.ListLedgerEntries, request)
            yield from map(to_ledger_entry, page.entries)
            token = page.next_page_token
            if not token:
                return

    def inclusion_proof(self, position: int, *, entry_count: int) -> tuple[bytes, tuple[bytes, ...]]:
        """Return the leaf hash of an entry, and the path for `is_included` in the tree of the first `entry_count`."""
        request = ledger_service_pb2.GetInclusionProofRequest(position=position, entry_count=entry_count)
        proof = self._transport.unary(self._stub.GetInclusionProof, request)
        return proof.leaf, tuple(proof.path)

    def consistency_proof(self, first_entry_count: int, second_entry_count: int) -> tuple[bytes, ...]:
        """Return the path for `is_consistent`: that the second tree begins with the first."""
        request = ledger_service_pb2.GetConsistencyProofRequest(
            first_entry_count=first_entry_count, second_entry_count=second_entry_count
        )
        return tuple(self._transport.unary(self._stub.GetConsistencyProof, request).path)
