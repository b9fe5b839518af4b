"""Speak with one warm worker: one job, its results, then silence.

The worker forks hostile programs, so every byte from it is checked: magic, sequence, slot, sizes, record counts, and
that a returned value is canonical. A malformed *frame* is a fault of the lane. A malformed *body* is the doing of the
program that wrote it, and its verdict is KILLED.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from leakscale_sandbox.canonical_reader import NotCanonicalError, decode_value
from leakscale_sandbox.verdicts import RECORD_DETAILS
from leakscale_sandbox.wire import (
    GREETING_HEADER,
    PROTOCOL_VERSION,
    RESULT_HEADER,
    DomainCode,
    Ending,
    ResultHeader,
    WireError,
    decode_records,
    encode_job,
    greeting_size,
)
from leakscale_server.sandbox_pool.contract import Execution, ProgramDomain, Verdict, WorkerFacts
from leakscale_server.sandbox_pool.lanes import LaneError
from leakscale_server.sandbox_pool.statement_errors import is_about_statement

if TYPE_CHECKING:
    from leakscale_server.sandbox_pool.contract import Channel, Job, JobResult

__all__ = ["Session"]

_START_S_MAX = 60.0
_SEND_S_MAX = 30.0
# On top of a program's own time: PID 1 reaps, and the host may be busy.
_GRACE_S = 15.0
_CACHED_BYTES_MAX = 4096
_DOMAIN_CODES = {ProgramDomain.SQL: DomainCode.SQL, ProgramDomain.PYTHON: DomainCode.PYTHON}
_ENDINGS = {
    Ending.TIMED_OUT: (Verdict.TIMEOUT, "wall-clock time"),
    Ending.CPU_EXCEEDED: (Verdict.CPU_LIMIT, "CPU time"),
    Ending.MEMORY_EXCEEDED: (Verdict.MEMORY_LIMIT, "memory of the sandbox"),
    Ending.OUTPUT_EXCEEDED: (Verdict.OUTPUT_LIMIT, "result frame"),
}
_Details = Mapping[Verdict, frozenset[str]]
"""What a program's own record may say beside each verdict."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of the programs of one process, and whether one of them forged something."""

    executions: JobResult
    is_forged: bool = False


class Session:
    """A conversation with one worker, from its greeting to its end."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._sequence = 0
        self.lease_count = 0
        self.is_suspect = False
        """Whether a program of an earlier job forged bytes; the lane must not serve another job."""
        try:
            self.facts = self._greet()
        except BaseException:
            channel.close()
            raise

    def run(self, job: Job) -> JobResult:
        """Run a job.

        Raises:
            LaneError: If the worker dies, stalls or breaks the protocol. The session is of no use afterwards.
            WireError: If the job does not fit a frame; nothing was sent.
        """
        self._sequence += 1
        self.lease_count += 1
        frame = encode_job(
            job.fixtures,
            [program.encode() for program in job.programs],
            sequence=self._sequence,
            domain=_DOMAIN_CODES[ProgramDomain(job.domain)],
            is_ordered=job.ordered,
            limits=job.limits,
        )
        if self._channel.has_pending():
            raise LaneError("the worker spoke out of turn")
        self._channel.send(frame, deadline=time.monotonic() + _SEND_S_MAX)
        results: list[tuple[Execution, ...]] = []
        while len(results) < len(job.programs):
            outcome = self._receive(job, len(results))
            self.is_suspect |= outcome.is_forged
            results += outcome.executions
        return tuple(results)

    def close(self) -> None:
        """Destroy the worker."""
        self._channel.close()

    def _greet(self) -> WorkerFacts:
        deadline = time.monotonic() + _START_S_MAX
        try:
            size = greeting_size(self._channel.receive(GREETING_HEADER.size, deadline=deadline))
            told = json.loads(self._channel.receive(size, deadline=deadline))
            told["sqlite_compile_options"] = tuple(told["sqlite_compile_options"])
            self._details = {**RECORD_DETAILS, Verdict.EXCEPTION: frozenset(told.pop("exception_names"))}
            facts = WorkerFacts(**told)
        except (WireError, ValueError, TypeError, KeyError) as error:
            raise LaneError(f"the worker's greeting does not parse: {error}") from error
        if facts.protocol_version != PROTOCOL_VERSION:
            raise LaneError(f"the worker speaks protocol {facts.protocol_version}, not {PROTOCOL_VERSION}")
        return facts

    def _receive(self, job: Job, slot: int) -> _Outcome:
        # The worker may hold the frames of a whole job, in which the programs first ran together and then apart.
        process_count_max = len(job.programs) - slot + 1
        deadline = time.monotonic() + process_count_max * job.limits.wall_time_s_max + _GRACE_S
        try:
            header = ResultHeader.unpack(self._channel.receive(RESULT_HEADER.size, deadline=deadline))
        except WireError as error:
            raise LaneError(str(error)) from error
        if (header.sequence, header.slot) != (self._sequence, slot):
            raise LaneError("a result answers another job or program")
        programs = job.programs[slot : slot + header.program_count]
        if len(programs) < header.program_count or (len(programs) > 1 and not _may_share(job, header)):
            raise LaneError("a result answers programs that have no process together")
        if header.ending is not Ending.EXITED and header.body_bytes:
            raise LaneError("a program that did not end well has a body")
        body = self._channel.receive(header.body_bytes, deadline=deadline)
        is_sql = ProgramDomain(job.domain) is ProgramDomain.SQL
        return _outcome(header, body, len(job.fixtures), self._details, programs if is_sql else (None,))


def _may_share(job: Job, header: ResultHeader) -> bool:
    return ProgramDomain(job.domain) is ProgramDomain.SQL and header.ending is Ending.EXITED


def _outcome(
    header: ResultHeader, body: bytes, fixture_count: int, details: _Details, statements: Sequence[str | None]
) -> _Outcome:
    times = (header.cpu_time_us / 1e6, header.wall_time_us / 1e6)

    def all_alike(verdict: Verdict, detail: str, *, is_forged: bool = False) -> _Outcome:
        execution = Execution(verdict, b"", detail, *times)
        return _Outcome(((execution,) * fixture_count,) * len(statements), is_forged)

    if header.ending is not Ending.EXITED:
        return all_alike(*_ENDINGS.get(header.ending, (Verdict.KILLED, _death(header))))
    if not body:
        return all_alike(Verdict.KILLED, "exit without a result")
    try:
        records = iter(decode_records(body, record_count=fixture_count * len(statements)))
        return _Outcome(
            tuple(
                tuple(_execution(*record, details, times, statement) for record in islice(records, fixture_count))
                for statement in statements
            )
        )
    except (WireError, NotCanonicalError):
        return all_alike(Verdict.KILLED, "forged result", is_forged=True)


def _execution(
    verdict: Verdict, written: bytes, details: _Details, times: tuple[float, float], statement: str | None
) -> Execution:
    if verdict is Verdict.RETURNED:
        _check_canonical(written)
        return Execution(verdict, written, "", *times)
    detail, message = written.decode("ascii", errors="replace"), ""
    if statement is not None and verdict is Verdict.EXCEPTION:
        detail, _, message = detail.partition(": ")
    if detail not in details.get(verdict, ()):
        raise WireError("a detail that no runner writes")
    if statement is None or not is_about_statement(message, statement):
        message = ""
    return Execution(verdict, b"", detail, *times, message=message)


def _check_canonical(written: bytes) -> None:
    """Refuse bytes that only a forger writes."""
    if len(written) <= _CACHED_BYTES_MAX:
        _check_small(written)
    else:
        decode_value(written)


@lru_cache(maxsize=4096)
def _check_small(written: bytes) -> None:
    """Check a value once: programs of a family agree on most fixtures."""
    decode_value(written)


def _death(header: ResultHeader) -> str:
    if header.ending is Ending.FAILED:
        return f"exit status {header.code}"
    try:
        return signal.Signals(header.code).name
    except ValueError:
        return f"signal {header.code}"
