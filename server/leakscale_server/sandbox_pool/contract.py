"""What the server asks of a sandbox, and what it gets back.

A job is one family: every program on every fixture. Expected outputs never enter a sandbox, so nothing here can hold
one: programs and fixtures go in, verdicts and canonical bytes come out, and the server compares the bytes.

A candidate that loops, crashes or attacks is a *result* with a verdict. Only our own failure is an error.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Protocol

from leakscale_sandbox.verdicts import Limits, Verdict
from leakscale_server.sandbox_pool.lanes import LaneSettings

__all__ = [
    "Backend",
    "BackendIdentity",
    "BackendUnavailable",
    "Channel",
    "Execution",
    "Job",
    "JobResult",
    "Limits",
    "ProgramDomain",
    "SandboxFault",
    "Verdict",
    "WorkerFacts",
]


class ProgramDomain(enum.StrEnum):
    """Language of a job; equal to the strings of `leakscale.models.Domain`."""

    SQL = "sql"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Job:
    """One family: every program on every fixture, each Python program in a process of its own.

    SQL programs share a process as long as none of them disturbs the others; what they give is the same as apart.

    Does *not* guard against a program that is merely wrong; that is the acceptance rule's business.
    """

    domain: str
    """`"sql"` or `"python"`."""
    programs: tuple[str, ...]
    """1 to 64. Python: a module that defines `transform(records)`. SQL: one SELECT or WITH statement."""
    fixtures: tuple[bytes, ...]
    """1 to 64. Python: JSON of the argument. SQL: a database as `sqlite3.Connection.serialize()` returns it."""
    ordered: bool = True
    """SQL: compare rows in the order they came, or as a bag (rows sorted by their canonical bytes)."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Execution:
    """How one program ended on one fixture.

    Two executions are equal when verdict, output and detail are; the times are for people.
    """

    verdict: Verdict
    output: bytes
    """Canonical bytes when the verdict is RETURNED, else empty."""
    detail: str
    """Exception class or the limit that was hit, at most 200 characters; empty when RETURNED. Never fixture content."""
    cpu_time_s: float = field(default=0.0, compare=False)
    """CPU seconds of the process: of the program over all its fixtures, of the SQL programs of a job together."""
    wall_time_s: float = field(default=0.0, compare=False)
    """Wall-clock seconds of the process, likewise."""
    message: str = field(default="", compare=False)
    """SQL: what SQLite says of a statement that it cannot prepare, for people. Made of the statement's words and
    SQLite's, so it holds no fixture content either; empty for everything else."""


JobResult = tuple[tuple[Execution, ...], ...]
"""Executions as `[program][fixture]`."""


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What a worker says about itself when it starts; the host believes it because it runs no candidate yet."""

    python_build: str
    sqlite_version: str
    sqlite_source_id: str
    sqlite_compile_options: tuple[str, ...]
    canonical_version: int
    protocol_version: int
    machine: str


@dataclass(frozen=True, slots=True)
class BackendIdentity:
    """Everything about a sandbox that a certificate freezes: another identity may give other bytes."""

    backend: str
    """`"docker"` or `"bubblewrap"`."""
    runtime: str
    """Container runtime, such as `"runsc"`; empty for the one that every backend has by default."""
    image_digest: str
    """`sha256:…` of the image configuration; for bubblewrap, of the root file system's tar."""
    worker_digest: str
    """`sha256:…` of the worker's source as sent at start."""
    facts: WorkerFacts
    limits: Limits
    """Limits of a job that asks for none."""

    @property
    def python_build(self) -> str:
        """Return the interpreter's version and build, in one line."""
        return self.facts.python_build

    @property
    def sqlite_source_id(self) -> str:
        """Return SQLite's check-in identifier."""
        return self.facts.sqlite_source_id

    @property
    def sqlite_compile_options(self) -> tuple[str, ...]:
        """Return SQLite's compile options, sorted."""
        return self.facts.sqlite_compile_options

    @property
    def canonical_version(self) -> int:
        """Return the version of the canonical encoding."""
        return self.facts.canonical_version


class SandboxFault(RuntimeError):  # noqa: N818 - a fault of ours, as the house's error table names it
    """A lane failed us: two retries in fresh lanes did not produce a result. Never a verdict on a program."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the sandbox did not answer: {reason}; try again, or restart the server")
        self.reason = reason


class BackendUnavailable(RuntimeError):  # noqa: N818 - reads as the condition it reports
    """This host cannot run the backend that was asked for."""

    def __init__(self, reason: str, next_step: str) -> None:
        super().__init__(f"{reason}; {next_step}")
        self.reason = reason
        self.next_step = next_step


class Channel(Protocol):
    """A byte pipe to one warm worker. Every byte that comes out of it is hostile."""

    def send(self, data: bytes, *, deadline: float) -> None:
        """Write all bytes.

        Args:
            data: Bytes for the worker's standard input.
            deadline: `time.monotonic()` in seconds after which to give up.

        Raises:
            LaneError: If the worker is gone or the deadline passes.
        """

    def receive(self, byte_count: int, *, deadline: float) -> bytes:
        """Read exactly `byte_count` bytes.

        Raises:
            LaneError: If the worker is gone or the deadline passes.
        """

    def has_pending(self) -> bool:
        """Return whether bytes wait that nobody asked for; a lane that talks out of turn is replaced."""

    def close(self) -> None:
        """Destroy the worker and everything below it. Safe to call twice."""


class Backend(Protocol):
    """A way to start hardened workers on this host."""

    name: str
    runtime: str
    """See `BackendIdentity.runtime`."""
    image_digest: str
    """See `BackendIdentity.image_digest`."""

    def start_lane(self, settings: LaneSettings) -> Channel:
        """Start one warm worker.

        Args:
            settings: What sets it apart from others.

        Raises:
            LaneError: If the worker cannot be started.
        """

    def close(self) -> None:
        """Destroy every worker that this backend started."""
