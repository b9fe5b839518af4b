"""`client.server` and `client.ledger`."""

from __future__ import annotations

from leakscale.client.conversion import to_ledger_head, to_server_info
from leakscale.client.transport import Transport
from leakscale.models import LedgerHead, ServerInfo
from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc, server_service_pb2, server_service_pb2_grpc

__all__ = ["Ledger", "Server"]


class Server:
    """What the server is."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = server_service_pb2_grpc.ServerServiceStub(transport.channel)

    def info(self) -> ServerInfo:
        """Return version, sandbox and limits."""
        request = server_service_pb2.GetServerInfoRequest()
        return to_server_info(self._transport.unary(self._stub.GetServerInfo, request))


class Ledger:
    """The server's append-only log."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._stub = ledger_service_pb2_grpc.LedgerServiceStub(transport.channel)

    def head(self) -> LedgerHead:
        """Return the signed state of the ledger."""
        request = ledger_service_pb2.GetLedgerHeadRequest()
        return to_ledger_head(self._transport.unary(self._stub.GetLedgerHead, request).head)
