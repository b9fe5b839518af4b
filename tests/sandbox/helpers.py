"""Builders of jobs, valid by default, and a reader of results."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path

import pytest

from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.sandbox_pool import Backend, BackendUnavailable, Execution, Job, Limits, Verdict, open_backend

AN_ARGUMENT = [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]
A_FIXTURE = json.dumps(AN_ARGUMENT).encode()

# A server of its own process, for tests that kill it: arguments are backend and state folder.
SERVER = """
import sys, time
from pathlib import Path
from leakscale_server.sandbox_pool import SandboxPool, open_backend
from tests.sandbox.helpers import a_python_job
with SandboxPool(open_backend(sys.argv[1], state_dir=Path(sys.argv[2])), lane_count=2) as pool:
    print("ready", flush=True)
    pool.run(a_python_job("import time\\ndef transform(records):\\n    time.sleep(3)"))
    time.sleep(60)
"""


SERVER_ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parents[2])]),
}


def a_backend(name: str, state_dir: Path) -> Backend:
    try:
        return open_backend(name, state_dir=state_dir)
    except BackendUnavailable as error:
        pytest.skip(str(error))


def a_python_job(*programs: str, fixtures: tuple[bytes, ...] = (b"[1]",), limits: Limits | None = None) -> Job:
    return Job("python", programs, fixtures, limits=limits or Limits())


def an_sql_job(
    *programs: str, fixtures: tuple[bytes, ...] | None = None, ordered: bool = True, limits: Limits | None = None
) -> Job:
    return Job("sql", programs, fixtures or (a_database(),), ordered=ordered, limits=limits or Limits())


def a_database(script: str = "INSERT INTO t VALUES (1, 'x', 2.5), (2, 'y', NULL), (3, 'x', -1.0)") -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript(f"CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, amount REAL); {script}")
    serialized = connection.serialize()
    connection.close()
    return serialized


def value_of(execution: Execution) -> object:
    assert execution.verdict is Verdict.RETURNED, execution
    return decode_value(execution.output)


def descendants(pid: int) -> set[int]:
    """Return every process below one, as far as the kernel still knows the way up."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
    found, grown = {pid}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found - {pid}
