"""The gate every RPC passes: who calls, and what an exception becomes.

One interceptor does both, because an exception out of a handler would otherwise travel as UNKNOWN with its text.
"""

from __future__ import annotations

import errno
import hmac
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import grpc
import structlog
from grpc_status import rpc_status

from leakscale_server.errors import Internal, QueueFull, ServerFault, StorageFull, TokenMissing, TokenRefused

__all__ = ["Gate"]

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
_OPEN_TO_ALL: Final = frozenset({"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"})


class Gate(grpc.ServerInterceptor):
    """Checks the bearer token before a handler runs, counts open streams, and translates what a handler raises.

    The token is compared in constant time. It guards against other users of this machine, not against its
    administrator, and not against a listener on a network: the server binds loopback addresses and UNIX sockets only.
    """

    def __init__(self, token: str, *, stream_count_max: int) -> None:
        self._token = token.encode()
        self._streams = _Streams(stream_count_max)

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Wrap the handler of one call."""
        handler = continuation(handler_call_details)
        if handler is None or handler_call_details.method in _OPEN_TO_ALL:
            return handler
        refusal = self._refusal(dict(handler_call_details.invocation_metadata or ()))
        return _wrap(handler, handler_call_details.method, refusal, self._streams)

    def _refusal(self, metadata: dict[str, str | bytes]) -> ServerFault | None:
        header = metadata.get("authorization", "")
        scheme, _, token = str(header).partition(" ")
        if scheme.lower() != "bearer" or not token:
            return TokenMissing("the call carries no token; set LEAKSCALE_TOKEN or pass --token")
        if not hmac.compare_digest(token.encode(), self._token):
            return TokenRefused("the token is not this server's; it is in the file `token` of its data folder")
        return None


class _Streams:
    """Streams that are open. Each holds a thread of the server for as long as its client keeps it open."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._free = threading.BoundedSemaphore(count_max)

    @contextmanager
    def one_more(self) -> Iterator[None]:
        if not self._free.acquire(blocking=False):
            raise QueueFull(f"{self._count_max} streams are open and no more are served; try again when one has ended")
        try:
            yield
        finally:
            self._free.release()


def _wrap(
    handler: grpc.RpcMethodHandler[Any, Any], method: str, refusal: ServerFault | None, streams: _Streams
) -> grpc.RpcMethodHandler[Any, Any]:
    def unary(behavior: Callable[[Any, grpc.ServicerContext], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
        def guarded(request: Any, context: grpc.ServicerContext) -> Any:
            try:
                _refuse(refusal)
                if not handler.request_streaming:
                    return behavior(request, context)
                with streams.one_more():
                    return behavior(request, context)
            except Exception as error:
                _abort(context, method, error)

        return guarded

    def stream(
        behavior: Callable[[Any, grpc.ServicerContext], Iterator[Any]],
    ) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
        def guarded(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            try:
                _refuse(refusal)
                with streams.one_more():
                    yield from behavior(request, context)
            except Exception as error:
                _abort(context, method, error)

        return guarded

    serializers = {
        "request_deserializer": handler.request_deserializer,
        "response_serializer": handler.response_serializer,
    }
    if handler.unary_unary:
        return grpc.unary_unary_rpc_method_handler(unary(handler.unary_unary), **serializers)
    if handler.unary_stream:
        return grpc.unary_stream_rpc_method_handler(stream(handler.unary_stream), **serializers)
    if handler.stream_unary:
        return grpc.stream_unary_rpc_method_handler(unary(handler.stream_unary), **serializers)
    assert handler.stream_stream is not None  # noqa: S101 - a handler has one of the four kinds
    return grpc.stream_stream_rpc_method_handler(stream(handler.stream_stream), **serializers)


def _refuse(refusal: ServerFault | None) -> None:
    if refusal is not None:
        raise refusal


def _abort(context: grpc.ServicerContext, method: str, error: Exception) -> NoReturn:
    fault = _to_fault(error)
    if isinstance(fault, Internal) and context.is_active():
        # The class and the place, never the text: a message may quote what must stay private.
        _log.error("rpc failed", method=method, error=type(error).__name__, place=_place(error))
    context.abort_with_status(rpc_status.to_status(fault.to_status()))
    raise AssertionError("abort_with_status raises")


def _to_fault(error: Exception) -> ServerFault:
    if isinstance(error, ServerFault):
        return error
    if _is_disk_full(error):
        return StorageFull("the server's disk is full; free some space and repeat the call, nothing stored is lost")
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
