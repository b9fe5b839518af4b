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
import struct
import time
from dataclasses import dataclass

from leakscale_sandbox.kernel_clock import RunningClock
from leakscale_sandbox.task import Part, Task
from leakscale_sandbox.verdicts import Limits
from leakscale_sandbox.wire import (
    JOB_HEADER,
    PART_LENGTH,
    RESULT_BYTES_MAX,
    DomainCode,
    Ending,
    JobHeader,
    ResultHeader,
    WireError,
)

__all__ = ["Forked", "Supervisor"]

_STDIN, _STDOUT = 0, 1
_F_ADD_SEALS = 1033
_SEAL_ALL = 0x1 | 0x2 | 0x4 | 0x8  # no more seals, no shrinking, no growing, no writing
_REAP_ROUNDS_MAX = 1000
_REAP_PAUSE_S = 0.001
_ANSWER_BYTES_HELD_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class _Payload:
    """A job's memory file and what lies where in it."""

    descriptor: int
    fixtures: tuple[Part, ...]
    programs: tuple[Part, ...]


class Supervisor:
    """Serves jobs until standard input ends."""

    def __init__(self, clock: RunningClock) -> None:
        self._clock = clock

    def serve(self) -> None:
        """Answer jobs, one at a time. Returns when the server closes its end, killed servers included.

        Raises:
            Forked: In each child, with the task that it must run instead of whatever this process does.
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
        pid = os.fork()
        if pid == 0:
            raise Forked(_task(header, payload, slots, output))
        # After the fork: no child may hold what a clock told.
        started = self._clock.read_s()
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


class Forked(BaseException):
    """Raised in a child, so that it leaves every frame of the supervisor and all that they hold."""

    def __init__(self, task: Task) -> None:
        self.task = task


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


def _task(header: JobHeader, payload: _Payload, slots: range, output: int) -> Task:
    """Return what the child needs of a job: no number of it, and nothing of the programs that it does not run."""
    return Task(
        domain=header.domain,
        is_ordered=header.is_ordered,
        limits=header.limits,
        payload=payload.descriptor,
        fixtures=payload.fixtures,
        programs=payload.programs[slots.start : slots.stop],
        output=output,
    )


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


def _locate_parts(descriptor: int, header: JobHeader) -> list[Part]:
    parts: list[Part] = []
    at = 0
    for _ in range(header.fixture_count + header.program_count):
        try:
            (length,) = PART_LENGTH.unpack(os.pread(descriptor, PART_LENGTH.size, at))
        except struct.error:
            raise WireError("a part has no length") from None
        at += PART_LENGTH.size
        parts.append(Part(at, length))
        at += length
    if at != header.payload_bytes:
        raise WireError("the parts do not fill the job")
    return parts


def _copy(source: int, target: int, byte_count: int) -> None:
    """Append the first bytes of a memory file to another descriptor inside the kernel."""
    sent = 0
    while sent < byte_count:
        sent += os.sendfile(target, source, sent, byte_count - sent)
