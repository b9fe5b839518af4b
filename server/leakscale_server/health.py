"""gRPC's health service, for whoever supervises the process. It needs no token, so nobody may fill it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2

__all__ = ["Health"]

_UNKNOWN: Final = "(unknown)"


class Health(health.HealthServicer):
    """Tells of the whole server, under the empty name, and of each of its services, which serve and stop together.

    Args:
        services: Full names.
    """

    def __init__(self, services: Iterable[str]) -> None:
        super().__init__()
        self._names = {"", *services}
        self._set_all(health_pb2.HealthCheckResponse.NOT_SERVING)

    def serve(self) -> None:
        """Say from now on that calls are taken."""
        self._set_all(health_pb2.HealthCheckResponse.SERVING)

    def Watch(self, request: Any, context: grpc.ServicerContext, *send: Any) -> Any:  # noqa: N802
        """Tell of each change.

        The library keeps a record of every name that was ever watched; here all that are none's share one.
        """
        known = request if request.service in self._names else health_pb2.HealthCheckRequest(service=_UNKNOWN)
        return super().Watch(known, context, *send)

    def _set_all(self, status: Any) -> None:
        for name in sorted(self._names):
            self.set(name, status)
