"""Lease warm workers to jobs, one at a time each, and replace what failed."""

from __future__ import annotations

import contextlib
import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from leakscale_sandbox.verdicts import Limits
from leakscale_server.sandbox_pool.bundle import worker_digest
from leakscale_server.sandbox_pool.contract import BackendIdentity, ProgramDomain, SandboxFault
from leakscale_server.sandbox_pool.lanes import LANE_KINDS, LaneError, LaneSettings
from leakscale_server.sandbox_pool.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from leakscale_server.sandbox_pool.contract import Backend, Job, JobResult

__all__ = ["CHANCE_LANES", "SandboxPool"]

CHANCE_LANES = range(64, 64 + LANE_KINDS - 2)
"""Lanes that every pool has besides its own, one of each further kind. They start when a job first asks for one."""

_ATTEMPT_COUNT_MAX = 3
_SUCCESSOR_SHARE = 0.9
"""Of a worker's leases, after which the next worker is started beside it: no job waits for one that was due."""
_SQLITE_MAGIC = b"SQLite format 3\0"


class SandboxPool:
    """Warm workers, leased one job at a time. Safe to use from many threads.

    Odd lanes differ from even ones in hash seed, heap, clocks, surroundings and the order of SQL rows: run a job on
    both and compare the bytes to find what it left to chance. Each of `CHANCE_LANES` has a hash seed and a heap that no
    other has.
    """

    def __init__(self, backend: Backend, *, lane_count: int = 2, lease_count_max: int = 1000) -> None:
        """Prepare a pool; workers start when it is entered.

        Args:
            backend: From `open_backend`; the pool closes it.
            lane_count: Warm workers, 1 to 64. One a core is enough.
            lease_count_max: Jobs after which a worker is replaced: what it gathers over time ends with it. A start
                costs as much as sixty families; at 200 jobs that was a seventh of a whole catalog, and in 10,000 jobs
                a worker gathers nothing that shows.
        """
        if not 1 <= lane_count <= 64:
            raise ValueError(f"lane_count must be 1 to 64, not {lane_count}")
        self.lane_count = lane_count
        self._lease_count_max = lease_count_max
        self._backend = backend
        self._sessions: dict[int, Session] = {}
        self._successors: dict[int, Future[Session]] = {}
        self._starters = ThreadPoolExecutor(lane_count, thread_name_prefix="sandbox-start")
        self._free = {*range(lane_count), *CHANCE_LANES}
        self._changed = threading.Condition()
        self._identity: BackendIdentity | None = None
        self._is_closed = False
        self._closing = threading.Lock()

    @property
    def identity(self) -> BackendIdentity:
        """Return what a certificate freezes about this sandbox.

        Raises:
            RuntimeError: If the pool was not entered: a worker must have said what it is.
        """
        if self._identity is None:
            raise RuntimeError("a sandbox pool has an identity once it is entered")
        return self._identity

    def __enter__(self) -> Self:
        """Start every lane.

        Raises:
            SandboxFault: If one does not start.
        """
        try:
            list(self._starters.map(self._session, range(self.lane_count)))
        except BaseException as error:
            self.close()
            if isinstance(error, LaneError):
                raise SandboxFault(str(error)) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Destroy every worker."""
        self.close()

    def close(self) -> None:
        """Destroy every worker, and return when all are gone; a job that still runs ends in SandboxFault.

        Safe to call twice, and from any thread while others run jobs.
        """
        self._is_closed = True
        with self._closing:
            # Side by side: a daemon takes a while for each, and whoever interrupted a command waits for all of them.
            lanes = [*range(self.lane_count), *CHANCE_LANES]
            with ThreadPoolExecutor(len(lanes), thread_name_prefix="sandbox-end") as enders:
                list(enders.map(self._discard, lanes))
            self._starters.shutdown(cancel_futures=True)
            for successor in self._successors.values():
                if not successor.cancelled() and successor.exception() is None:
                    successor.result().close()
            self._successors.clear()
            self._backend.close()

    def run(self, job: Job, *, lane: int | None = None) -> JobResult:
        """Run every program of a job on every fixture.

        Args:
            job: One family.
            lane: Lane to wait for, from 0 or of `CHANCE_LANES`; any free one of the first kind or the second if None.

        Returns:
            Executions as `[program][fixture]`. A program that fails, loops or attacks is a result.

        Raises:
            SandboxFault: If the job failed three times for reasons of ours, each in a fresh lane.
            ValueError: If the job is not well formed, or there is no such lane.
        """
        _check_job(job)
        with self._lease(lane) as leased:
            for attempt in range(1, _ATTEMPT_COUNT_MAX + 1):
                try:
                    return self._session(leased).run(job)
                except LaneError as error:
                    self._discard(leased)
                    if attempt == _ATTEMPT_COUNT_MAX:
                        raise SandboxFault(str(error)) from error
                except BaseException:
                    # Interrupted in the middle of a conversation: what comes next on this lane is anybody's guess.
                    self._discard(leased)
                    raise
        raise AssertionError("unreachable")

    @contextlib.contextmanager
    def _lease(self, lane: int | None) -> Iterator[int]:
        if lane is not None and not 0 <= lane < self.lane_count and lane not in CHANCE_LANES:
            raise ValueError(f"lane {lane} does not exist; there are {self.lane_count}")
        with self._changed:
            self._changed.wait_for(lambda: bool(self._free_of(lane)))
            leased = self._free_of(lane)[0]
            self._free.remove(leased)
        try:
            yield leased
            self._retire(leased)
        finally:
            with self._changed:
                self._free.add(leased)
                self._changed.notify_all()

    def _free_of(self, lane: int | None) -> list[int]:
        wanted = range(self.lane_count) if lane is None else (lane,)
        return [each for each in wanted if each in self._free]

    def _session(self, lane: int) -> Session:
        """Return the lane's session; if there is none, the successor that waits, or a new one."""
        session = self._sessions.get(lane)
        if session is None:
            session = self._sessions[lane] = self._succeed(lane) or self._start(lane)
        return session

    def _succeed(self, lane: int) -> Session | None:
        """Return the lane's successor, unless there is none or it did not start: no job had asked for it."""
        successor = self._successors.pop(lane, None)
        if successor is None:
            return None
        with contextlib.suppress(Exception):
            return successor.result()
        return None

    def _start(self, lane: int) -> Session:
        if self._is_closed:
            raise LaneError("the pool is closed")
        kind = CHANCE_LANES.index(lane) + 2 if lane in CHANCE_LANES else lane % 2
        session = Session(self._backend.start_lane(LaneSettings.of(kind)))
        try:
            self._check_identity(session)
            if self._is_closed:
                raise LaneError("the pool is closed")
        except BaseException:
            session.close()
            raise
        return session

    def _check_identity(self, session: Session) -> None:
        identity = BackendIdentity(
            backend=self._backend.name,
            runtime=self._backend.runtime,
            image_digest=self._backend.image_digest,
            worker_digest=worker_digest(),
            facts=session.facts,
            limits=Limits(),
        )
        with self._changed:
            self._identity = self._identity or identity
        if identity != self._identity:
            raise LaneError("a worker differs from the first of its pool")

    def _retire(self, lane: int) -> None:
        """Replace a worker that served long enough, or whose program forged something."""
        session = self._sessions.get(lane)
        if session is None or self._is_closed:
            return
        if session.is_suspect or session.lease_count >= self._lease_count_max:
            self._discard(lane)
        elif session.lease_count >= _SUCCESSOR_SHARE * self._lease_count_max and lane not in self._successors:
            self._successors[lane] = self._starters.submit(self._start, lane)

    def _discard(self, lane: int) -> None:
        session = self._sessions.pop(lane, None)
        if session is not None:
            session.close()


def _check_job(job: Job) -> None:
    """Refuse what no honest server sends: inside, it would look like a failure of the program or cost the lane.

    Raises:
        ValueError: If a fixture does not parse, a program is no Unicode text, or the domain does not exist.
    """
    for number, program in enumerate(job.programs):
        if any("\ud800" <= letter <= "\udfff" for letter in program):
            raise ValueError(f"program {number} of a {job.domain} job holds a lone surrogate")
    for number, fixture in enumerate(job.fixtures):
        if ProgramDomain(job.domain) is ProgramDomain.SQL:
            is_sound = fixture.startswith(_SQLITE_MAGIC)
        else:
            is_sound = _is_json(fixture)
        if not is_sound:
            raise ValueError(f"fixture {number} of a {job.domain} job does not parse")


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
