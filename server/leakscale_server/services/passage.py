"""One call on its way through the gate, in whichever of the four kinds it comes."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from leakscale_server.errors import InvalidRequest
from leakscale_server.identity.caller import Caller
from leakscale_server.services.call import Call, CallContext
from leakscale_server.services.observing import EndedCall, Observer
from leakscale_server.services.refusals import REQUEST_ID_HEADER, abort, fault_of

__all__ = ["Handler", "Passage", "Way", "on_pool"]

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Way: TypeAlias = "Callable[[Passage, CallContext], AbstractContextManager[Call]]"
"""Lets a call through for as long as its handler runs, or raises."""


class Passage:
    """A call with its method and its metadata, before anybody knows whose it is.

    Args:
        method: Full name, as gRPC gives it.
        metadata: What came with it.
        handler: The service's own, whose requests are decoded here and only once the way was found open.
        way: Lets it through.
        recheck: Raises once the caller's token has ended. Asked with each message of a stream: it may last hours.
        ended: Told when it has ended.
    """

    def __init__(
        self,
        method: str,
        metadata: Mapping[str, str | bytes],
        handler: Handler,
        *,
        way: Way,
        recheck: Callable[[], object],
        ended: Observer,
    ) -> None:
        self.method = method
        self.metadata = metadata
        self.request_id = _request_id(metadata)
        self.is_stream = handler.request_streaming or handler.response_streaming
        self._inner = handler
        self._way = way
        self._recheck = recheck
        self._ended = ended
        self.caller: Caller | None = None
        """Who calls, once the way has found out."""

    def handler(self) -> Handler:
        """Return the handler in its guarded form."""
        inner = self._inner
        behavior = inner.unary_unary or inner.unary_stream or inner.stream_unary or inner.stream_stream
        assert behavior is not None  # noqa: S101 - a handler has one of the four kinds
        return _of_kind(inner, self._many(behavior) if inner.response_streaming else self._once(behavior))

    def _once(self, behavior: Callable[..., Any]) -> Callable[[Any, CallContext], Any]:
        def guarded(request: Any, context: CallContext) -> Any:
            with self._watched(context), self._way(self, context) as call:
                return behavior(self._decoded(request), call)

        return guarded

    def _many(self, behavior: Callable[..., Any]) -> Callable[[Any, CallContext], Iterator[Any]]:
        def guarded(request: Any, context: CallContext) -> Iterator[Any]:
            with self._watched(context), self._way(self, context) as call:
                for answer in behavior(self._decoded(request), call):
                    self._recheck()
                    yield answer

        return guarded

    @contextmanager
    def _watched(self, context: CallContext) -> Iterator[None]:
        """Turn what is raised within into a status, and tell how the call ended."""
        begin_s = time.perf_counter()
        # A generator that nobody asks for more is closed: its client has left.
        code, reason = grpc.StatusCode.CANCELLED, ""
        try:
            yield
            code = grpc.StatusCode.OK
        except Exception as error:
            client_is_there = context.is_active()
            fault = fault_of(error, request_id=self.request_id, client_is_there=client_is_there)
            if client_is_there:
                code, reason = fault.code, fault.reason_name
            abort(context, fault, request_id=self.request_id)
        finally:
            time_s = time.perf_counter() - begin_s
            self._ended(EndedCall(self.method, self.request_id, self.caller, code, reason, time_s))

    def _decoded(self, request: Any) -> Any:
        return self._each_decoded(request) if self._inner.request_streaming else self._decode(request)

    def _each_decoded(self, requests: Iterator[bytes]) -> Iterator[Any]:
        for request in requests:
            self._recheck()
            yield self._decode(request)

    def _decode(self, request: bytes) -> Any:
        assert self._inner.request_deserializer is not None  # noqa: S101 - every generated handler has one
        try:
            return self._inner.request_deserializer(request)
        except DecodeError as error:
            name = self.method.rpartition("/")[2]
            raise InvalidRequest(f"the request of {name} is no message of leakscale.v1; check the client") from error


def on_pool(handler: Handler, pool: ThreadPoolExecutor) -> Handler:
    """Return a handler that answers once, or that gRPC calls back, on threads of its own."""
    behavior = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    assert behavior is not None  # noqa: S101 - a handler has one of the four kinds

    def moved(request: Any, context: grpc.ServicerContext, *send: Any) -> Any:
        return behavior(request, context, *send)

    # Where gRPC looks for both. The health service's `Watch` holds no thread because of the second.
    moved.experimental_thread_pool = pool  # type: ignore[attr-defined]
    moved.experimental_non_blocking = getattr(behavior, "experimental_non_blocking", False)  # type: ignore[attr-defined]
    return _of_kind(handler, moved, deserializer=handler.request_deserializer)


def _of_kind(like: Handler, behavior: Callable[..., Any], *, deserializer: Any = None) -> Handler:
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[like.request_streaming, like.response_streaming]
    return make(behavior, request_deserializer=deserializer, response_serializer=like.response_serializer)


def _request_id(metadata: Mapping[str, str | bytes]) -> str:
    """Return the id that the client gave the call, or a new one: what would not fit in a log line is no id."""
    given = str(metadata.get(REQUEST_ID_HEADER, ""))
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(16)
