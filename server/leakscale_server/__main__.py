"""Run a LeakScale server: `leakscale-server --data-dir DIR`."""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Annotated

import structlog
import typer

from leakscale_server.app import serve
from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.sandbox_pool import BackendUnavailable, SandboxFault

__all__ = ["main"]

DEFAULT_LISTEN = "127.0.0.1:7443"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks print local variables, and some are secrets
    help="Serve LeakScale: certify families, freeze editions, score privately.",
)


@app.command()
def run(
    data_dir: Annotated[Path, typer.Option(help="Registry, vault, signing key, token and editions live here.")],
    listen: Annotated[
        str, typer.Option(help="host:port on loopback (port 0: a free one) or unix:PATH.")
    ] = DEFAULT_LISTEN,
    backend: Annotated[str, typer.Option(help="Sandbox: auto, docker or bubblewrap.")] = "auto",
    docker_runtime: Annotated[
        str, typer.Option(help="A stronger container runtime that the daemon knows, such as runsc.")
    ] = "",
    lanes: Annotated[int | None, typer.Option(help="Warm sandboxes, an even number; default: one a core.")] = None,
    cache_dir: Annotated[Path | None, typer.Option(help="Where sandbox images are kept.")] = None,
    ready_fd: Annotated[int | None, typer.Option(help="Write one JSON line here once serving.", hidden=True)] = None,
    stop_with_stdin: Annotated[bool, typer.Option(help="Stop when standard input ends.", hidden=True)] = False,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the calls in flight and stop."""
    _configure_log()
    log = structlog.get_logger()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if stop_with_stdin:
        threading.Thread(target=_wait_for_end_of_stdin, args=(stop,), daemon=True).start()
    config = ServerConfig(
        listen=listen,
        data_dir=data_dir,
        cache_dir=cache_dir or ServerConfig.default_cache_dir(),
        backend=backend,
        docker_runtime=docker_runtime,
        lane_count=ServerConfig.default_lane_count() if lanes is None else lanes,
    )
    try:
        with serve(config) as running:
            log.info("serving", target=running.target, backend=running.backend, token_file=str(data_dir / "token"))
            if ready_fd is not None:
                line = {
                    "target": running.target,
                    "token": running.token,
                    "backend": running.backend,
                    "notice": running.notice,
                }
                with os.fdopen(ready_fd, "w") as pipe:
                    pipe.write(json.dumps(line) + "\n")
            stop.wait()
            log.info("stopping")
    except (ConfigError, BackendUnavailable, SandboxFault, OSError, sqlite3.Error, ValueError) as error:
        sys.stderr.write(f"leakscale-server: {error}\n")
        raise typer.Exit(3) from error


def _wait_for_end_of_stdin(stop: threading.Event) -> None:
    """A parent that was killed cannot send a signal, but its end of the pipe closes."""
    while os.read(0, 4096):
        pass
    stop.set()


def _configure_log() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
