"""The listeners: gRPC's own settings, the gate before every service, the health service, and the addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

import grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.health import Health
from leakscale_server.identity.methods import METHOD_SCOPES
from leakscale_server.limits import MESSAGE_BYTES_MAX
from leakscale_server.metrics import Metrics
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.gate import Gate, Identify
from leakscale_server.services.observing import CallLog, Observer
from leakscale_server.services.shared_server import SharedServer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from leakscale_server.json_http.listener import HttpListener

__all__ = ["LISTENER_OPTIONS", "SERVICES", "bind", "listening", "new_server", "observers_of"]

LISTENER_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.so_reuseport", 0),
    # The other half of the client's keepalive pair: its pings every 30 s are welcome, with or without calls. By default
    # a connection that pings more than once in 5 minutes is cut off, in the middle of a long call.
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # A flood waits at its own client, by connection. What is not yet taken up here waits too; by default the library
    # drops some beyond 1,000, whosesoever they are, before the gate could say anything.
    ("grpc.max_concurrent_streams", 256),
    ("grpc.server.max_pending_requests", 1_000_000),
    ("grpc.server.max_pending_requests_hard_limit", 1_000_000),
)

SERVICES: Final = tuple(sorted({method.split("/")[1] for method in METHOD_SCOPES}))
"""Full names of all services of the wire."""


def new_server(
    config: ServerConfig,
    executor: CallExecutor,
    identify: Identify,
    *,
    observers: Sequence[Observer],
    services: Sequence[str] = SERVICES,
) -> tuple[SharedServer, Health]:
    """Make a server that has its gate and its health service, and nothing else yet.

    Args:
        config: Its settings.
        executor: Its threads.
        identify: Tells whom a token stands for.
        observers: Told of each call when it has ended.
        services: Full names of what it will serve, and of what else has a health of its own.
    """
    gate = Gate(identify, limits=config.call_limits, executor=executor, observers=observers)
    grpc_server = grpc.server(executor, interceptors=[gate], options=LISTENER_OPTIONS)
    server = SharedServer(grpc_server, gate=gate, executor=executor)
    health_servicer = Health(services)
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    if config.reflection:
        reflection.enable_server_reflection([*SERVICES, reflection.SERVICE_NAME], server)
    return server, health_servicer


def bind(server: grpc.Server, listen: str, *, credentials: grpc.ServerCredentials | None) -> str:
    """Take the address, in the clear or with TLS; return it with the port that a client connects to.

    Raises:
        ConfigError: If it is taken, or is none of this machine's.
    """
    try:
        port = server.add_secure_port(listen, credentials) if credentials else server.add_insecure_port(listen)
    except RuntimeError as error:
        raise ConfigError(f"--listen {listen}: the address is taken or cannot be bound; choose another") from error
    return listen if listen.startswith("unix:") else f"{listen.rpartition(':')[0]}:{port}"


@contextmanager
def listening(
    config: ServerConfig,
    server: SharedServer,
    health: Health,
    *,
    credentials: grpc.ServerCredentials | None,
    on_stop: Callable[[], None] = lambda: None,
) -> Iterator[tuple[str, str | None]]:
    """Take calls until the block ends, then refuse new ones and let those in flight end.

    Args:
        config: Addresses, TLS and time of grace.
        server: Has all its services.
        health: Told when calls are taken and when no more.
        credentials: For gRPC; HTTP reads the same files itself.
        on_stop: Asked to end what would outlast the time of grace.

    Returns:
        The addresses that clients of gRPC and of HTTP connect to, the latter None where there is no such listener.

    Raises:
        ConfigError: If an address is taken, or is none of this machine's.
    """
    target = bind(server, config.listen, credentials=credentials)
    with _http(config, server) as http:
        server.start()
        health.serve()
        try:
            yield target, http.target if http else None
        finally:
            health.enter_graceful_shutdown()
            on_stop()
            if http:
                http.stop()
            server.stop(config.grace_s).wait()


def _http(config: ServerConfig, server: SharedServer) -> AbstractContextManager[HttpListener | None]:
    if not config.http_listen:
        return nullcontext()
    # Loads what only the extra `http` brings.
    from leakscale_server.json_http.listener import listening_for_http  # noqa: PLC0415

    return listening_for_http(config, server)


@contextmanager
def observers_of(config: ServerConfig, executor: CallExecutor) -> Iterator[tuple[list[Observer], int | None]]:
    """Make what is told of every call, and the port of the page with metrics, for as long as the block runs."""
    if config.metrics_port is None:
        yield [CallLog()], None
        return
    metrics = Metrics(calls_in_hand=lambda: executor.call_count)
    with metrics.served(config.metrics_port, listen=config.metrics_listen) as port:
        yield [CallLog(), metrics.count], port
