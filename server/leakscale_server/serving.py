"""Serve until somebody says stop: signals, the log, and the line that says that the server is ready."""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
from typing import TYPE_CHECKING

import structlog

from leakscale_server.app import serve
from leakscale_server.logs import configure_log

if TYPE_CHECKING:
    from leakscale_server.app import RunningServer
    from leakscale_server.config import ServerConfig
    from leakscale_server.scorer_process.key_keeper import KeyKeeper

__all__ = ["leave_alone_what_is_loaded", "serve_until_stopped"]


def serve_until_stopped(
    config: ServerConfig, *, ready_fd: int | None, stop_with_stdin: bool, key_keeper: KeyKeeper | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the calls in flight and stop.

    Args:
        config: Settings of the server.
        ready_fd: Gets one line of JSON once the server answers.
        stop_with_stdin: Whether the end of standard input stops the server too.
        key_keeper: See `serve`.

    Raises:
        ConfigError: See `serve`; so for what else it raises.
    """
    configure_log()
    log = structlog.get_logger()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if stop_with_stdin:
        threading.Thread(target=_wait_for_end_of_stdin, args=(stop,), daemon=True).start()
    with serve(config, key_keeper=key_keeper) as running:
        leave_alone_what_is_loaded()
        token_file = str(config.data_dir / "token")
        log.info(
            "serving",
            target=running.target,
            backend=running.backend,
            token_file=token_file,
            metrics_port=running.metrics_port,
            http_target=running.http_target,
        )
        if ready_fd is not None:
            _tell(ready_fd, running)
        stop.wait()
        log.info("stopping")


def leave_alone_what_is_loaded() -> None:
    """Take what is in memory now out of the garbage collector's sight, for it stays until the process ends.

    Hundreds of thousands of objects that the imports made would be gone through again and again: a fifth of what a
    look-up costs.
    """
    gc.collect()
    gc.freeze()


def _tell(descriptor: int, running: RunningServer) -> None:
    line = {
        "target": running.target,
        "token": running.token,
        "backend": running.backend,
        "notice": running.notice,
    }
    with os.fdopen(descriptor, "w") as pipe:
        pipe.write(json.dumps(line) + "\n")


def _wait_for_end_of_stdin(stop: threading.Event) -> None:
    """A parent that was killed cannot send a signal, but its end of the pipe closes."""
    while os.read(0, 4096):
        pass
    stop.set()
