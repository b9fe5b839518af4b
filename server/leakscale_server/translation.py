"""What an exception becomes for who called, and what of it may stand in a log."""

from __future__ import annotations

import errno
import sqlite3
from typing import Final

from leakscale_server.errors import IntegrityFailure, Internal, ServerFault, StorageFull
from leakscale_server.store.database import DamagedError

__all__ = ["place_of", "to_fault"]

_DISK_FULL_CODES: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        # What SQLite makes of a full disk where it grows its index file or flushes, not a table.
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
    }
)


def to_fault(error: Exception) -> ServerFault:
    """Return a fault as it is, a full disk and a damaged file by what they are, anything else without its text."""
    if isinstance(error, ServerFault):
        return error
    if _is_disk_full(error):
        return StorageFull("the server's disk is full; free some space and repeat the call, nothing stored is lost")
    if isinstance(error, DamagedError):
        return IntegrityFailure(f"the server cannot read what it stored: {error}")
    return Internal(f"the server failed with {type(error).__name__}; see its log")


def _is_disk_full(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) in _DISK_FULL_CODES
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def place_of(error: BaseException) -> str:
    """Return module and line where an exception was raised; with its class all that a log may hold of it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
