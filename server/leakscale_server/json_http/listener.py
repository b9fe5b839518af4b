"""Listen for HTTP: the address, TLS, and a thread for the event loop."""

from __future__ import annotations

import logging
import math
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog
import uvicorn

from leakscale_server.certificates import server_tls_context
from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.json_http.application import application
from leakscale_server.json_http.connection import ImpatientConnection
from leakscale_server.services.shared_server import SharedServer
from leakscale_server.translation import place_of

__all__ = ["HttpListener", "listening_for_http"]

_CONNECTION_COUNT_MAX: Final = 256
"""Each may hold one body in memory; the next are told 503."""

_log = structlog.get_logger()


class HttpListener:
    """A listener that answers.

    Args:
        target: `host:port` that a client connects to.
        server: Runs on a thread of its own.
    """

    def __init__(self, target: str, server: uvicorn.Server) -> None:
        self.target = target
        self._server = server

    def stop(self) -> None:
        """Take no more calls and return at once; those in flight go on for the time of grace."""
        self._server.should_exit = True


@contextmanager
def listening_for_http(config: ServerConfig, server: SharedServer) -> Iterator[HttpListener]:
    """Serve a server's unary calls over HTTP until the block ends.

    Raises:
        ConfigError: If the address is taken or is none of this machine's, or TLS cannot work.
    """
    _take_log()
    settings = uvicorn.Config(
        application(server),
        loop="asyncio",
        http=ImpatientConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTION_COUNT_MAX,
        timeout_graceful_shutdown=math.ceil(config.grace_s),
    )
    settings.load()
    settings.ssl = None if config.tls is None else server_tls_context(config.tls)
    running = uvicorn.Server(settings)
    listener = _bound(config.http_listen)
    # Already here, so that who connects before the loop runs waits and is not refused.
    listener.listen(settings.backlog)
    host, port = config.http_listen.rpartition(":")[0], listener.getsockname()[1]
    thread = threading.Thread(target=running.run, args=([listener],), name="http")
    thread.start()
    try:
        yield HttpListener(f"{host}:{port}", running)
    finally:
        running.should_exit = True
        thread.join()


def _bound(listen: str) -> socket.socket:
    host, _, port = listen.rpartition(":")
    name = host.removeprefix("[").removesuffix("]")
    listener = socket.socket(socket.AF_INET6 if ":" in name else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((name, int(port)))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"--http-listen {listen}: the address is taken or cannot be bound ({error.strerror}); choose another"
        ) from error
    return listener


class _ClassAndPlace(logging.Handler):
    """Says of a failure of the library's what the log may hold: never a text, which could quote a request."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            _log.error("http failed", error=type(error).__name__, place=place_of(error))


def _take_log() -> None:
    """Take the library's log over: a stranger who sends no HTTP must not fill ours, a failure must stand in it."""
    log = logging.getLogger("uvicorn.error")
    log.propagate = False
    log.setLevel(logging.ERROR)
    log.handlers = [_ClassAndPlace()]
