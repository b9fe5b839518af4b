"""GrantService."""

from __future__ import annotations

from collections.abc import Iterator

from leakscale.v1 import grant_service_pb2, grant_service_pb2_grpc
from leakscale_server.limits import RECORDS_PER_MESSAGE
from leakscale_server.registry.editions import EditionRegistry
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.registry.names import parse
from leakscale_server.services import codec
from leakscale_server.services.call import Call
from leakscale_server.stages.exposure import Exposure

__all__ = ["GrantService"]


class GrantService(grant_service_pb2_grpc.GrantServiceServicer):
    """The one way by which an association leaves the server."""

    def __init__(self, editions: EditionRegistry, grants: GrantRegistry, exposure: Exposure) -> None:
        self._editions = editions
        self._grants = grants
        self._exposure = exposure

    def CreateGrant(  # noqa: N802
        self, request: grant_service_pb2.CreateGrantRequest, call: Call
    ) -> grant_service_pb2.CreateGrantResponse:
        """Issue a grant for a frozen edition."""
        (edition_id,) = parse(request.edition, "editions", field="edition")
        self._editions.get_frozen(edition_id)
        grant = self._grants.create(
            edition_id, preservation_count=request.preservation_count, request_id=request.request_id
        )
        return grant_service_pb2.CreateGrantResponse(grant=codec.encode_grant(grant))

    def RedeemGrant(  # noqa: N802
        self, request: grant_service_pb2.RedeemGrantRequest, call: Call
    ) -> Iterator[grant_service_pb2.RedeemGrantResponse]:
        """Stream the corpus of a grant."""
        edition_id, grant_id = parse(request.name, "editions", "grants")
        records = self._exposure.redeem(edition_id, grant_id, request_id=request.request_id)
        for start in range(0, len(records), RECORDS_PER_MESSAGE):
            chunk = records[start : start + RECORDS_PER_MESSAGE]
            yield grant_service_pb2.RedeemGrantResponse(records=[codec.encode_record(record) for record in chunk])
