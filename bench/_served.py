"""A server as a process of its own, to be measured or killed."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

GONE_S_MAX = 20.0


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    process: subprocess.Popen[bytes]
    target: str
    token: str


def start(data_dir: Path, *, backend: str, cache_dir: Path, arguments: Sequence[str] = ()) -> Server:
    """Start a server and wait until it serves."""
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "leakscale_server", "--data-dir", str(data_dir), "--listen", "127.0.0.1:0"]
    command += ["--backend", backend, "--lanes", "2", "--cache-dir", str(cache_dir), "--ready-fd", str(writer)]
    with (data_dir.parent / "log").open("ab") as log:
        process = subprocess.Popen([*command, *arguments], stdout=log, stderr=log, pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader) as ready:
        line = ready.readline()
    if not line:
        raise SystemExit((data_dir.parent / "log").read_text())
    facts = json.loads(line)
    return Server(process, facts["target"], facts["token"])


@contextlib.contextmanager
def running(data_dir: Path, *, backend: str, cache_dir: Path, arguments: Sequence[str] = ()) -> Iterator[Server]:
    """Start a server and stop it at the end."""
    server = start(data_dir, backend=backend, cache_dir=cache_dir, arguments=arguments)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


def require(holds: bool, complaint: str) -> None:
    """End the run if something does not hold that must."""
    if not holds:
        raise SystemExit(f"FAILED: {complaint}")


def descendants(pid: int) -> list[int]:
    """Return the processes below one."""
    found, pending = [], [pid]
    while pending:
        with contextlib.suppress(OSError):  # it ended meanwhile
            for task in Path(f"/proc/{pending.pop()}/task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                pending += children
    return found


def scorer_of(server: Server) -> int | None:
    """Return the process that holds the vault, if it runs now."""
    for pid in descendants(server.process.pid):
        with contextlib.suppress(OSError):
            if b"leakscale_server.scorer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
    return None


def runs(pid: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return facts.rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(look: Callable[[], Sequence[object]]) -> list[object]:
    """Look again and again, and return what stays."""
    deadline = time.monotonic() + GONE_S_MAX
    while (left := list(look())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
