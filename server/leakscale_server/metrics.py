"""Counters and gauges in the format of Prometheus, on a port of their own.

Labels are a method, a code and a reason, which the server chooses from fixed lists: none depends on whether an answer
is right, on a project or on a principal, and no client can make a new one. Whoever reads the page needs no token, so it
is served to this machine alone unless somebody names another address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, start_http_server

from leakscale import __version__
from leakscale_server.config import METRICS_LISTEN, ConfigError
from leakscale_server.services.observing import EndedCall

__all__ = ["Metrics"]

_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600)


class Metrics:
    """What one server counts.

    Args:
        calls_in_hand: Tells how many calls are handled or wait for a thread.
    """

    def __init__(self, *, calls_in_hand: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "leakscale_calls", "Calls that have ended.", ("method", "code", "reason"), registry=self._registry
        )
        self._seconds = Histogram(
            "leakscale_call_seconds", "How long calls took.", ("method",), buckets=_BUCKETS_S, registry=self._registry
        )
        in_hand = Gauge(
            "leakscale_calls_in_hand", "Calls that are handled or wait for a thread.", registry=self._registry
        )
        in_hand.set_function(calls_in_hand)
        version = Gauge("leakscale_server_info", "The server's version.", ("version",), registry=self._registry)
        version.labels(__version__).set(1)

    def count(self, ended: EndedCall) -> None:
        """Count a call that has ended."""
        method = ended.method.rpartition(".")[2]
        self._calls.labels(method, ended.code.name, ended.reason).inc()
        self._seconds.labels(method).observe(ended.time_s)

    def page(self) -> str:
        """Return the page as it is served."""
        return generate_latest(self._registry).decode()

    @contextmanager
    def served(self, port: int, *, listen: str = METRICS_LISTEN) -> Iterator[int]:
        """Serve the page for as long as the block runs; yields the port.

        Args:
            port: Where; 0: a free one.
            listen: IP address, of this machine alone by default.

        Raises:
            ConfigError: If the port is taken, or the address is none of this machine's.
        """
        try:
            server, thread = start_http_server(port, addr=listen, registry=self._registry)
        except OSError as error:
            raise ConfigError(
                f"--metrics-port {port}: it is taken on {listen} or cannot be bound; choose another"
            ) from error
        try:
            yield int(server.server_port)
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
