"""ServerService."""

from __future__ import annotations

from leakscale import __version__
from leakscale.v1 import (
    server_service_pb2,
    server_service_pb2_grpc,
)
from leakscale_server.limits import MESSAGE_BYTES_MAX
from leakscale_server.registry.experiments import CASES_PER_MESSAGE_MAX
from leakscale_server.scorer.contract import Scoring
from leakscale_server.services.call import Call

__all__ = ["ServerService"]


class ServerService(server_service_pb2_grpc.ServerServiceServicer):
    """What this server is."""

    def __init__(self, scorer: Scoring, *, public_key: bytes) -> None:
        self._scorer = scorer
        self._public_key = public_key

    def GetServerInfo(  # noqa: N802
        self, request: server_service_pb2.GetServerInfoRequest, call: Call
    ) -> server_service_pb2.GetServerInfoResponse:
        """Tell version, sandbox and limits."""
        sandbox = self._scorer.sandbox
        return server_service_pb2.GetServerInfoResponse(
            version=__version__,
            sandbox_backend=sandbox.backend,
            sandbox_image=sandbox.image_digest,
            lane_count=sandbox.lane_count,
            public_key=self._public_key,
            message_bytes_max=MESSAGE_BYTES_MAX,
            cases_per_message_max=CASES_PER_MESSAGE_MAX,
        )
