"""What an exception out of a handler becomes on the wire, and what of it stands in the log."""

from __future__ import annotations

import errno
import sqlite3
from typing import Final, NoReturn

import grpc
import structlog
from grpc_status import rpc_status

from leakscale_server.errors import Internal, ServerFault, StorageFull

__all__ = ["REQUEST_ID_HEADER", "abort", "to_fault"]

REQUEST_ID_HEADER: Final = "x-request-id"

_log = structlog.get_logger()
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


def abort(context: grpc.ServicerContext, fault: ServerFault, *, request_id: str) -> NoReturn:
    """End a call with the status of a fault."""
    status = rpc_status.to_status(fault.to_status())
    context.set_trailing_metadata(((REQUEST_ID_HEADER, request_id), *(status.trailing_metadata or ())))
    context.abort(status.code, status.details)
    raise AssertionError("abort raises")


def to_fault(error: Exception, *, request_id: str, client_is_there: bool) -> ServerFault:
    """Return what an exception is on the wire; what is no fault of ours is `Internal`, and its text stays here."""
    if isinstance(error, ServerFault):
        return error
    if _is_disk_full(error):
        return StorageFull("the server's disk is full; free some space and repeat the call, nothing stored is lost")
    if client_is_there:  # else whatever broke off, broke off because the client had
        # The class and the place, never the text: a message may quote what must stay private.
        _log.error("call failed", request_id=request_id, error=type(error).__name__, place=_place(error))
    return Internal(f"the server failed with {type(error).__name__}; see its log")


def _is_disk_full(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) in _DISK_FULL_CODES
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
