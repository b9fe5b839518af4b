"""Run one SQL program on every fixture, inside its own confined process.

The connection is opened once before the first fork and inherited empty, limits and all; a fixture is loaded into it by
`deserialize`, fifteen times faster than by a script.
"""

from __future__ import annotations

import enum
import sqlite3
from collections.abc import Iterator, Sequence

from leakscale_sandbox.canonical import RefusedValueError, TooLargeError, encode_rows
from leakscale_sandbox.python_runner import Record, exception_name
from leakscale_sandbox.sql_policy import LIMITS, Authorizer, check_opening
from leakscale_sandbox.verdicts import Limits, Verdict

__all__ = ["AS_STORED", "MOVED_OR_REVERSED", "RowOrders", "open_connection", "run_sql"]

_HEAP_BYTES_MAX = 64 << 20
_STEPS_PER_TICK = 1000
_MESSAGE_CHARACTERS_MAX = 120


class _RowOrder(enum.Enum):
    """How the rows of a fixture come to a statement."""

    STORED = enum.auto()
    MOVED = enum.auto()
    """They lie in reverse, so ties of an ORDER BY, a window or an aggregate fall the other way."""
    REVERSED = enum.auto()
    """SQLite scans in reverse wherever no ORDER BY binds it, inside a statement too; ties fall as before."""


RowOrders = tuple[_RowOrder, ...]

AS_STORED: RowOrders = (_RowOrder.STORED,)
"""For even lanes."""
MOVED_OR_REVERSED: RowOrders = (_RowOrder.MOVED, _RowOrder.REVERSED)
"""For odd lanes: one after the other, because both at once undo each other."""


def open_connection() -> sqlite3.Connection:
    """Return an empty connection under all limits."""
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    for name, value in LIMITS:
        connection.setlimit(name, value)
    # Temporary files would need a file system, and a heap without a hard limit is bounded by the process only.
    for pragma in ("temp_store=MEMORY", "trusted_schema=OFF", f"hard_heap_limit={_HEAP_BYTES_MAX}"):
        connection.execute(f"PRAGMA {pragma}").close()
    connection.execute("PRAGMA query_only=ON").close()
    return connection


def run_sql(
    connection: sqlite3.Connection,
    statement: str,
    fixtures: Sequence[bytes],
    *,
    ordered: bool,
    limits: Limits,
    row_orders: RowOrders,
) -> Iterator[Record]:
    """Execute a statement on each fixture.

    Args:
        connection: From `open_connection`.
        statement: One SELECT or WITH statement.
        fixtures: Serialized databases.
        ordered: Whether rows count in the order they came, or as a bag.
        limits: Work, rows and size of one output are enforced here.
        row_orders: In which orders the rows come; the statement is executed once in each.

    Yields:
        One record a fixture: of the first order, or ORDER_DEPENDENT if another one gives another record.
    """
    for fixture in fixtures:
        first, *others = (
            _execute(connection, statement, fixture, row_order, ordered=ordered, limits=limits)
            for row_order in row_orders
        )
        yield first if all(other == first for other in others) else (Verdict.ORDER_DEPENDENT, b"rows")


def _execute(
    connection: sqlite3.Connection,
    statement: str,
    fixture: bytes,
    row_order: _RowOrder,
    *,
    ordered: bool,
    limits: Limits,
) -> Record:
    budget = _Budget(limits.work_steps_max)
    try:
        _load(connection, fixture, row_order, budget)
        return Verdict.RETURNED, _select(connection, statement, ordered=ordered, limits=limits)
    except Exception as error:
        return _failure(error, budget) or (Verdict.EXCEPTION, _exception(connection, statement, error))
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


def _load(connection: sqlite3.Connection, fixture: bytes, row_order: _RowOrder, budget: _Budget) -> None:
    """Put a fixture in place of the one before. The authorizer is set last: loading attaches, which it denies."""
    connection.deserialize(fixture)
    kinds = connection.execute("SELECT lower(name), type FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    kinds = [(name, kind) for name, kind in kinds if not name.startswith("sqlite_")]
    if row_order is _RowOrder.MOVED:
        _move_rows(connection, [name for name, kind in kinds if kind == "table"])
    connection.execute(f"PRAGMA reverse_unordered_selects={int(row_order is _RowOrder.REVERSED)}").close()
    connection.set_authorizer(Authorizer(frozenset(name for name, _ in kinds)))
    connection.set_progress_handler(budget, _STEPS_PER_TICK)


def _move_rows(connection: sqlite3.Connection, table_names: Sequence[str]) -> None:
    """Let the rows of each table lie in reverse; a primary key fixes where they lie, so such a table stays."""
    connection.execute("PRAGMA query_only=OFF").close()
    for name in table_names:
        quoted = '"' + name.replace('"', '""') + '"'
        columns = connection.execute(f"PRAGMA table_info({quoted})").fetchall()
        if not any(column[5] for column in columns):
            connection.execute(f"UPDATE {quoted} SET _rowid_ = -_rowid_").close()  # noqa: S608 - a table's own name
    connection.execute("PRAGMA query_only=ON").close()


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


def _failure(error: Exception, budget: _Budget) -> Record | None:
    """Return the record of an error that is not the statement's own."""
    if budget.is_spent:
        return Verdict.WORK_BUDGET, b"virtual-machine steps"
    if isinstance(error, RefusedValueError):
        return Verdict.REFUSED_TYPE, str(error).encode()
    if isinstance(error, TooLargeError):
        return Verdict.OUTPUT_LIMIT, str(error).encode()
    if isinstance(error, MemoryError):
        return Verdict.MEMORY_LIMIT, b"SQLite heap"
    return None


def _exception(connection: sqlite3.Connection, statement: str, error: Exception) -> bytes:
    """Name the class, and what SQLite says of the statement by itself.

    A statement that runs may say what is in a row. One that cannot be prepared has read none: it says the same before
    EXPLAIN, which runs nothing, and its message comes from the statement and the schema.
    """
    name = exception_name(error)
    if not isinstance(error, sqlite3.Error):
        return name
    try:
        connection.execute(f"EXPLAIN {statement}").close()
    except sqlite3.Error as again:
        if str(again) == str(error):
            said = "".join(letter if " " <= letter <= "~" else "?" for letter in str(error))
            return name + b": " + said[:_MESSAGE_CHARACTERS_MAX].encode()
    return name
