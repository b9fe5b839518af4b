"""Insert-only SQLite databases.

Every table refuses UPDATE and DELETE by trigger and ignores a row whose key it has, so that a fact once written stays
(INSERT OR REPLACE would delete it, past every DELETE trigger). A state is the presence of a row (an edition is frozen
when it has a row in `freezes`), never a flag that flips.

Does not guard against somebody who drops the triggers: the ledger and the signatures tell of that.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale_server.store.tables import Database

__all__ = ["DamagedError", "InsertOnlyDatabase", "Row", "Table"]

Row = dict[str, Any]
_LOOK_AGAIN_S: Final = 0.1
_DAMAGE_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_OF_A_LOST_SCHEMA: Final = ("no such table", "no such column", "malformed")


class DamagedError(sqlite3.DatabaseError):
    """A database file does not hold what was written to it, or was written by another version."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table and its key."""

    name: str
    columns: Mapping[str, type]
    primary_key: tuple[str, ...]
    unique: tuple[str, ...] = ()
    """Columns that together identify a row besides the key."""


class InsertOnlyDatabase:
    """A SQLite file in WAL mode, created with mode 0600, shared by the threads of one process under a lock.

    Raises:
        sqlite3.OperationalError: From any method when the disk is full; what was committed before stays.
        DamagedError: From any method that meets damage in the file.
    """

    def __init__(self, path: Path, tables: Sequence[Table]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
        self._path = path
        with self._naming_damage():
            self._open(tables)

    def _open(self, tables: Sequence[Table]) -> None:
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None, timeout=30.0)
        self._database = Database(self._connection)
        self._database.enable_wal()
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.row_factory = sqlite3.Row
        self._others, self._looked_s = 0, -_LOOK_AGAIN_S
        """What SQLite said of other processes' writes, and when."""
        with self.transaction():
            for table in tables:
                self._create(table)

    def _create(self, table: Table) -> None:
        handle = self._database.table(table.name)
        if handle.exists():
            if handle.columns_dict.keys() != table.columns.keys():
                raise DamagedError(
                    f"{self._path.name} is of another version of leakscale: its table {table.name!r} has other "
                    "columns; serve the folder with that version, or begin with a new one"
                )
            return
        handle.create(dict(table.columns), pk=table.primary_key, not_null=set(table.columns))
        if table.unique:
            handle.create_index(list(table.unique), unique=True)
        for verb in ("UPDATE", "DELETE"):
            self._connection.execute(
                f"CREATE TRIGGER {table.name}_refuses_{verb.lower()} BEFORE {verb} ON {table.name} "
                f"BEGIN SELECT RAISE(ABORT, '{table.name} is insert-only'); END"
            )
        keys = [key for key in (table.primary_key, table.unique) if key]
        is_known = " OR ".join("(" + " AND ".join(f"{name} = NEW.{name}" for name in key) + ")" for key in keys)
        self._connection.execute(
            f"CREATE TRIGGER {table.name}_keeps_what_it_has BEFORE INSERT ON {table.name} "  # noqa: S608 - our names
            f"WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {is_known}) BEGIN SELECT RAISE(IGNORE); END"
        )

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if not _is_of_damage(error):
                raise
            raise DamagedError(
                f"{self._path.name} is damaged ({error}); restore the data folder from a copy"
            ) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; commit at the end, roll back on any exception. Nests as one transaction."""
        with self._naming_damage(), self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.commit()
            except BaseException:
                # Also after a commit that failed for want of space: left open, it would swallow later transactions.
                self._connection.rollback()
                raise

    def add(self, table: str, rows: Iterable[Row]) -> int:
        """Insert rows whose key is new, leave the others as they are; return how many were new."""
        batch = list(rows)
        if not batch:
            return 0
        columns = list(batch[0])
        statement = (
            f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join(':' + name for name in columns)})"  # noqa: S608 - names are ours
        )
        with self.transaction():
            before = self._connection.total_changes
            self._connection.executemany(statement, batch)
            return self._connection.total_changes - before

    @property
    def version(self) -> tuple[int, int] | None:
        """Tell one state of the contents from another; None within a transaction of this process.

        What this process writes shows at once, what another one writes within a tenth of a second.
        """
        with self._lock:
            if self._connection.in_transaction:
                return None
            now_s = time.monotonic()
            if now_s - self._looked_s >= _LOOK_AGAIN_S:
                # Not each time: a statement, however small, lets other threads in first.
                self._looked_s = now_s
                (self._others,) = self._connection.execute("PRAGMA data_version").fetchone()
            return self._others, self._connection.total_changes

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query."""
        with self._naming_damage(), self._lock:
            return [dict(row) for row in self._connection.execute(query, parameters)]

    def row(self, query: str, parameters: Sequence[object] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        found = self.rows(query, parameters)
        return found[0] if found else None

    def close(self) -> None:
        """Checkpoint and close."""
        with self._lock:
            self._connection.close()


def _is_of_damage(error: sqlite3.Error) -> bool:
    """Tell damage of the file from a full disk, a lock, or a rule of a table."""
    if isinstance(error, DamagedError):
        return False
    code = getattr(error, "sqlite_errorcode", 0)
    is_schema_lost = code == sqlite3.SQLITE_ERROR and str(error).startswith(_OF_A_LOST_SCHEMA)
    return code & 0xFF in _DAMAGE_CODES or code == sqlite3.SQLITE_IOERR_SHORT_READ or is_schema_lost
