"""One bomb a limit, as data. How each ends proves that it ran; where its limit is missing, it does little harm."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from leakscale_sandbox.canonical_reader import canonical_text
from leakscale_server.sandbox_pool import Execution, Job, Limits, ProgramDomain, Verdict

__all__ = ["BOMBS", "HONEST", "Bomb"]

Expectation = Callable[[Execution], bool]
"""Whether an execution ended as it must."""


@dataclass(frozen=True, slots=True)
class Bomb:
    """A program that goes against one limit."""

    limit: str
    """Name of the limit, for people."""
    attempt: str
    """What the program tries."""
    program: str
    must_end: Expectation
    domain: ProgramDomain = ProgramDomain.PYTHON
    limits: Limits = field(default_factory=lambda: Limits(wall_time_s_max=10, cpu_time_s_max=5))
    is_quick: bool = True
    """Whether a server tries it at each start."""
    needs_container: bool = False
    """Whether only a container has this limit; a jail has those of its one process."""

    def is_promised_by(self, backend: str) -> bool:
        """Return whether a backend claims to contain this bomb."""
        return backend == "docker" or not self.needs_container

    @property
    def job(self) -> Job:
        """Return the bomb as a job."""
        is_sql = self.domain is ProgramDomain.SQL
        return Job(self.domain, (self.program,), (_database() if is_sql else b"[1, 2, 3]",), limits=self.limits)


@cache
def _database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)")
    serialized = connection.serialize()
    connection.close()
    return serialized


def _ends(verdict: Verdict, *details: str) -> Expectation:
    """Expect a verdict, and one of these details if there are any."""
    return lambda one: one.verdict is verdict and (not details or one.detail in details)


def _returns(text: str) -> Expectation:
    return lambda one: one.verdict is Verdict.RETURNED and canonical_text(one.output) == text


def _transform(body: str) -> str:
    return "def transform(records):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def _system_call(number_x86: int, number_arm: int, arguments: str) -> str:
    """Return a program that makes one raw system call; it comes back only if the filter lets it through."""
    # The image is made of this interpreter, so what is inside has this machine's numbers too.
    number = number_x86 if os.uname().machine == "x86_64" else number_arm
    return _transform(f"import ctypes\nreturn ctypes.CDLL(None).syscall({number}, {arguments})")


def _opens(*attempts: tuple[str, str]) -> str:
    """Return a program that counts the files it could open, among those it tried."""
    return _transform(
        "opened = 0\n"
        f"for path, mode in {attempts!r}:\n"
        "    try:\n        open(path, mode)\n        opened += 1\n    except OSError:\n        pass\n"
        "return [opened, records]"
    )


def _endless(query: str) -> str:
    """Return a statement whose query reads from a table `r(x)` without end."""
    return f"WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) {query}"  # noqa: S608


_SIGNAL_OF_THE_FILTER: Final = _ends(Verdict.KILLED, "SIGSYS")
_SQL: Final = ProgramDomain.SQL

HONEST: Final = (
    Bomb("honest Python", "add three numbers", _transform("return sum(records)"), _returns("6")),
    Bomb(
        "honest SQL",
        "add three numbers",
        "SELECT sum(id) AS n FROM t",
        _returns('{"columns":["n"],"rows":[[6]]}'),
        domain=_SQL,
    ),
)
"""Must give the right value before and after all bombs."""

BOMBS: Final = (
    Bomb(
        "CPU time",
        "loop for ever, 1 s allowed",
        _transform("while True: pass"),
        _ends(Verdict.CPU_LIMIT),
        limits=Limits(wall_time_s_max=15, cpu_time_s_max=1),
        is_quick=False,  # the kernel counts whole seconds
    ),
    Bomb(
        "wall-clock time",
        "sleep for a minute, 0.1 s allowed",
        _transform("import time\ntime.sleep(60)"),
        _ends(Verdict.TIMEOUT),
        limits=Limits(wall_time_s_max=0.1),
    ),
    Bomb(
        "memory of a program",
        "allocate 1 GiB",
        _transform("return len(bytearray(1 << 30))"),
        _ends(Verdict.MEMORY_LIMIT, "address space"),
    ),
    Bomb(
        "memory of the container",
        "touch 768 MiB, more than the container has",
        _transform("a = bytearray(768 << 20)\na[::4096] = bytes(len(a) // 4096)\nreturn len(a)"),
        _ends(Verdict.MEMORY_LIMIT, "memory of the sandbox"),
        limits=Limits(wall_time_s_max=20, memory_bytes_max=1 << 30),
        is_quick=False,
        needs_container=True,
    ),
    Bomb("processes", "fork", _transform("import os\nos.fork()\nreturn 1"), _SIGNAL_OF_THE_FILTER),
    Bomb("programs", "execute another one", _transform("import os\nos.execv('/x', ['x'])"), _SIGNAL_OF_THE_FILTER),
    Bomb("signals", "kill PID 1", _transform("import os\nos.kill(1, 9)"), _SIGNAL_OF_THE_FILTER),
    Bomb("sockets", "open an Internet socket", _system_call(41, 198, "2, 1, 0"), _SIGNAL_OF_THE_FILTER),
    Bomb("UNIX sockets", "open a UNIX socket", _system_call(41, 198, "1, 1, 0"), _SIGNAL_OF_THE_FILTER),
    Bomb("tracing", "trace PID 1", _system_call(101, 117, "16, 1, 0, 0"), _SIGNAL_OF_THE_FILTER),
    Bomb(
        "files",
        "read and write files",
        _opens(("/etc/passwd", "r"), ("/tmp/x", "w"), ("/x", "w"), ("/dev/shm/x", "w"), ("/dev/null", "rb")),  # noqa: S108
        _returns("[0,[1,2,3]]"),
    ),
    Bomb(
        "/proc",
        "open memory and environment",
        _opens(("/proc/1/mem", "rb"), ("/proc/self/mem", "r+b"), ("/proc/1/environ", "rb"), ("/proc/self/fd/3", "rb")),
        _returns("[0,[1,2,3]]"),
    ),
    Bomb(
        "output",
        "return 300 kB, 256 KiB allowed",
        _transform("return 'x' * 300_000"),
        _ends(Verdict.OUTPUT_LIMIT, "bytes"),
    ),
    Bomb(
        "result file",
        "write more than a frame holds",
        _transform(
            "import os\nfor fd in range(3, 64):\n    try:\n        for _ in range(4): os.write(fd, bytes(1 << 20))\n"
            "    except OSError: pass\nos._exit(0)"
        ),
        _ends(Verdict.OUTPUT_LIMIT, "result frame"),
    ),
    Bomb(
        "clocks",
        "measure how long a loop takes",
        _transform("import time\nstart = time.perf_counter()\nsum(range(10**5))\nreturn time.perf_counter() > start"),
        # Stopped or refused: either way a program learns nothing about load.
        lambda one: one.verdict is not Verdict.RETURNED or _returns("false")(one),
    ),
    Bomb(
        "SQL work budget",
        "recurse for ever, 1 M steps allowed",
        _endless("SELECT max(x) FROM r"),
        _ends(Verdict.WORK_BUDGET),
        domain=_SQL,
        limits=Limits(wall_time_s_max=10, cpu_time_s_max=5, work_steps_max=1_000_000),
    ),
    Bomb(
        "SQL rows",
        "return rows for ever",
        _endless("SELECT x FROM r"),
        _ends(Verdict.OUTPUT_LIMIT, "rows"),
        domain=_SQL,
    ),
    Bomb(
        "SQL heap",
        "sort long texts for ever",
        _endless("SELECT x FROM r ORDER BY replace(hex(x), '3', hex(hex(hex(hex(hex(hex('0123456789abcdef')))))))"),
        _ends(Verdict.MEMORY_LIMIT, "SQLite heap"),
        domain=_SQL,
        limits=Limits(work_steps_max=2**31 - 1),
    ),
    Bomb(
        "SQL statements",
        "attach a file",
        "ATTACH '/etc/passwd' AS z",
        _ends(Verdict.EXCEPTION, "StatementRefusedError"),
        domain=_SQL,
    ),
    Bomb(
        "SQL functions",
        "pad a text to 1 GB",
        "SELECT printf('%.*c', 1000000000, 'x')",
        _ends(Verdict.EXCEPTION, "DatabaseError", "OperationalError"),
        domain=_SQL,
    ),
)
"""Every limit that a program could run against."""
