"""One warm pool for each backend, and an honest job to prove that a lane is still sound."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.sandbox_pool import (
    Backend,
    BackendUnavailable,
    Execution,
    Job,
    Limits,
    SandboxPool,
    Verdict,
    open_backend,
)

BACKENDS = [pytest.param("docker", marks=pytest.mark.docker), "bubblewrap"]

HONEST_PROGRAMS = (
    "def transform(records):\n    return sum(records)",
    "def transform(records):\n    return len(records)",
)


def a_backend(name: str, state_dir: Path) -> Backend:
    try:
        return open_backend(name, state_dir=state_dir)
    except BackendUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session", params=BACKENDS)
def pool(request: pytest.FixtureRequest, state_dir: Path) -> Iterator[SandboxPool]:
    with SandboxPool(a_backend(request.param, state_dir), lane_count=2) as pool:
        yield pool


@pytest.fixture
def honest(pool: SandboxPool) -> Iterator[Callable[[], None]]:
    """After the test, two honest programs must still give the right bytes on every lane."""

    def check() -> None:
        for lane in range(pool.lane_count):
            outcome = pool.run(a_python_job(*HONEST_PROGRAMS, fixtures=(b"[1,2,3]", b"[]")), lane=lane)
            assert [[decode_value(one.output) for one in row] for row in outcome] == [[6, 0], [3, 0]]

    yield check
    check()


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
