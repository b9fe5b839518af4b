"""gRPC's health service, for whoever supervises the process. It needs no token, so nobody may fill it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2

__all__ = ["SCORER", "Health"]

SCORER: Final = "leakscale.scorer"
"""Under which the health of the scorer is told, where there is one."""
_NEED_SCORER: Final = frozenset({SCORER, "leakscale.v1.CertificationService"})
"""What does nothing without a scorer. Of the other services most calls do not need one."""
_UNKNOWN: Final = "(unknown)"
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING


class Health(health.HealthServicer):
    """Tells of the whole server, under the empty name, of each of its services, and of its scorer.

    The server serves while its scorer is away: it answers from the registry, and refuses the rest with the time to come
    back. A balancer that took it out would take the reads out too.

    Args:
        services: Full names, `SCORER` among them where there is one.
    """

    def __init__(self, services: Iterable[str]) -> None:
        super().__init__()
        self._names = {"", *services}
        self._changing = threading.Lock()
        self._is_serving = False
        self._has_scorer = True
        for name in sorted(self._names):
            self.set(name, _NOT_SERVING)

    def serve(self) -> None:
        """Say from now on that calls are taken."""
        with self._changing:
            self._is_serving = True
            self._tell(self._names)

    def scorer_changed(self, is_there: bool) -> None:
        """Say from now on that the scorer is there, or is not."""
        with self._changing:
            self._has_scorer = is_there
            self._tell(self._names & _NEED_SCORER)

    def Watch(self, request: Any, context: grpc.ServicerContext, *send: Any) -> Any:  # noqa: N802
        """Tell of each change.

        The library keeps a record of every name that was ever watched; here all that are none's share one.
        """
        known = request if request.service in self._names else health_pb2.HealthCheckRequest(service=_UNKNOWN)
        return super().Watch(known, context, *send)

    def _tell(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            is_up = self._is_serving and (self._has_scorer or name not in _NEED_SCORER)
            self.set(name, _SERVING if is_up else _NOT_SERVING)
