"""gRPC's server, whose handlers another listener finds too, each behind the same gate."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

import grpc

from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.gate import Gate
from leakscale_server.services.passage import Handler

__all__ = ["SharedServer"]


class SharedServer(grpc.Server):
    """Keeps what is added to it, beside giving it to gRPC.

    Args:
        server: gRPC's own, with the gate as its interceptor.
        gate: The same gate.
        executor: The same threads, so that all calls together have their limits.
    """

    def __init__(self, server: grpc.Server, *, gate: Gate, executor: CallExecutor) -> None:
        self._server = server
        self._gate = gate
        self._handlers: list[grpc.GenericRpcHandler] = []
        self.executor = executor

    def guarded(self, handler: Handler, method: str) -> Handler:
        """Return a handler behind the gate, for one call."""
        return self._gate.guard(method, handler)

    def find(self, details: grpc.HandlerCallDetails) -> Handler | None:
        """Return the handler of a method, unguarded, as gRPC finds it; None if there is none."""
        found = (each.service(details) for each in self._handlers)
        return next((handler for handler in found if handler is not None), None)

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Take handlers. The generated code gives every one here, and once more as a registered one."""
        handlers = list(generic_rpc_handlers)
        self._handlers += handlers
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service_name: str, method_handlers: Mapping[str, Any]) -> None:
        """Pass on the handlers that gRPC finds faster."""
        self._server.add_registered_method_handlers(service_name, method_handlers)

    def add_insecure_port(self, address: str) -> int:
        """Listen in the clear."""
        return self._server.add_insecure_port(address)

    def add_secure_port(self, address: str, server_credentials: grpc.ServerCredentials) -> int:
        """Listen with TLS."""
        return self._server.add_secure_port(address, server_credentials)

    def start(self) -> None:
        """Take gRPC calls."""
        self._server.start()

    def stop(self, grace: float | None) -> threading.Event:
        """Take no more gRPC calls; the event is set when those in flight have ended, after `grace` seconds at most."""
        return self._server.stop(grace)

    def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Wait until it has stopped, for `timeout` seconds at most; return whether it has not."""
        return self._server.wait_for_termination(timeout)
