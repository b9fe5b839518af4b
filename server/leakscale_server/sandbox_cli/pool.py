"""What both verbs do first and last: open a pool by the words of a command line, and fail in one line."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from leakscale_server.config import LANE_COUNT_MAX, ServerConfig
from leakscale_server.sandbox_pool import BackendUnavailable, SandboxFault, SandboxPool, choose_backend
from leakscale_server.sandbox_pool.backends import BACKEND_NAMES

__all__ = [
    "BackendOption",
    "CacheDirOption",
    "InputError",
    "LanesOption",
    "RayAddressOption",
    "RuntimeOption",
    "failing_in_one_line",
    "open_pool",
]

_USAGE, _UNAVAILABLE = 2, 3

BackendOption = Annotated[str, typer.Option(help="auto, docker or bubblewrap.")]
RuntimeOption = Annotated[str, typer.Option(help="A stronger container runtime, such as runsc.")]
RayAddressOption = Annotated[
    str, typer.Option(help="Ray cluster on whose nodes the sandboxes run, HOST:PORT or auto; needs --backend.")
]
LanesOption = Annotated[
    int | None,
    typer.Option(min=2, max=LANE_COUNT_MAX, help="Warm sandboxes, in pairs; default: one a core of this machine."),
]
CacheDirOption = Annotated[Path | None, typer.Option(help="Where sandbox images are kept.")]


class InputError(Exception):
    """A file or an option cannot be used as asked; the message names it, the rule and the next step."""


@contextmanager
def failing_in_one_line() -> Iterator[None]:
    """Turn what may go wrong into one line on standard error and an exit code: 2 for the asker, 3 for this host."""
    try:
        yield
    except InputError as error:
        code, message = _USAGE, str(error)
    except (BackendUnavailable, SandboxFault, OSError) as error:
        code, message = _UNAVAILABLE, str(error)
    else:
        return
    sys.stderr.write(f"leakscale-server: {' '.join(message.split())}\n")
    raise typer.Exit(code)


@contextmanager
def open_pool(
    backend: str, *, runtime: str, cache_dir: Path | None, lane_count: int, ray_address: str = ""
) -> Iterator[SandboxPool]:
    """Start lanes under a backend, and say in one line on standard error if it is not the one to expect.

    Raises:
        InputError: If there is no such backend, it has no runtimes, or nodes of a cluster could choose differently.
        BackendUnavailable: If this host cannot run it.
        SandboxFault: If a lane does not start.
    """
    if backend not in ("auto", *BACKEND_NAMES):
        raise InputError(f"--backend {backend}: choose auto, {' or '.join(BACKEND_NAMES)}")
    if runtime and backend != "docker":
        raise InputError(f"--docker-runtime {runtime}: it needs --backend docker, not {backend}")
    if ray_address and backend == "auto":
        raise InputError(f"--ray-address {ray_address}: name the nodes' --backend, {' or '.join(BACKEND_NAMES)}")
    state_dir = cache_dir or ServerConfig.default_cache_dir()
    opened, notice = choose_backend(backend, state_dir=state_dir, runtime=runtime, ray_address=ray_address)
    if notice:
        sys.stderr.write(f"leakscale-server: {notice}\n")
    pool = SandboxPool(opened, lane_count=lane_count)
    with _closed_by_interrupt(pool), pool:
        yield pool


@contextmanager
def _closed_by_interrupt(pool: SandboxPool) -> Iterator[None]:
    """Close a pool as soon as Ctrl-C comes: threads that wait for a program would wait until its time is over."""

    def interrupt(_number: int, _frame: object) -> None:
        # On a thread of its own: this one may hold what closing needs.
        threading.Thread(target=pool.close, name="interrupted").start()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
