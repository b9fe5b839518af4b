"""Run one SQL program on every fixture, inside its own confined process.

The connection is opened once before the first fork and inherited empty, limits and all; a fixture is loaded into it by
`deserialize`, fifteen times faster than by a script.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from leakscale_sandbox.canonical import RefusedValueError, TooLargeError, encode_rows
from leakscale_sandbox.python_runner import Record, exception_name
from leakscale_sandbox.sql_policy import LIMITS, Authorizer, check_opening
from leakscale_sandbox.verdicts import Limits, Verdict

__all__ = ["open_connection", "run_sql"]

_HEAP_BYTES_MAX = 64 << 20
_STEPS_PER_TICK = 1000


def open_connection(*, is_reversed: bool) -> sqlite3.Connection:
    """Return an empty connection under all limits.

    Args:
        is_reversed: Whether unordered selects come in reverse, so that two lanes disagree about any order that a
            statement left open.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    for name, value in LIMITS:
        connection.setlimit(name, value)
    # Temporary files would need a file system, and a heap without a hard limit is bounded by the process only.
    for pragma in ("temp_store=MEMORY", "trusted_schema=OFF", f"hard_heap_limit={_HEAP_BYTES_MAX}"):
        connection.execute(f"PRAGMA {pragma}").close()
    connection.execute(f"PRAGMA reverse_unordered_selects={int(is_reversed)}").close()
    connection.execute("PRAGMA query_only=ON").close()
    return connection


def run_sql(
    connection: sqlite3.Connection, statement: str, fixtures: Sequence[bytes], *, ordered: bool, limits: Limits
) -> Iterator[Record]:
    """Execute a statement on each fixture.

    Args:
        connection: From `open_connection`.
        statement: One SELECT or WITH statement.
        fixtures: Serialized databases.
        ordered: Whether rows count in the order they came, or as a bag.
        limits: Work, rows and size of one output are enforced here.

    Yields:
        One record a fixture.
    """
    for fixture in fixtures:
        budget = _Budget(limits.work_steps_max)
        try:
            _load(connection, fixture, budget)
            yield Verdict.RETURNED, _select(connection, statement, ordered=ordered, limits=limits)
        except Exception as error:
            yield _failure(error, budget)
        finally:
            connection.set_authorizer(None)
            connection.set_progress_handler(None, 0)


class _Budget:
    """Counts virtual-machine steps down: a measure of work that does not depend on the machine's load."""

    __slots__ = ("_ticks_left",)

    def __init__(self, steps: int) -> None:
        self._ticks_left = steps // _STEPS_PER_TICK

    def __call__(self) -> bool:
        """Return True to interrupt the statement."""
        self._ticks_left -= 1
        return self._ticks_left < 0

    @property
    def is_spent(self) -> bool:
        return self._ticks_left < 0


def _load(connection: sqlite3.Connection, fixture: bytes, budget: _Budget) -> None:
    """Put a fixture in place of the one before. The authorizer is set last: loading attaches, which it denies."""
    connection.deserialize(fixture)
    names = connection.execute("SELECT lower(name) FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    connection.set_authorizer(Authorizer(frozenset(name for (name,) in names if not name.startswith("sqlite_"))))
    connection.set_progress_handler(budget, _STEPS_PER_TICK)


def _select(connection: sqlite3.Connection, statement: str, *, ordered: bool, limits: Limits) -> bytes:
    check_opening(statement)
    cursor = connection.execute(statement)
    try:
        rows = cursor.fetchmany(limits.row_count_max + 1)
        if len(rows) > limits.row_count_max:
            raise TooLargeError("rows")
        names = [column[0] for column in cursor.description]
        return encode_rows(names, rows, ordered=ordered, byte_count_max=limits.output_bytes_max)
    finally:
        cursor.close()


def _failure(error: Exception, budget: _Budget) -> Record:
    if budget.is_spent:
        return Verdict.WORK_BUDGET, b"virtual-machine steps"
    if isinstance(error, RefusedValueError):
        return Verdict.REFUSED_TYPE, str(error).encode()
    if isinstance(error, TooLargeError):
        return Verdict.OUTPUT_LIMIT, str(error).encode()
    if isinstance(error, MemoryError):
        return Verdict.MEMORY_LIMIT, b"SQLite heap"
    return Verdict.EXCEPTION, exception_name(error)
