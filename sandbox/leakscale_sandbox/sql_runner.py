"""Run the SQL programs of a family on every fixture, inside a confined process.

The connection is opened once before the first fork and inherited empty, limits and all; a fixture is loaded into it by
`deserialize`, fifteen times faster than by a script, and read by every program before the next one is loaded.
"""

from __future__ import annotations

import contextlib
import enum
import re
import sqlite3
from collections.abc import Sequence

from leakscale_sandbox.canonical import RefusedValueError, TooLargeError, encode_rows
from leakscale_sandbox.python_runner import Record, exception_name
from leakscale_sandbox.sql_policy import LIMITS, Authorizer, check_opening
from leakscale_sandbox.verdicts import Limits, Verdict

__all__ = ["AS_STORED", "OTHERWISE", "RowOrders", "limit_heap", "open_connection", "run_sql"]

_HEAP_BYTES_MAX = 64 << 20
_STEPS_PER_TICK = 1000
_MESSAGE_CHARACTERS_MAX = 120


class _RowOrder(enum.Enum):
    """How the rows of a fixture come to a statement."""

    STORED = enum.auto()
    MIRRORED = enum.auto()
    """They lie in reverse, so any two that tie in an ORDER BY, a window or an aggregate fall the other way."""
    SHUFFLED = enum.auto()
    """They lie in an order that has nothing to do with the one stored: what is the same from both ends, as a middle row
    is, moves too."""
    SCANNED_BACKWARDS = enum.auto()
    """SQLite scans in reverse wherever no ORDER BY binds it, inside a statement too; ties fall as before."""


RowOrders = tuple[_RowOrder, ...]

AS_STORED: RowOrders = (_RowOrder.STORED,)
"""For even lanes."""
OTHERWISE: RowOrders = (_RowOrder.MIRRORED, _RowOrder.SHUFFLED, _RowOrder.SCANNED_BACKWARDS)
"""For odd lanes: one after the other, because the first and the last at once undo each other."""

# Below all row numbers that are there, so that no two rows meet on the way. The second mixes the bits of numbers below
# 2^31, each step a bijection: an odd factor, the exclusive or (a | b) - (a & b) with its own upper half, a factor.
_MULTIPLIED = "((rowid * 1103515245 + 12345) & 2147483647)"
_MIXED = f"(({_MULTIPLIED} | ({_MULTIPLIED} >> 15)) - ({_MULTIPLIED} & ({_MULTIPLIED} >> 15)))"
_NEW_ROW_NUMBERS = {
    _RowOrder.MIRRORED: "-rowid",
    _RowOrder.SHUFFLED: f"-1 - (({_MIXED} * 747796405) & 2147483647)",
}
_ROW_NUMBER = re.compile(r"\browid\b")
_ROW_NUMBER_NAMES = ("rowid", "_rowid_", "oid")


def open_connection() -> sqlite3.Connection:
    """Return an empty connection under all limits that are its own."""
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    for name, value in LIMITS:
        connection.setlimit(name, value)
    # Temporary files would need a file system.
    for pragma in ("temp_store=MEMORY", "trusted_schema=OFF"):
        connection.execute(f"PRAGMA {pragma}").close()
    connection.execute("PRAGMA query_only=ON").close()
    return connection


def limit_heap(connection: sqlite3.Connection) -> None:
    """Bound what SQLite may allocate in this process, over all connections and for good."""
    connection.execute(f"PRAGMA hard_heap_limit={_HEAP_BYTES_MAX}").close()


def run_sql(
    connection: sqlite3.Connection,
    statements: Sequence[str],
    fixtures: Sequence[bytes],
    *,
    ordered: bool,
    limits: Limits,
    row_orders: RowOrders,
) -> list[Record]:
    """Execute each statement on each fixture.

    A fixture is loaded once in each order of its rows. No statement can leave a trace for the next one: none writes,
    and each has a budget of its own.

    Args:
        connection: From `open_connection`.
        statements: SELECT or WITH statements, one each.
        fixtures: Serialized databases.
        ordered: Whether rows count in the order they came, or as a bag.
        limits: Work, rows and size of one output are enforced here.
        row_orders: In which orders the rows come; a statement is executed once in each.

    Returns:
        One record for each fixture of the first statement, then of the second, and so on: what every order gives,
        the limit that one of them met, or ORDER_DEPENDENT.
    """
    answers = [
        [_execute(connection, statements, fixture, order, ordered=ordered, limits=limits) for order in row_orders]
        for fixture in fixtures
    ]
    return [
        _agreed([by_statement[place] for by_statement in by_order])
        for place in range(len(statements))
        for by_order in answers
    ]


def _agreed(records: Sequence[Record]) -> Record:
    """Return what a statement gave in every order; a limit that it met in one of them is no answer to compare."""
    for limit in (Verdict.MEMORY_LIMIT, Verdict.WORK_BUDGET, Verdict.OUTPUT_LIMIT):
        for record in records:
            if record[0] is limit:
                return record
    first, *others = records
    return first if all(other == first for other in others) else (Verdict.ORDER_DEPENDENT, b"rows")


def _execute(
    connection: sqlite3.Connection,
    statements: Sequence[str],
    fixture: bytes,
    row_order: _RowOrder,
    *,
    ordered: bool,
    limits: Limits,
) -> list[Record]:
    """Load a fixture and execute each statement on it."""
    try:
        _load(connection, fixture, row_order)
    except sqlite3.Error as error:
        return [_failure(error) or (Verdict.EXCEPTION, exception_name(error))] * len(statements)
    try:
        return [_execute_one(connection, statement, ordered=ordered, limits=limits) for statement in statements]
    finally:
        connection.set_authorizer(None)


def _execute_one(connection: sqlite3.Connection, statement: str, *, ordered: bool, limits: Limits) -> Record:
    budget = _Budget(limits.work_steps_max)
    connection.set_progress_handler(budget, _STEPS_PER_TICK)
    try:
        return Verdict.RETURNED, _select(connection, statement, ordered=ordered, limits=limits)
    except Exception as error:
        if budget.is_spent:
            return Verdict.WORK_BUDGET, b"virtual-machine steps"
        return _failure(error) or (Verdict.EXCEPTION, _exception(connection, statement, error))
    finally:
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


def _load(connection: sqlite3.Connection, fixture: bytes, row_order: _RowOrder) -> None:
    """Put a fixture in place of the one before. The authorizer is set last: loading attaches, which it denies."""
    connection.deserialize(fixture)
    things = connection.execute("SELECT lower(name), type FROM sqlite_master WHERE type <> 'index'").fetchall()
    things = [(name, kind) for name, kind in things if not name.startswith("sqlite_")]
    new_row_number = _NEW_ROW_NUMBERS.get(row_order)
    # A trigger would run on every row that moves.
    if new_row_number is not None and all(kind != "trigger" for _, kind in things):
        _move_rows(connection, [name for name, kind in things if kind == "table"], new_row_number)
    is_backwards = row_order is _RowOrder.SCANNED_BACKWARDS
    connection.execute(f"PRAGMA reverse_unordered_selects={int(is_backwards)}").close()
    connection.set_authorizer(Authorizer(frozenset(name for name, kind in things if kind != "trigger")))


def _move_rows(connection: sqlite3.Connection, table_names: Sequence[str], new_row_number: str) -> None:
    """Let the rows of each table lie elsewhere, where nothing fixes where they lie.

    Does *not* move the rows of a table whose key is the row number or is stored instead of it, of a virtual one, of one
    that its constraints keep, or whose author numbered its rows below zero or beyond 2^31: two of them could meet.
    """
    connection.execute("PRAGMA query_only=OFF").close()
    for name in table_names:
        quoted = '"' + name.replace('"', '""') + '"'
        columns = connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
        free = [each for each in _ROW_NUMBER_NAMES if all(column[1].lower() != each for column in columns)]
        keys = [column[2].upper() for column in columns if column[5]]
        if not free or keys == ["INTEGER"]:
            continue
        bounds = f"SELECT min({free[0]}), max({free[0]}) FROM {quoted}"  # noqa: S608 - a table's own name
        moved = f"UPDATE {quoted} SET {free[0]} = {_ROW_NUMBER.sub(free[0], new_row_number)}"  # noqa: S608
        with contextlib.suppress(sqlite3.Error):
            least, greatest = connection.execute(bounds).fetchone()
            if least is not None and least >= 0 and greatest < 1 << 31:
                connection.execute(moved).close()
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


def _failure(error: Exception) -> Record | None:
    """Return the record of an error that is not the statement's own."""
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
