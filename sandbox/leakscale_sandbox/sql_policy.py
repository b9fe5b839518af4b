"""What an SQL program may do. Allow-lists only: a list of forbidden names is out of date with the next SQLite."""

from __future__ import annotations

import re
import sqlite3

__all__ = ["FUNCTION_NAMES", "LIMITS", "Authorizer", "StatementRefusedError", "check_opening"]

LIMITS = (
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_LENGTH, 1 << 20),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1 << 16),
    (sqlite3.SQLITE_LIMIT_COLUMN, 64),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 100_000),
    (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 16),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)

# Without: the clock (date, strftime, current_timestamp), chance (random), files and code (load_extension, edit), and
# format/printf and zeroblob, whose padding runs past every limit in one step.
_NAMES = """
    abs avg ceil ceiling char coalesce concat concat_ws count cume_dist dense_rank first_value floor glob
    group_concat hex if ifnull iif instr json json_array json_array_length json_extract json_group_array
    json_group_object json_object json_quote json_type json_valid lag last_value lead length like
    likelihood likely lower ltrim max min mod nth_value ntile nullif octet_length percent_rank pow power quote
    rank replace round row_number rtrim sign sqrt string_agg substr substring sum total trim trunc typeof unhex
    unicode unlikely upper -> ->>
"""
FUNCTION_NAMES = frozenset(_NAMES.split())
"""In small letters, operators that are functions included. An older SQLite lacks some of them."""
_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})

# Atomic groups: a statement of a thousand comments must not be tried in every possible split.
_OPENING = re.compile(
    r"(?>[ \t\r\n\f]+|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+(?:select|with)\b", re.IGNORECASE | re.DOTALL
)


class StatementRefusedError(Exception):
    """The statement is not one that reads."""


def check_opening(statement: str) -> None:
    """Refuse a statement that does not start with SELECT or WITH.

    Needed because the authorizer is not asked about EXPLAIN. Does not guard against `WITH … DELETE`: the authorizer
    does.

    Raises:
        StatementRefusedError: If it starts otherwise.
    """
    if _OPENING.match(statement) is None:
        raise StatementRefusedError


class Authorizer:
    """Answers SQLite's question for each action that a statement would take, while the statement is prepared."""

    __slots__ = ("_readable",)

    def __init__(self, table_names: frozenset[str]) -> None:
        self._readable = table_names

    def __call__(
        self, action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None
    ) -> int:
        """Return SQLITE_OK or SQLITE_DENY."""
        if action not in _ACTIONS:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in FUNCTION_NAMES:
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ and not self._may_read((first or "").lower(), second or ""):
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def _may_read(self, table: str, column: str) -> bool:
        """Allow the fixture's tables and nothing that the engine offers about itself.

        A source of which no column is read, as in `count(*)`, comes without a column, and may be a common table
        expression of any name. A table function (`json_each`, `pragma_…`) never comes so far: making it known to the
        connection is an action of its own, which is not on the list. SQLite 3.40 would crash on one that was made
        known before another fixture was loaded, because loading frees the schema that it points to.
        """
        if not column:
            return not table.startswith("sqlite_")
        return table in self._readable
