"""`leakscale server`: run one, or ask one what it is."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from leakscale.cli.connection import SandboxBackend, connected
from leakscale.cli.shell import DEFAULT_SERVER, shell_of

__all__ = ["app", "become_server"]

app = typer.Typer(help="Run a server, or ask one what it is.", no_args_is_help=True)


_PACKAGES = ("leakscale_server", "grpc_health", "snowballstemmer", "sqlglot")
"""What only the extra `server` brings."""


def become_server(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by `leakscale-server` with the same streams, arguments and exit code.

    Raises:
        BadParameter: If the extra `server` is not installed, with the command that installs it.
    """
    if any(importlib.util.find_spec(name) is None for name in _PACKAGES):
        raise typer.BadParameter("the server is not installed; run `pip install 'leakscale[server]'`")
    os.execv(sys.executable, [sys.executable, "-m", "leakscale_server", *arguments])  # noqa: S606 - becomes the server


@app.command("start")
def start(
    data_dir: Annotated[Path, typer.Option(help="Its registry, vault, key, token and editions.")] = Path(
        "leakscale-data"
    ),
    listen: Annotated[
        str, typer.Option(help="host:port on loopback, or unix:PATH; `leakscale-server` has more.")
    ] = DEFAULT_SERVER,
    backend: Annotated[SandboxBackend, typer.Option(help="Sandbox.")] = SandboxBackend.AUTO,
    ray_address: Annotated[
        str, typer.Option(help="Ray cluster on whose nodes the sandboxes run, HOST:PORT or auto; needs --backend.")
    ] = "",
    lanes: Annotated[int | None, typer.Option(help="Warm sandboxes, an even number; default: one a core.")] = None,
) -> None:
    """Serve in this terminal until Ctrl-C. The token for clients is in DATA_DIR/token.

    For example:

    ```
    leakscale server start --data-dir leakscale-data --listen 127.0.0.1:7443
    ```
    """
    arguments = ["--data-dir", str(data_dir), "--listen", listen, "--backend", backend, "--ray-address", ray_address]
    become_server(arguments if lanes is None else [*arguments, "--lanes", str(lanes)])


@app.command("status")
def status(context: typer.Context) -> None:
    """Say whether a server answers, what it is, and whom it takes you for.

    For example:

    ```
    leakscale server status --server 127.0.0.1:7443
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        info, head = client.server.info(), client.ledger.head()
    facts = {
        "server": shell.server,
        "version": info.version,
        "sandbox": f"{info.sandbox_backend}, {info.lane_count} lanes",
        "image": info.sandbox_image,
        "public_key": info.public_key.hex(),
        "features": ", ".join(info.features) or "none",
        "token": f"{info.role} {info.principal} of project {info.project}",
        "ledger_entries": head.entry_count,
        "ledger_root": head.root.hex(),
    }
    shell.console.result(facts, text="\n".join(f"{name:<15}{value}" for name, value in facts.items()))
