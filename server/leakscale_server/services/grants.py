"""GrantService."""

from __future__ import annotations

from collections.abc import Iterator

from leakscale.v1 import grant_service_pb2, grant_service_pb2_grpc, resources_pb2
from leakscale_server.registry.grants import LIFETIME_MAX, Grant
from leakscale_server.registry.names import parse
from leakscale_server.services import codec
from leakscale_server.services.call import Call
from leakscale_server.services.wire import duration
from leakscale_server.stages.exposure import Exposure

__all__ = ["GrantService"]


class GrantService(grant_service_pb2_grpc.GrantServiceServicer):
    """The one way by which an association leaves the server."""

    def __init__(self, exposure: Exposure) -> None:
        self._exposure = exposure

    def RequestGrant(  # noqa: N802
        self, request: grant_service_pb2.RequestGrantRequest, call: Call
    ) -> grant_service_pb2.RequestGrantResponse:
        """Ask for a grant of a frozen edition."""
        (edition_id,) = parse(request.edition, "editions", field="edition")
        grant = self._exposure.request(
            edition_id,
            call.caller,
            holder_key=request.holder_key,
            preservation_count=request.preservation_count,
            request_id=request.request_id,
        )
        return grant_service_pb2.RequestGrantResponse(grant=self._encoded(grant))

    def ApproveGrant(  # noqa: N802
        self, request: grant_service_pb2.ApproveGrantRequest, call: Call
    ) -> grant_service_pb2.ApproveGrantResponse:
        """Approve a request."""
        edition_id, grant_id = parse(request.name, "editions", "grants")
        lifetime = LIFETIME_MAX
        if request.HasField("lifetime"):
            lifetime = duration(request.lifetime, field="lifetime")
        grant = self._exposure.approve(edition_id, grant_id, call.caller, lifetime=lifetime)
        return grant_service_pb2.ApproveGrantResponse(grant=self._encoded(grant))

    def GetGrant(  # noqa: N802
        self, request: grant_service_pb2.GetGrantRequest, call: Call
    ) -> grant_service_pb2.GetGrantResponse:
        """Return one grant."""
        edition_id, grant_id = parse(request.name, "editions", "grants")
        grant = self._exposure.get(edition_id, grant_id, call.caller)
        return grant_service_pb2.GetGrantResponse(grant=self._encoded(grant))

    def ListGrants(  # noqa: N802
        self, request: grant_service_pb2.ListGrantsRequest, call: Call
    ) -> grant_service_pb2.ListGrantsResponse:
        """List the grants of an edition that the caller may see."""
        (edition_id,) = parse(request.edition, "editions", field="edition")
        grants, token = codec.page(
            self._exposure.visible(edition_id, call.caller),
            key=lambda grant: grant.grant_id,
            after=request.page_token,
            size=codec.page_size(request.page_size, default=100),
        )
        return grant_service_pb2.ListGrantsResponse(grants=map(self._encoded, grants), next_page_token=token)

    def RedeemGrant(  # noqa: N802
        self, request: grant_service_pb2.RedeemGrantRequest, call: Call
    ) -> Iterator[grant_service_pb2.RedeemGrantResponse]:
        """Stream the corpus of a grant, sealed to its holder."""
        edition_id, grant_id = parse(request.name, "editions", "grants")
        for piece in self._exposure.redeem(edition_id, grant_id, call.caller, request_id=request.request_id):
            yield grant_service_pb2.RedeemGrantResponse(sealed=piece.sealed, is_last=piece.is_last)

    def TraceText(  # noqa: N802
        self, request: grant_service_pb2.TraceTextRequest, call: Call
    ) -> grant_service_pb2.TraceTextResponse:
        """Name the grants whose markers stand in a text."""
        (edition_id,) = parse(request.edition, "editions", field="edition")
        found = self._exposure.trace(edition_id, call.caller, text=request.text)
        traces = [grant_service_pb2.GrantTrace(grant=grant.name, markers=markers) for grant, markers in found]
        return grant_service_pb2.TraceTextResponse(traces=traces)

    def _encoded(self, grant: Grant) -> resources_pb2.Grant:
        return codec.encode_grant(grant, self._exposure.phase(grant))
