"""A server of our own as a process beside us, for studies that bring none."""

from __future__ import annotations

import importlib.util
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.errors import NotFoundError, UnavailableError
from leakscale.reading import parse_json

__all__ = ["LocalServer", "local_server"]

_START_S_MAX: Final = 180.0
"""The first start builds the sandbox image."""
_STOP_S_MAX: Final = 20.0


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server process."""

    target: str
    token: str
    backend: str
    notice: str
    """What its user should know, in one line; usually empty."""


@contextmanager
def local_server(data_dir: Path, *, backend: str, log: Path) -> Iterator[LocalServer]:
    """Start a server on a free loopback port and stop it at the end.

    It has a process session of its own, so that Ctrl-C reaches us and not it; and it stops by itself when our end of
    its standard input closes, so that it does not outlive us even after kill -9.

    Raises:
        NotFoundError: If the extra `server` is not installed.
        UnavailableError: If it does not come up; the message carries its last words.
    """
    if importlib.util.find_spec("leakscale_server") is None or importlib.util.find_spec("grpc_health") is None:
        raise NotFoundError("the server is not installed; run `pip install 'leakscale[server]'`, or pass --server")
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "leakscale_server", "--data-dir", str(data_dir), "--listen", "127.0.0.1:0"]
    command += ["--backend", backend, "--ready-fd", str(writer), "--stop-with-stdin"]
    with log.open("ab") as stderr:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=stderr, stderr=stderr, pass_fds=(writer,), start_new_session=True
        )
    os.close(writer)
    try:
        with os.fdopen(reader) as ready:
            line = _first_line(ready.fileno(), process, log)
        yield LocalServer(**parse_json(line))
    finally:
        _stop(process)


def _first_line(descriptor: int, process: subprocess.Popen[bytes], log: Path) -> str:
    received = b""
    deadline = time.monotonic() + _START_S_MAX
    while not received.endswith(b"\n"):
        is_readable, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        chunk = os.read(descriptor, 65536) if is_readable else b""
        if not chunk:
            reason = "did not come up in time" if process.poll() is None else "stopped"
            raise UnavailableError(f"the local server {reason}: {_last_words(log)}")
        received += chunk
    return received.decode()


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else f"it wrote nothing to {log}"


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_S_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
