"""Clients of the server that the global options name, or of one that lives as long as the command."""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leakscale.cli.shell import Shell
    from leakscale.client import Client

__all__ = ["SandboxBackend", "connected", "connected_locally", "full_name"]


class SandboxBackend(enum.StrEnum):
    """What a server runs candidates in; `auto` is Docker where a daemon answers."""

    AUTO = "auto"
    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"


@contextmanager
def connected(shell: Shell) -> Iterator[Client]:
    """Open a client of the server that the global options name."""
    from leakscale.client import Client, Tls  # noqa: PLC0415 - loads gRPC

    files = (shell.ca, shell.client_certificate, shell.client_key)
    tls = Tls(*files) if any(files) else None
    with Client(shell.server, token=shell.token, tls=tls) as client:
        yield client


@contextmanager
def connected_locally(shell: Shell, *, backend: str) -> Iterator[Client]:
    """Start a server in a temporary folder, open a client of it, and leave nothing behind."""
    from leakscale.client import Client  # noqa: PLC0415
    from leakscale.study.local_server import local_server  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="leakscale-") as folder:
        root = Path(folder)
        shell.console.note("starting a server for this command")
        with (
            local_server(root / "data", backend=backend, log=root / "server.log") as server,
            Client(server.target, token=server.token) as client,
        ):
            if server.notice:
                shell.console.note(server.notice)
            yield client


def full_name(name: str, collection: str) -> str:
    """Let `demo` stand for `editions/demo`."""
    return name if "/" in name else f"{collection}/{name}"
