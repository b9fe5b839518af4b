"""What every backend must do with a program, as data: one list, run on each.

An attack carries its own evidence: it either returns what it saw, or its verdict can only come from having run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from leakscale_server.sandbox_pool import Limits, Verdict

from .helpers import AN_ARGUMENT

__all__ = ["PYTHON_CASES", "SQL_CASES", "Case"]

_UNSET = object()


@dataclass(frozen=True, slots=True)
class Case:
    """One program on one fixture, and how it must end."""

    name: str
    program: str
    verdict: Verdict = Verdict.RETURNED
    detail: str = ""
    value: object = _UNSET
    """Expected value when RETURNED."""
    limits: Limits = field(default_factory=Limits)
    fixture: bytes | None = None
    ordered: bool = True

    def __str__(self) -> str:
        """Return the test's id."""
        return self.name


def returns(name: str, body: str, value: object) -> Case:
    return Case(name, transform(body), value=value)


def ends(name: str, body: str, verdict: Verdict, detail: str, **limits: float) -> Case:
    return Case(name, transform(body), verdict, detail, limits=Limits(**limits))  # type: ignore[arg-type]


def transform(body: str) -> str:
    """Return a program whose `transform` has this body; imports may stand in it."""
    return "def transform(records):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def syscall(number_x86: int, number_arm: int, *arguments: str) -> str:
    """Return a body that makes one raw system call; it can only come back if the filter let it through."""
    joined = "".join(f", {argument}" for argument in arguments)
    return (
        "import ctypes, sys\n"
        f"number = {number_x86} if sys.implementation._multiarch.startswith('x86_64') else {number_arm}\n"
        f"return ['came back', ctypes.CDLL(None).syscall(number{joined})]"
    )


# Tries each, and returns what came of it: proof that the attempt was made.
_TRY_OPEN = """
def attempt(path, mode):
    try:
        with open(path, mode) as file:
            return "opened"
    except Exception as error:
        return type(error).__name__
return [attempt(path, mode) for path, mode in {attempts}]
"""

_PERMISSION = "PermissionError"
_READS = [("/etc/passwd", "r"), ("/proc/1/environ", "rb"), ("/proc/1/mem", "rb"), ("/proc/self/mem", "r+b")]
_READS += [("/proc/self/fd/3", "rb"), ("/dev/mem", "rb"), ("/usr/local/bin/python3", "rb"), ("/dev/null", "rb")]
_WRITES = [("/tmp/x", "w"), ("/x", "w"), ("/dev/shm/x", "w"), ("/proc/sys/kernel/core_pattern", "w")]

_WRITE_EVERYWHERE = """
import os, struct
frame = struct.pack("<4sBBHIIIII", b"LSR1", 0, 0, 0, 1, 8, 1, 1, 1) + struct.pack("<BBI", 0, 0, 2) + b"\\x01n"
written = []
for descriptor in range(64):
    try:
        os.write(descriptor, frame)
        written.append(descriptor)
    except OSError:
        pass
"""

PYTHON_CASES = [
    # --- values come back as they are
    returns("argument", "return records", AN_ARGUMENT),
    returns("scalars", "return [None, True, 1, -1.5, 'é', -0.0]", [None, True, 1, -1.5, "é", -0.0]),
    returns("containers", "return {'b': (1, [2]), 'a': {}}", {"a": {}, "b": (1, [2])}),
    returns("large integer", "return 2 ** 70", 2**70),
    returns("infinity", "return float('inf')", float("inf")),
    returns(
        "imports", "import collections, datetime, decimal, json, re, statistics\nreturn statistics.mean([1, 3])", 2
    ),
    returns("print", 'print(\'{"verdict": "returned"}\')\nreturn 1', 1),
    returns("strptime", "import datetime\nreturn datetime.datetime.strptime('2020-02-03', '%Y-%m-%d').day", 3),
    # --- exceptions, by class only
    ends("raise", "raise ValueError(str(records))", Verdict.EXCEPTION, "ValueError"),
    ends("own class", "raise type(str(records), (KeyError,), {})()", Verdict.EXCEPTION, "KeyError"),
    ends(
        "metaclass name",
        "class M(type):\n    __name__ = property(lambda c: str(records))\nraise M('E', (OSError,), {})()",
        Verdict.EXCEPTION,
        "OSError",
    ),
    ends("exit", "raise SystemExit(0)", Verdict.EXCEPTION, "SystemExit"),
    ends("interrupt", "raise KeyboardInterrupt", Verdict.EXCEPTION, "KeyboardInterrupt"),
    ends("recursion", "return transform(records)", Verdict.EXCEPTION, "RecursionError"),
    ends("import of a missing module", "import sqlite3.dump, socket", Verdict.EXCEPTION, "ModuleNotFoundError"),
    ends("decimal error", "import decimal\nreturn decimal.Decimal('x')", Verdict.EXCEPTION, "InvalidOperation"),
    Case("syntax error", "def transform(records:", Verdict.EXCEPTION, "SyntaxError"),
    Case("no transform", "x = 1", Verdict.EXCEPTION, "KeyError"),
    Case("null byte", "x = '\0'", Verdict.EXCEPTION, "SyntaxError|ValueError"),
    # --- values without canonical form
    ends("set", "return {1, 2}", Verdict.REFUSED_TYPE, "type"),
    ends("bytes", "return b'x'", Verdict.REFUSED_TYPE, "type"),
    ends("generator", "return (x for x in records)", Verdict.REFUSED_TYPE, "type"),
    ends("nan", "return [float('nan')]", Verdict.REFUSED_TYPE, "nan"),
    ends("surrogate", "return '\\ud800'", Verdict.REFUSED_TYPE, "surrogate"),
    ends("integer keys", "return {1: 2}", Verdict.REFUSED_TYPE, "key"),
    ends("cycle", "a = []\na.append(a)\nreturn a", Verdict.REFUSED_TYPE, "depth"),
    ends("decimal", "import decimal\nreturn decimal.Decimal(1)", Verdict.REFUSED_TYPE, "type"),
    ends(
        "equal to everything",
        "class L(list):\n    def __eq__(self, other): return True\nreturn L()",
        Verdict.REFUSED_TYPE,
        "type",
    ),
    ends("boolean look-alike", "class B(int): pass\nreturn B(1)", Verdict.REFUSED_TYPE, "type"),
    # --- too much
    ends("huge text", "return 'x' * 300_000", Verdict.OUTPUT_LIMIT, "bytes"),
    ends("many nodes", "return [None] * 100_001", Verdict.OUTPUT_LIMIT, "nodes"),
    ends("huge integer", "return 10 ** 5000", Verdict.OUTPUT_LIMIT, "digits"),
    ends("loop", "while True: pass", Verdict.CPU_LIMIT, "CPU time", cpu_time_s_max=1),
    ends(
        "loop that ignores signals",
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass\n"
        "while True: pass",
        Verdict.CPU_LIMIT,
        "CPU time",
        cpu_time_s_max=1,
    ),
    # What it would answer depends on how far this machine comes in a second.
    ends(
        "loop that answers when its time is over",
        "import signal\ndef end(*_): raise InterruptedError\n"
        "try: signal.signal(signal.SIGXCPU, end)\nexcept PermissionError: pass\n"
        "try:\n    while True: pass\nexcept InterruptedError: return 'over'",
        Verdict.CPU_LIMIT,
        "CPU time",
        cpu_time_s_max=1,
    ),
    ends(
        "alarm at the end of its time",
        "import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\nsignal.signal(signal.SIGXCPU, lambda *_: None)",
        Verdict.EXCEPTION,
        "PermissionError",
    ),
    ends(
        "regular expression",
        "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')",
        Verdict.CPU_LIMIT,
        "CPU time",
        cpu_time_s_max=1,
    ),
    ends("power", "return pow(7, 10 ** 9) % 10", Verdict.CPU_LIMIT, "CPU time", cpu_time_s_max=1),
    ends("sleep", "import time\ntime.sleep(60)", Verdict.TIMEOUT, "wall-clock time", wall_time_s_max=0.3),
    ends("memory at once", "return len(bytearray(1 << 30))", Verdict.MEMORY_LIMIT, "address space"),
    ends("memory step by step", "a = [0]\nwhile True: a += a", Verdict.MEMORY_LIMIT, "address space"),
    ends("interpreter fault", "raise SystemError", Verdict.MEMORY_LIMIT, "address space"),
    # --- ending otherwise than by returning
    ends("exit 0 without a result", "import os\nos._exit(0)", Verdict.KILLED, "exit without a result"),
    ends("exit 3", "import os\nos._exit(3)", Verdict.KILLED, "exit status 3"),
    ends("segmentation fault", "import ctypes\nctypes.string_at(0)", Verdict.KILLED, "SIGSEGV"),
    # --- processes and the kernel
    ends("fork bomb", "import os\nwhile True: os.fork()", Verdict.KILLED, "SIGSYS"),
    ends("thread", "import threading\nthreading.Thread(target=print).start()", Verdict.KILLED, "SIGSYS"),
    ends("kill PID 1", "import os\nos.kill(1, 9)", Verdict.KILLED, "SIGSYS"),
    ends("kill all", "import os\nos.kill(-1, 9)", Verdict.KILLED, "SIGSYS"),
    ends("stop itself", "import os\nos.kill(os.getpid(), 19)", Verdict.KILLED, "SIGSYS"),
    ends("exec", "import os\nos.execv('/usr/local/bin/python3', ['python3'])", Verdict.KILLED, "SIGSYS"),
    ends("ptrace", syscall(101, 117, "16", "1", "0", "0"), Verdict.KILLED, "SIGSYS"),
    ends("socket", syscall(41, 198, "2", "1", "0"), Verdict.KILLED, "SIGSYS"),
    ends("unix socket", syscall(41, 198, "1", "1", "0"), Verdict.KILLED, "SIGSYS"),
    ends("shared memory", syscall(29, 194, "1", "4096", "950"), Verdict.KILLED, "SIGSYS"),
    ends("message queue", syscall(68, 186, "1", "950"), Verdict.KILLED, "SIGSYS"),
    ends("keyring", syscall(250, 219, "0", "0", "0"), Verdict.KILLED, "SIGSYS"),
    ends("memory file", syscall(319, 279, "b'x'", "0"), Verdict.KILLED, "SIGSYS"),
    ends("io_uring", syscall(425, 425, "1", "0"), Verdict.KILLED, "SIGSYS"),
    ends("read of another process", syscall(310, 270, "1", "0", "0", "0", "0", "0"), Verdict.KILLED, "SIGSYS"),
    ends("mount", syscall(165, 40, "0", "0", "0", "0", "0"), Verdict.KILLED, "SIGSYS"),
    ends("new namespace", syscall(272, 97, "0x10000000"), Verdict.KILLED, "SIGSYS"),
    ends("system's load", syscall(99, 179, "bytes(256)"), Verdict.KILLED, "SIGSYS"),
    ends("processor time of the C library", syscall(100, 153, "bytes(64)"), Verdict.KILLED, "SIGSYS"),
    ends("x32 call", "import ctypes\nreturn ctypes.CDLL(None).syscall(0x40000000 + 39)", Verdict.KILLED, "SIGSYS"),
    # --- what this host, this worker and this moment are
    returns(
        "process numbers",
        "import os, threading\nreturn [os.getpid(), os.getppid(), threading.get_native_id()]",
        [0, 0, 0],
    ),
    ends("kernel's release", "import os\nreturn list(os.uname())", Verdict.EXCEPTION, "PermissionError"),
    ends("usage", "import resource\nreturn resource.getrusage(0)[2]", Verdict.EXCEPTION, "PermissionError"),
    ends("process times", "import os\nreturn list(os.times())", Verdict.EXCEPTION, "PermissionError"),
    returns(
        "elapsed time",
        "import time\nnames = ('time', 'monotonic', 'perf_counter', 'process_time', 'thread_time')\n"
        "starts = [getattr(time, name)() for name in names]\nsum(range(10 ** 6))\n"
        "return [getattr(time, name)() - start for name, start in zip(names, starts)]",
        [0.0] * 5,
    ),
    returns(
        "dates that are given",
        "import calendar, datetime, time\nd = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone.utc)\n"
        "return [repr(d), d.isoformat(), str(d + datetime.timedelta(days=366)), d.timestamp(), f'{d:%a %d %b %Y}',"
        " time.strftime('%Y', (2020, 1, 1, 0, 0, 0, 2, 1, 0)), time.gmtime(86400).tm_mday, time.ctime(0),"
        " calendar.monthrange(2023, 2)[1], datetime.date.fromisoformat('2024-03-01').toordinal(),"
        " isinstance(d, datetime.date), type(d).__name__, datetime.datetime.fromtimestamp(0).year]",
        [
            "datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone.utc)",
            "2024-02-29T12:30:00+00:00",
            "2025-03-01 12:30:00+00:00",
            1709209800.0,
            "Thu 29 Feb 2024",
            "2020",
            2,
            "Thu Jan  1 00:00:00 1970",
            28,
            738946,
            True,
            "datetime",
            1970,
        ],
    ),
    # --- files and descriptors
    returns("reads", _TRY_OPEN.format(attempts=_READS), [_PERMISSION] * len(_READS)),
    returns("writes", _TRY_OPEN.format(attempts=_WRITES), [_PERMISSION] * len(_WRITES)),
    returns("environment", "import os\nreturn dict(os.environ)", {}),
    returns(
        "C environment",
        "import ctypes\nreturn ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')[0]",
        None,
    ),
    returns("listing", "import os\ntry: os.listdir('/')\nexcept OSError as e: return type(e).__name__", _PERMISSION),
    returns("standard input", "import sys\nreturn sys.stdin.read()", ""),
    # A frame on the real standard output would be seen by the server; there is only /dev/null to write to, and the
    # program's own result file.
    returns("frames on every descriptor", _WRITE_EVERYWHERE + "return [written[:3], len(written)]", [[0, 1, 2], 4]),
    ends("frames, then exit", _WRITE_EVERYWHERE + "os._exit(0)", Verdict.KILLED, "forged result"),
    ends(
        "endless output",
        "import os\nwhile True:\n    for fd in range(1, 64):\n        try: os.write(fd, bytes(1 << 20))\n"
        "        except OSError: pass",
        Verdict.CPU_LIMIT,
        "CPU time",
        cpu_time_s_max=1,
    ),
    ends(
        "output file beyond a frame",
        "import os\nfor fd in range(3, 64):\n    try:\n        while os.write(fd, bytes(1 << 20)): pass\n"
        "    except OSError: pass\nos._exit(0)",
        Verdict.OUTPUT_LIMIT,
        "result frame",
    ),
    ends(
        "harness patched",
        "import sys\nrunner = sys.modules['leakscale_sandbox.python_runner']\n"
        "runner.encode_value = lambda value, byte_count_max: b'\\x01 equal to everything'\nreturn 1",
        Verdict.KILLED,
        "forged result",
    ),
    ends(
        "detail smuggled",
        "import sys\nrunner = sys.modules['leakscale_sandbox.python_runner']\n"
        "runner.exception_name = lambda error: b'{\"fixture\": [1]}'\nraise ValueError",
        Verdict.KILLED,
        "forged result",
    ),
]


def refused(name: str, program: str, detail: str = "DatabaseError") -> Case:
    return Case(name, program, Verdict.EXCEPTION, detail)


_CROSS_JOIN = "SELECT count(*) FROM " + ", ".join(f"t t{n}" for n in range(18))
_ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "

SQL_CASES = [
    # --- rows come back as they are
    Case("rows", "SELECT id, name FROM t ORDER BY id DESC", value=[(3, "x"), (2, "y"), (1, "x")]),
    Case("bag", "SELECT name FROM t", value=[("x",), ("x",), ("y",)], ordered=False),
    Case("storage classes", "SELECT 1, 1.0, '1', x'31', NULL, 1 = 1", value=[(1, 1.0, "1", b"1", None, 1)]),
    Case("duplicate names", "SELECT 1 AS n, 2 AS n", value=[(1, 2)]),
    Case("no rows", "SELECT * FROM t WHERE 0", value=[]),
    Case("comment first", "-- hi\n/* ho */ SELECT 1", value=[(1,)]),
    Case(
        "common table",
        "WITH g AS (SELECT name, count(*) AS n FROM t GROUP BY name) SELECT count(*), max(n) FROM g",
        value=[(2, 2)],
    ),
    Case("recursion", _ENDLESS + "SELECT count(*) FROM (SELECT x FROM r LIMIT 100)", value=[(100,)]),
    Case("window", "SELECT id, sum(id) OVER (ORDER BY id) FROM t ORDER BY id", value=[(1, 1), (2, 3), (3, 6)]),
    refused("json table", "SELECT value FROM json_each('[4, 5]')", "OperationalError|DatabaseError"),
    Case("view", "SELECT * FROM v", value=[(3,)], fixture=b"view"),
    # --- anything but reading the fixture
    refused("attach", "ATTACH '/etc/passwd' AS z", "StatementRefusedError"),
    refused("pragma", "PRAGMA query_only=OFF", "StatementRefusedError"),
    refused("explain", "EXPLAIN SELECT 1", "StatementRefusedError"),
    refused("vacuum into", "VACUUM INTO '/dev/shm/x'", "StatementRefusedError"),
    refused("insert", "INSERT INTO t VALUES (9, 'z', 1)", "StatementRefusedError"),
    refused("empty", "", "StatementRefusedError"),
    refused("delete behind with", "WITH c AS (SELECT 1) DELETE FROM t RETURNING *"),
    refused("pragma function", "SELECT * FROM pragma_table_info('t')", "OperationalError|DatabaseError"),
    refused(
        "pragma function, counted", "SELECT count(*) FROM pragma_compile_options", "OperationalError|DatabaseError"
    ),
    refused("catalog", "SELECT sql FROM sqlite_master"),
    refused("catalog, counted", "SELECT count(*) FROM sqlite_schema"),
    refused("statistics of pages", "SELECT count(*) FROM dbstat", "OperationalError|DatabaseError"),
    refused("two statements", "SELECT 1; SELECT 2", "Warning|ProgrammingError"),
    refused("load_extension", "SELECT load_extension('/tmp/x')", "OperationalError|DatabaseError"),
    refused("version", "SELECT sqlite_version()", "OperationalError|DatabaseError"),
    refused("chance", "SELECT random()", "OperationalError|DatabaseError"),
    refused("clock", "SELECT date('now')", "OperationalError|DatabaseError"),
    refused("clock by keyword", "SELECT CURRENT_TIMESTAMP", "OperationalError|DatabaseError"),
    refused("printf", "SELECT printf('%.*c', 1000000000, 'x')", "OperationalError|DatabaseError"),
    refused("zeroblob", "SELECT hex(zeroblob(60000000))", "OperationalError|DatabaseError"),
    refused("unknown table", "SELECT * FROM nowhere", "OperationalError"),
    refused("integer overflow", "SELECT sum(9223372036854775807) FROM t", "OperationalError|OverflowError"),
    refused("invalid text", "SELECT CAST(x'ff' AS TEXT)", "OperationalError"),
    # --- too much
    Case("endless recursion", _ENDLESS + "SELECT max(x) FROM r", Verdict.WORK_BUDGET, "virtual-machine steps"),
    Case("endless rows", _ENDLESS + "SELECT x FROM r", Verdict.OUTPUT_LIMIT, "rows"),
    Case("cross join", _CROSS_JOIN, Verdict.WORK_BUDGET, "virtual-machine steps"),
    Case("sort", _ENDLESS + "SELECT x FROM r ORDER BY x", Verdict.WORK_BUDGET, "virtual-machine steps"),
    Case(
        "sort without a budget",
        _ENDLESS + "SELECT x FROM r ORDER BY x",
        Verdict.MEMORY_LIMIT,
        "SQLite heap",
        limits=Limits(work_steps_max=2**31 - 1),
    ),
    Case(
        "small budget",
        _ENDLESS + "SELECT count(*) FROM (SELECT x FROM r LIMIT 5000)",
        Verdict.WORK_BUDGET,
        "virtual-machine steps",
        limits=Limits(work_steps_max=10_000),
    ),
    Case(
        "wide text",
        "SELECT " + ", ".join(["group_concat(replace(name, 'x', hex(hex(name))), name)"] * 1) + " FROM t",
        value=[("3738yyx3738",)],
    ),
    refused(
        "text beyond its length",
        "SELECT " + "hex(" * 30 + "name" + ")" * 30 + " FROM t",
        "DataError|OperationalError",
    ),
    # A pattern of wildcards takes time without a single step; SQLite gives up early on this one.
    Case("pattern", "SELECT '" + "a" * 5000 + "b' LIKE '" + "%a" * 90 + "%c' AS x", value=[(0,)]),
    Case(
        "pattern that backtracks",
        "WITH a(x) AS (SELECT replace(hex(replace(hex(name || name), '7', 'aaaaaaaaaaaaaaaa')), '61', 'a') FROM t) "
        "SELECT sum(replace(x, 'a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') LIKE '" + "%_a_" * 40 + "%b') FROM a",
        value=[(0,)],
    ),
]
