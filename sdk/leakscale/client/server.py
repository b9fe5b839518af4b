"""`client.server`."""

from __future__ import annotations

from leakscale.client.conversion import to_server_info
from leakscale.client.transport import Transport
from leakscale.models import ServerInfo
from leakscale.v1 import server_service_pb2, server_service_pb2_grpc

__all__ = ["Server"]


class Server:
    """What the server is."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = transport.stub(server_service_pb2_grpc.ServerServiceStub)

    def info(self) -> ServerInfo:
        """Return version, sandbox and limits."""
        request = server_service_pb2.GetServerInfoRequest()
        return to_server_info(self._transport.unary(self._stub.GetServerInfo, request))
