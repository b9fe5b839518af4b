"""`client.grants`."""

from __future__ import annotations

from collections.abc import Iterator

from leakscale.client.conversion import to_grant, to_record
from leakscale.client.transport import Transport
from leakscale.models import Grant, TrainingRecord
from leakscale.v1 import grant_service_pb2, grant_service_pb2_grpc

__all__ = ["Grants"]


class Grants:
    """Exposure grants."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(grant_service_pb2_grpc.GrantServiceStub)

    def create(self, edition: str, *, request_id: str, preservation_count: int = 0) -> Grant:
        """Issue a grant for a frozen edition; the same request id returns the same grant.

        Args:
            edition: `editions/{edition}`.
            request_id: 1 to 63 lower-case letters, digits and inner dashes, chosen by the caller.
            preservation_count: Public-format tasks of families that are never banked, 0 to 65,536.
        """
        request = grant_service_pb2.CreateGrantRequest(
            edition=edition, request_id=request_id, preservation_count=preservation_count
        )
        return to_grant(self._transport.unary(self._stub.CreateGrant, request).grant)

    def redeem(self, name: str, *, request_id: str) -> Iterator[TrainingRecord]:
        """Redeem a grant once and return its adaptation corpus; the same request id returns the same records."""
        request = grant_service_pb2.RedeemGrantRequest(name=name, request_id=request_id)
        for message in self._transport.download(self._stub.RedeemGrant, request):
            yield from map(to_record, message.records)
