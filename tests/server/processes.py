"""A server as a process of its own, to be killed, and a small disk, to be filled."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from leakscale.client import Client
from leakscale.errors import UnavailableError

from .helpers import CACHE

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that answers."""

    process: subprocess.Popen[bytes]
    target: str
    token: str
    log: Path

    def client(self) -> Client:
        return Client(self.target, token=self.token)


def start(
    data_dir: Path, *, backend: str = "bubblewrap", log: Path | None = None, environ: Mapping[str, str] | None = None
) -> ServerProcess:
    """Start a server and wait until it serves.

    Args:
        log: Where it writes; beside the data folder by default.
        environ: Variables besides those of the tests.
    """
    reader, writer = os.pipe()
    log = log or data_dir.parent / f"{data_dir.name}.log"
    command = [sys.executable, "-m", "leakscale_server", "--data-dir", str(data_dir), "--listen", "127.0.0.1:0"]
    command += ["--backend", backend, "--lanes", "2", "--cache-dir", str(CACHE), "--ready-fd", str(writer)]
    with log.open("ab") as stderr:
        process = subprocess.Popen(
            command, stdout=stderr, stderr=stderr, pass_fds=(writer,), env={**os.environ, **(environ or {})}
        )
    os.close(writer)
    with os.fdopen(reader) as ready:
        line = ready.readline()
    if not line:
        process.wait(60)
        raise AssertionError(log.read_text())
    facts = json.loads(line)
    return ServerProcess(process, facts["target"], facts["token"], log)


@contextmanager
def running(
    data_dir: Path, *, backend: str = "bubblewrap", environ: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """Start a server, and stop it with SIGTERM at the end; it must end well."""
    server = start(data_dir, backend=backend, environ=environ)
    try:
        yield server
        server.process.terminate()
        assert server.process.wait(60) == 0, server.log.read_text()
        assert "Traceback" not in server.log.read_text()
    finally:
        server.process.kill()
        server.process.wait()


@contextmanager
def small_disk(folder: Path, *, byte_count: int) -> Iterator[Path]:
    """Mount a file system of a few bytes. Needs root, as the tests of the sandbox do."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={byte_count}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def filled(folder: Path, *, leaving_bytes: int) -> Iterator[None]:
    """Fill the rest of a small disk for as long as the block runs."""
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    ballast = folder / "ballast"
    # A server that writes meanwhile may leave less than was free: then it is full, which is what was wanted.
    with contextlib.suppress(OSError), ballast.open("wb") as file:
        file.write(b"\0" * max(0, free - leaving_bytes))
    try:
        yield
    finally:
        ballast.unlink()


def containers_of(pids: list[int]) -> list[str]:
    """Return the ids of the containers that processes started, dead ones too."""
    form = '{{.ID}} {{.Label "leakscale.sandbox.owner"}}'
    listed = subprocess.run(
        ["docker", "ps", "--all", "--filter", "label=leakscale.sandbox", "--format", form],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in listed.stdout.splitlines() if any(f"/{pid}/" in line for pid in pids)]


def scorer_of(server: ServerProcess) -> int:
    """Return the process that holds the vault now, once it has opened it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for pid in descendants(server.process.pid):
            with contextlib.suppress(OSError):
                if b"leakscale_server.scorer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return pid
        time.sleep(0.05)
    raise AssertionError("no scorer runs")


def recovered(act: Callable[[], T]) -> T:
    """Repeat a call until the scorer is there again."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return act()
        except UnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def memory_of(pid: int) -> bytes:
    """Read the anonymous and heap memory of a process."""
    found = []
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) r.{3} \S+ \S+ (\d+)\s*(\S*)", line)
            if match is None or (match[3] != "0") or match[4] in ("[vvar]", "[vsyscall]", "[vvar_vclock]"):
                continue
            start, end = int(match[1], 16), int(match[2], 16)
            memory.seek(start)
            try:
                found.append(memory.read(end - start))
            except OSError:
                continue
    return b"".join(found)


def descendants(pid: int) -> list[int]:
    """Return the processes below one that runs now."""
    found, pending = [], [pid]
    while pending:
        with contextlib.suppress(OSError):  # it ended meanwhile
            for task in Path(f"/proc/{pending.pop()}/task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                pending += children
    return found


def remaining(pids: list[int]) -> list[int]:
    """Wait until processes are gone, and return those that stay. A zombie is gone: reaping it is its parent's."""
    deadline = time.monotonic() + 60
    while (left := [pid for pid in pids if _runs(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _runs(pid: int) -> bool:
    try:
        facts = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return facts.rpartition(")")[2].split()[0] != "Z"
