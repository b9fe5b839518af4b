"""ServerService."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from leakscale import __version__
from leakscale.answers import ANSWERS_PER_CHUNK_MAX
from leakscale.v1 import (
    server_service_pb2,
    server_service_pb2_grpc,
)
from leakscale_server.limits import MESSAGE_BYTES_MAX, CallLimits
from leakscale_server.scorer.contract import SandboxFacts
from leakscale_server.services.call import Call

__all__ = ["ServerService"]


class Sandboxed(Protocol):
    """Whatever knows what runs candidates here."""

    @property
    def sandbox(self) -> SandboxFacts:
        """Tell what runs candidates."""


class ServerService(server_service_pb2_grpc.ServerServiceServicer):
    """What this server is."""

    def __init__(self, scorer: Sandboxed, *, public_key: bytes, limits: CallLimits, features: Sequence[str]) -> None:
        self._scorer = scorer
        self._limits = limits
        self._features = features
        self._public_key = public_key

    def GetServerInfo(  # noqa: N802
        self, request: server_service_pb2.GetServerInfoRequest, call: Call
    ) -> server_service_pb2.GetServerInfoResponse:
        """Tell version, sandbox, features and limits, and whom the server takes the caller for."""
        sandbox, caller = self._scorer.sandbox, call.caller
        return server_service_pb2.GetServerInfoResponse(
            version=__version__,
            sandbox_backend=sandbox.backend,
            sandbox_image=sandbox.image_digest,
            lane_count=sandbox.lane_count,
            public_key=self._public_key,
            message_bytes_max=MESSAGE_BYTES_MAX,
            cases_per_message_max=ANSWERS_PER_CHUNK_MAX,
            features=self._features,
            calls_per_s=self._limits.principal_calls_per_s,
            calls_at_once_max=self._limits.principal_call_count_max,
            streams_at_once_max=self._limits.principal_stream_count_max,
            principal=caller.principal,
            project=caller.project,
            role=caller.role.value,
            scopes=sorted(caller.scopes),
        )
