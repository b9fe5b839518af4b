"""PID 1 of a sandbox: takes jobs, forks a process for their programs, and leaves nothing behind.

It never holds a payload. A job is spliced from standard input into a sealed memory file, which only the children read;
a result goes from the child's memory file to standard output inside the kernel. What it knows of a program is how its
process ended, which the kernel says.

A Python program has a process of its own, because it owns the interpreter that runs it. The SQL statements of a family
share one: a statement only reads, and what it can do wrong ends its process. If that happens, or if one of them ran
into a limit that the others would feel, none of it counts, and each runs in a process of its own.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sqlite3
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from leakscale_sandbox.confinement import Confinement
from leakscale_sandbox.kernel_clock import RunningClock
from leakscale_sandbox.python_runner import Record, run_python
from leakscale_sandbox.sql_runner import RowOrders, run_sql
from leakscale_sandbox.verdicts import Limits, Verdict
from leakscale_sandbox.wire import (
    JOB_HEADER,
    PART_LENGTH,
    RESULT_BYTES_MAX,
    DomainCode,
    Ending,
    JobHeader,
    ResultHeader,
    WireError,
    encode_record,
)

__all__ = ["Supervisor"]

_STDIN, _STDOUT = 0, 1
_F_ADD_SEALS = 1033
_SEAL_ALL = 0x1 | 0x2 | 0x4 | 0x8  # no more seals, no shrinking, no growing, no writing
_REAP_ROUNDS_MAX = 1000
_REAP_PAUSE_S = 0.001
_ANSWER_BYTES_HELD_MAX = 1 << 20
_APART = 3
"""Exit status of a process whose programs must run apart."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Where one fixture or program lies in the job's memory file."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class _Payload:
    """A job's memory file and what lies where in it."""

    descriptor: int
    fixtures: tuple[_Part, ...]
    programs: tuple[_Part, ...]

    def read(self, part: _Part) -> bytes:
        """Read a part; for the children only."""
        return os.pread(self.descriptor, part.length, part.offset)


class Supervisor:
    """Serves jobs until standard input ends."""

    def __init__(
        self,
        *,
        connection: sqlite3.Connection,
        row_orders: RowOrders,
        confinement: Confinement,
        clock: RunningClock,
    ) -> None:
        self._connection = connection
        self._row_orders = row_orders
        self._confinement = confinement
        self._clock = clock

    def serve(self) -> None:
        """Answer jobs, one at a time. Returns when the server closes its end, killed servers included.

        Raises:
            WireError: If the server breaks the protocol; the worker must end.
        """
        while header := _read_header():
            payload = _receive_payload(header)
            answer = _Answer()
            self._run_job(header, payload, answer)
            answer.send()
            os.close(payload.descriptor)

    def _run_job(self, header: JobHeader, payload: _Payload, answer: _Answer) -> None:
        slots = range(header.program_count)
        if (
            header.domain is DomainCode.SQL
            and len(slots) > 1
            and self._run_process(header, payload, slots, answer) is Ending.EXITED
        ):
            return
        for slot in slots:
            self._run_process(header, payload, slots[slot : slot + 1], answer)

    def _run_process(self, header: JobHeader, payload: _Payload, slots: range, answer: _Answer) -> Ending:
        """Run programs in one process; several answer only if it ended well."""
        output = os.memfd_create("result", os.MFD_CLOEXEC)
        started = self._clock.read_s()
        pid = os.fork()
        if pid == 0:
            self._be_the_process(header, payload, slots, output)
        has_ended = _wait(pid, header.limits.wall_time_s_max)
        # Everything in this PID namespace but PID 1 dies here, whatever it forked, ignored or traced.
        _kill_all()
        _, status, usage = os.wait4(pid, 0)
        _reap_all()
        wall_time_s = self._clock.read_s() - started
        cpu_time_s = usage.ru_utime + usage.ru_stime
        body_bytes = os.fstat(output).st_size
        ending, code = _judge(status, has_ended, cpu_time_s, body_bytes, header.limits)
        if ending is Ending.EXITED or len(slots) == 1:
            result = ResultHeader(
                ending,
                code,
                slots.start,
                len(slots),
                header.sequence,
                body_bytes if ending is Ending.EXITED else 0,
                int(wall_time_s * 1e6),
                int(cpu_time_s * 1e6),
                usage.ru_maxrss,
            )
            answer.add(result, output)
        os.close(output)
        return ending

    def _be_the_process(self, header: JobHeader, payload: _Payload, slots: range, output: int) -> None:
        """Become the programs' process. Never returns: whatever happens, this process must not reach the loop above."""
        try:
            self._confinement.apply(header.limits, kept=(payload.descriptor, output))
            sources = [payload.read(payload.programs[slot]).decode() for slot in slots]
            fixtures = [payload.read(part) for part in payload.fixtures]
            # The other programs of the family stay out of reach from here on.
            os.close(payload.descriptor)
            if header.domain is DomainCode.SQL:
                records = run_sql(
                    self._connection,
                    sources,
                    fixtures,
                    ordered=header.is_ordered,
                    limits=header.limits,
                    row_orders=self._row_orders,
                )
            else:
                records = list(run_python(sources[0], fixtures, header.limits))
            if len(slots) > 1 and _must_run_apart(records):
                os._exit(_APART)
            os.pwrite(output, _bounded(records), 0)
            os._exit(0)
        finally:
            os._exit(1)


class _Answer:
    """The frames of one job, gathered in a memory file and sent as one: a wake-up less for each on the way."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("answer", os.MFD_CLOEXEC)

    def add(self, header: ResultHeader, body: int) -> None:
        """Append a frame; its body moves inside the kernel, its bytes never enter this process."""
        os.write(self._descriptor, header.pack())
        _copy(body, self._descriptor, header.body_bytes)
        if self._byte_count > _ANSWER_BYTES_HELD_MAX:
            self._flush()

    def send(self) -> None:
        """Send what is left and end."""
        self._flush()
        os.close(self._descriptor)

    @property
    def _byte_count(self) -> int:
        return os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def _flush(self) -> None:
        _copy(self._descriptor, _STDOUT, self._byte_count)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.ftruncate(self._descriptor, 0)


def _must_run_apart(records: Sequence[Record]) -> bool:
    """Tell whether one program may have left less memory, or less room in the frame, to another."""
    byte_count = sum(len(body) for _, body in records) + 64 * len(records)
    return byte_count > RESULT_BYTES_MAX or any(verdict is Verdict.MEMORY_LIMIT for verdict, _ in records)


def _bounded(records: Sequence[Record]) -> bytes:
    """Join records into one body; a value that no longer fits the frame becomes OUTPUT_LIMIT, the rest stays."""
    parts: list[bytes] = []
    bytes_left = RESULT_BYTES_MAX
    for verdict, body in records:
        record = encode_record(verdict, body)
        if len(record) > bytes_left - 64 * (len(records) - len(parts)):
            record = encode_record(Verdict.OUTPUT_LIMIT, b"all values together")
        bytes_left -= len(record)
        parts.append(record)
    return b"".join(parts)


def _judge(status: int, has_ended: bool, cpu_time_s: float, body_bytes: int, limits: Limits) -> tuple[Ending, int]:
    """Say how a process ended from what the kernel knows of it; the process itself has no say."""
    if not has_ended:
        return Ending.TIMED_OUT, 0
    if os.WIFSIGNALED(status):
        return _judge_signal(os.WTERMSIG(status), cpu_time_s, limits)
    if os.WEXITSTATUS(status):
        return Ending.FAILED, os.WEXITSTATUS(status)
    if body_bytes > RESULT_BYTES_MAX:
        return Ending.OUTPUT_EXCEEDED, 0
    return Ending.EXITED, 0


def _judge_signal(number: int, cpu_time_s: float, limits: Limits) -> tuple[Ending, int]:
    # A program cannot send SIGKILL: it comes from the CPU limit or from the kernel out of memory.
    if number == signal.SIGXCPU or (number == signal.SIGKILL and cpu_time_s >= limits.cpu_time_s_max):
        return Ending.CPU_EXCEEDED, number
    if number == signal.SIGKILL:
        return Ending.MEMORY_EXCEEDED, number
    return Ending.SIGNALED, number


def _wait(pid: int, seconds: float) -> bool:
    """Wait for a child to end, without reaping it; return whether it did in time."""
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def _kill_all() -> None:
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reap_all() -> None:
    """Kill and reap until the kernel says that no child is left.

    Raises:
        RuntimeError: If something cannot be killed; the worker must end and take it along.
    """
    for _ in range(_REAP_ROUNDS_MAX):
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            _kill_all()
            time.sleep(_REAP_PAUSE_S)
    raise RuntimeError("a process survives SIGKILL")


def _read_header() -> JobHeader | None:
    """Return the next job's header, or None at the end of standard input."""
    data = b""
    while len(data) < JOB_HEADER.size:
        piece = os.read(_STDIN, JOB_HEADER.size - len(data))
        if not piece:
            return None
        data += piece
    return JobHeader.unpack(data)


def _receive_payload(header: JobHeader) -> _Payload:
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    left = header.payload_bytes
    while left:
        moved = os.splice(_STDIN, descriptor, left)
        if not moved:
            raise WireError("a job is cut short")
        left -= moved
    fcntl.fcntl(descriptor, _F_ADD_SEALS, _SEAL_ALL)
    parts = _locate_parts(descriptor, header)
    return _Payload(descriptor, tuple(parts[: header.fixture_count]), tuple(parts[header.fixture_count :]))


def _locate_parts(descriptor: int, header: JobHeader) -> list[_Part]:
    parts: list[_Part] = []
    at = 0
    for _ in range(header.fixture_count + header.program_count):
        try:
            (length,) = PART_LENGTH.unpack(os.pread(descriptor, PART_LENGTH.size, at))
        except struct.error:
            raise WireError("a part has no length") from None
        at += PART_LENGTH.size
        parts.append(_Part(at, length))
        at += length
    if at != header.payload_bytes:
        raise WireError("the parts do not fill the job")
    return parts


def _copy(source: int, target: int, byte_count: int) -> None:
    """Append the first bytes of a memory file to another descriptor inside the kernel."""
    sent = 0
    while sent < byte_count:
        sent += os.sendfile(target, source, sent, byte_count - sent)
