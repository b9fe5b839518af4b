"""Read programs and fixtures of a command line. They are the user's own files; bounds catch mistakes early."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Final

from leakscale_sandbox.wire import JOB_BYTES_MAX
from leakscale_server.sandbox_cli.pool import InputError
from leakscale_server.sandbox_pool import ProgramDomain

__all__ = ["build_database", "read_fixture", "read_text"]

_TEXT_BYTES_MAX: Final = 4 << 20
_PAGE_BYTES: Final = 4096
_PAGE_COUNT_MAX: Final = JOB_BYTES_MAX // 2 // _PAGE_BYTES
_STEPS_PER_TICK: Final = 100_000
_TICK_COUNT_MAX: Final = 1_000
_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_LENGTH, 1 << 20),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_ACTIONS: Final = frozenset(
    {
        *(sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_CREATE_VIEW),
        *(sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_INDEX, sqlite3.SQLITE_DROP_VIEW, sqlite3.SQLITE_ALTER_TABLE),
        *(sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_REINDEX),
        *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
        *(sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT),
    }
)
# What `.dump` of the sqlite3 shell writes first.
_PRAGMAS: Final = frozenset({"foreign_keys"})


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        InputError: If it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_TEXT_BYTES_MAX + 1)
        if len(content) > _TEXT_BYTES_MAX:
            raise InputError(f"{path} is larger than {_TEXT_BYTES_MAX >> 20} MiB")
        return content.decode()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start})") from error


def read_fixture(path: Path, domain: ProgramDomain) -> bytes:
    """Return a fixture as a job takes it: JSON for a Python program, a serialized database for a statement.

    Raises:
        InputError: If the file cannot be read or does not parse.
    """
    text = read_text(path)
    if domain is ProgramDomain.SQL:
        try:
            return build_database(text)
        except (sqlite3.Error, ValueError) as error:
            raise InputError(f"{path} is not a script that builds a database: {error}") from error
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    return text.encode()


def build_database(script: str) -> bytes:
    """Run a script in a fresh database in memory, and return the database.

    The script may create, fill and read tables, indexes and views; it reaches no file, no extension and no setting.
    Size and work are bounded. Does *not* guard against a script that sorts much: that is its user's own memory.

    Raises:
        sqlite3.Error: If a statement fails, is not allowed, or takes too much.
        ValueError: If the script holds a NUL character.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for name, value in _LIMITS:
            connection.setlimit(name, value)
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}").close()
        connection.execute(f"PRAGMA max_page_count={_PAGE_COUNT_MAX}").close()
        connection.set_authorizer(_authorize)
        connection.set_progress_handler(_Budget(), _STEPS_PER_TICK)
        connection.executescript(script)
        connection.set_authorizer(None)
        if connection.in_transaction:
            connection.commit()
        # A database without a single page has no bytes; with a version it has one.
        connection.execute("PRAGMA user_version=1").close()
        return connection.serialize()
    finally:
        connection.close()


def _authorize(action: int, first: str | None, second: str | None, database: str | None, _trigger: str | None) -> int:
    is_allowed = action in _ACTIONS and database in (None, "main")
    if action == sqlite3.SQLITE_PRAGMA:
        is_allowed = (first or "").lower() in _PRAGMAS
    if action == sqlite3.SQLITE_FUNCTION:
        is_allowed = (second or "").lower() not in ("load_extension", "zeroblob", "printf", "format")
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


class _Budget:
    """Counts steps of the virtual machine down."""

    def __init__(self) -> None:
        self._ticks_left = _TICK_COUNT_MAX

    def __call__(self) -> bool:
        """Return True to interrupt the script."""
        self._ticks_left -= 1
        return self._ticks_left < 0
