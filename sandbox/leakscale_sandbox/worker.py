"""Start a worker: make PID 1 safe to fork from, greet the server, serve.

Runs as `python3 -s -S -P -c <bundle> first|second <shift>`. Not `-I`: it would ignore PYTHONHASHSEED, and lanes must
differ in it.
"""

from __future__ import annotations

import ctypes
import datetime
import gc
import json
import os
import platform
import random
import signal
import sqlite3
import sys
from dataclasses import dataclass

from leakscale_sandbox.canonical import CANONICAL_VERSION
from leakscale_sandbox.clocks import FIRST_NS, SECOND_NS, StoppedClocks
from leakscale_sandbox.confinement import Confinement
from leakscale_sandbox.displacement import displace
from leakscale_sandbox.kernel_clock import RunningClock
from leakscale_sandbox.preloaded import preload
from leakscale_sandbox.python_runner import known_exception_names, learn_exceptions, run_python
from leakscale_sandbox.seccomp import build_filter
from leakscale_sandbox.sql_runner import AS_STORED, OTHERWISE, limit_heap, open_connection, run_sql
from leakscale_sandbox.supervisor import Forked, Supervisor
from leakscale_sandbox.surroundings import FIRST_PLACE, SECOND_PLACE
from leakscale_sandbox.task import perform
from leakscale_sandbox.verdicts import Limits, Verdict
from leakscale_sandbox.wire import PROTOCOL_VERSION, encode_greeting

__all__ = ["main"]

_PR_SET_DUMPABLE = 4
_HEADS, _TAILS = 1632, 1768
"""Seeds of `random` in the two lanes. The highest bit of each of the first twenty numbers is 0 in one and 1 in the
other, so a program that tosses a coin never sees the same side in both."""
_WARM_UP_PYTHON = """
from collections import Counter, defaultdict
def transform(records):
    groups = defaultdict(list)
    for record in sorted(records, key=lambda r: (-r["n"], r["name"])):
        groups[record["name"]].append(record["n"])
    return [{"name": n, "sum": sum(v), "mean": round(sum(v) / len(v), 2)} for n, v in groups.items()]
"""
_WARM_UP_SQL = """
WITH g AS (SELECT name, sum(n) AS s, rank() OVER (ORDER BY count(*) DESC) AS r FROM t GROUP BY name)
SELECT t.name, g.s, g.r, CASE WHEN t.n > 1 THEN 'a' ELSE NULL END AS c FROM t JOIN g USING (name)
WHERE t.n IN (SELECT max(n) FROM t) ORDER BY 2 DESC, 1 LIMIT 5
"""


@dataclass(frozen=True, slots=True)
class WorkerConfiguration:
    """What the server decides about a worker besides its environment."""

    is_second: bool
    """Whether SQL rows come in other orders, Python's clocks show another moment, and its surroundings are others."""
    shift: int
    """How far the heap, and what else only counts, is moved."""


def main() -> None:
    """Serve jobs until the server closes standard input."""
    configuration = WorkerConfiguration(is_second=sys.argv[1] == "second", shift=int(sys.argv[2]))
    _harden()
    preload()
    learn_exceptions()
    _require_python_datetime()
    connection = open_connection()
    limit_heap(connection)
    confinement = Confinement(build_filter())
    supervisor = Supervisor(RunningClock())
    greeting = encode_greeting(_facts(connection))
    _warm_up(connection)
    # From here on, what this process does to itself every program inherits, and none waits for it.
    StoppedClocks(SECOND_NS if configuration.is_second else FIRST_NS).install()
    (SECOND_PLACE if configuration.is_second else FIRST_PLACE).install()
    random.seed(_TAILS if configuration.is_second else _HEADS)
    # What exists now is shared with every child; a collection in a child would touch, and so copy, all of it.
    gc.collect()
    _kept = displace(configuration.shift)
    gc.freeze()
    gc.disable()
    # Behind what is frozen, which nobody counts.
    _counted: list[list[object]] = [[] for _ in range(configuration.shift)]
    os.write(1, greeting)
    try:
        supervisor.serve()
        return
    except Forked as forked:
        task = forked.task
    # Here, and not where it was forked: the frames of the supervisor are gone.
    perform(
        task,
        confinement=confinement,
        connection=connection,
        row_orders=OTHERWISE if configuration.is_second else AS_STORED,
    )


def _harden() -> None:
    """Shut the ways from a child back to this process.

    Raises:
        RuntimeError: If this process is not PID 1: it could then neither find nor kill what a program leaves behind.
    """
    if os.getpid() != 1:
        raise RuntimeError("a worker must be PID 1 of its own namespace")
    # /proc/1 belongs to root from here on, and nobody of the same user may trace this process or, inherited, a child.
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_DUMPABLE")
    # PID 1 with the default action is not reached by signals from inside the namespace; a Python handler would be.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.clear()


def _require_python_datetime() -> None:
    """Check that `datetime` is the one written in Python, which asks `time` and not the kernel.

    Raises:
        RuntimeError: If it is not: its clock could not be stopped.
    """
    if isinstance(vars(datetime.datetime)["now"], classmethod):
        return
    raise RuntimeError("datetime must be written in Python here")


def _facts(connection: sqlite3.Connection) -> dict[str, object]:
    options = [option for (option,) in connection.execute("PRAGMA compile_options")]
    (source_id,) = connection.execute("SELECT sqlite_source_id()").fetchone()
    return {
        "python_build": " ".join((sys.version.split()[0], *platform.python_build(), platform.python_compiler())),
        "sqlite_version": sqlite3.sqlite_version,
        "sqlite_source_id": source_id,
        "sqlite_compile_options": sorted(options),
        "canonical_version": CANONICAL_VERSION,
        "protocol_version": PROTOCOL_VERSION,
        "machine": os.uname().machine,
        "exception_names": known_exception_names(),
    }


def _warm_up(connection: sqlite3.Connection) -> None:
    """Walk the common paths once, so that children inherit warm caches instead of building each its own.

    Raises:
        RuntimeError: If an honest program fails: this interpreter or its SQLite lacks something.
    """
    fixture = [{"name": name, "n": n} for n, name in enumerate(("b", "a", "b"))]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t(name TEXT, n INTEGER)")
    database.executemany("INSERT INTO t VALUES (:name, :n)", fixture)
    database.commit()
    serialized = database.serialize()
    database.close()
    records = list(run_python(_WARM_UP_PYTHON, [json.dumps(fixture).encode()] * 2, Limits()))
    for ordered in (True, False):
        for row_orders in (AS_STORED, OTHERWISE):
            records += run_sql(
                connection, [_WARM_UP_SQL], [serialized] * 2, ordered=ordered, limits=Limits(), row_orders=row_orders
            )
    if any(verdict is not Verdict.RETURNED for verdict, _ in records):
        raise RuntimeError(f"an honest program fails in this sandbox: {records}")
