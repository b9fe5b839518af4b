"""The way of a call through the gate, in whichever of the four kinds it comes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from leakscale_server.errors import InvalidRequest
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.methods import is_read
from leakscale_server.services.call import Call, CallContext
from leakscale_server.services.idle_streams import IdleStreams
from leakscale_server.services.kept_answers import KeptAnswers
from leakscale_server.services.observing import EndedCall, Observer
from leakscale_server.services.refusals import REQUEST_ID_HEADER, abort, fault_of

__all__ = ["GuardedMethod", "Handler", "Passage", "Way", "on_pool"]

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Way: TypeAlias = "Callable[[Passage], AbstractContextManager[None]]"
"""Finds out who calls and lets the call through for as long as its handler runs, or raises."""


class Passage:
    """One call, with its metadata before anybody knows whose it is; within the block what is raised becomes a status.

    A class, where a generator would read shorter: every call makes one, and a generator costs it three times as much.
    """

    __slots__ = ("_begin_s", "_context", "_ended", "_request_id", "caller", "is_stream", "metadata", "method")

    def __init__(self, method: str, context: CallContext, *, is_stream: bool, ended: Observer) -> None:
        self.method = method
        self.metadata: Mapping[str, str | bytes] = dict(context.invocation_metadata() or ())
        self._request_id = _given_id(self.metadata)
        self.is_stream = is_stream
        self.caller: Caller | None = None
        """Who calls, once the way has found out."""
        self._context = context
        self._ended = ended

    def __enter__(self) -> Self:
        """Begin."""
        self._begin_s = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tell how the call ended, and end it with the status of what was raised."""
        if error is None:
            self._tell(grpc.StatusCode.OK)
            return
        if not isinstance(error, Exception):
            # A generator that nobody asks for more is closed: its client has left.
            self._tell(grpc.StatusCode.CANCELLED)
            return
        client_is_there = self._context.is_active()
        fault = fault_of(error, request_id=self.request_id, client_is_there=client_is_there)
        if client_is_there:
            self._tell(fault.code, fault.reason_name)
        else:
            self._tell(grpc.StatusCode.CANCELLED)
        abort(self._context, fault, request_id=self.request_id)

    @property
    def peer(self) -> str:
        """Where the call comes from, as gRPC writes it: `ipv4:192.0.2.1:4711`."""
        return self._context.peer()

    @property
    def request_id(self) -> str:
        """As the client sent it in `x-request-id`, or drawn when it is first needed."""
        if not self._request_id:
            self._request_id = os.urandom(16).hex()
        return self._request_id

    def call(self, *, is_read: bool) -> Call:
        """Return what the handler gets; the way has said who calls.

        The id returns in the trailers, but where the client sent none and no line of the log will have one.
        """
        assert self.caller is not None  # noqa: S101 - no way is open to nobody
        if self._request_id or not is_read:
            self._context.set_trailing_metadata(((REQUEST_ID_HEADER, self.request_id),))
        return Call(self.caller, self._context)

    def _tell(self, code: grpc.StatusCode, reason: str = "") -> None:
        time_s = time.perf_counter() - self._begin_s
        request_id = self._request_id if code is grpc.StatusCode.OK else self.request_id
        self._ended(EndedCall(self.method, request_id, self.caller, code, reason, time_s))


class GuardedMethod:
    """A method's handler behind the gate.

    Args:
        method: Full name, as gRPC gives it.
        inner: The service's own handler, whose requests are decoded here and only once the way was found open.
        way: Lets a call through.
        recheck: Raises once the caller's token has ended. Asked with each message of a stream: it may last hours.
        ended: Told of each call when it has ended.
        idle: Ends streams whose client does nothing.
        kept: Answers that need no handler again; None where none are.
    """

    def __init__(
        self,
        method: str,
        inner: Handler,
        *,
        way: Way,
        recheck: Callable[[Passage], object],
        ended: Observer,
        idle: IdleStreams,
        kept: KeptAnswers | None = None,
    ) -> None:
        self._method = method
        self._idle = idle
        self.inner = inner
        self._way = way
        self._recheck = recheck
        self._ended = ended
        self._kept = kept
        self._is_read = is_read(method)
        self._is_stream = inner.request_streaming or inner.response_streaming
        behavior = inner.unary_unary or inner.unary_stream or inner.stream_unary or inner.stream_stream
        assert behavior is not None  # noqa: S101 - a handler has one of the four kinds
        self._behavior: Callable[..., Any] = behavior
        self.handler = self._guarded()
        """The handler in its guarded form."""

    def _guarded(self) -> Handler:
        inner = self.inner
        if inner.response_streaming:
            return _of_kind(inner, self._many, serializer=inner.response_serializer)
        if inner.request_streaming:
            return _of_kind(inner, self._gathered, serializer=inner.response_serializer)
        if self._kept is None:
            return _of_kind(inner, self._once, serializer=inner.response_serializer)
        return _of_kind(inner, self._encoded)

    def _passage(self, context: CallContext) -> Passage:
        return Passage(self._method, context, is_stream=self._is_stream, ended=self._ended)

    def _once(self, request: Any, context: CallContext) -> Any:
        with self._passage(context) as passage, self._way(passage):
            return self._behavior(self._decode(request), passage.call(is_read=self._is_read))

    def _gathered(self, requests: Iterator[bytes], context: CallContext) -> Any:
        with (
            self._passage(context) as passage,
            self._way(passage),
            self._idle.watching(context.cancel) as stream,
        ):
            decoded = self._each_decoded(stream.incoming(requests), passage)
            return self._behavior(decoded, passage.call(is_read=self._is_read))

    def _encoded(self, request: bytes, context: CallContext) -> bytes:
        """Answer one request with bytes: those of an answer that is kept, where there is one."""
        assert self._kept is not None and self.inner.response_serializer is not None  # noqa: S101 - see `_guarded`
        with self._passage(context) as passage, self._way(passage):
            call = passage.call(is_read=self._is_read)
            kept = self._kept.find(self._method, request)
            if kept is not None:
                return kept
            answer = self.inner.response_serializer(self._behavior(self._decode(request), call))
            if call.answer_holds is not None:
                self._kept.keep(self._method, request, answer, holds=call.answer_holds)
            return answer

    def _many(self, request: Any, context: CallContext) -> Iterator[Any]:
        with (
            self._passage(context) as passage,
            self._way(passage),
            self._idle.watching(context.cancel) as stream,
        ):
            decoded = (
                self._each_decoded(stream.incoming(request), passage)
                if self.inner.request_streaming
                else self._decode(request)
            )
            for answer in self._behavior(decoded, passage.call(is_read=self._is_read)):
                self._recheck(passage)
                with stream.waiting():
                    yield answer

    def _each_decoded(self, requests: Iterator[bytes], passage: Passage) -> Iterator[Any]:
        for request in requests:
            self._recheck(passage)
            yield self._decode(request)

    def _decode(self, request: bytes) -> Any:
        assert self.inner.request_deserializer is not None  # noqa: S101 - every generated handler has one
        try:
            return self.inner.request_deserializer(request)
        except DecodeError as error:
            name = self._method.rpartition("/")[2]
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
    return _of_kind(handler, moved, deserializer=handler.request_deserializer, serializer=handler.response_serializer)


def _of_kind(
    like: Handler, behavior: Callable[..., Any], *, deserializer: Any = None, serializer: Any = None
) -> Handler:
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[like.request_streaming, like.response_streaming]
    return make(behavior, request_deserializer=deserializer, response_serializer=serializer)


def _given_id(metadata: Mapping[str, str | bytes]) -> str:
    """Return the id that the client gave the call, or nothing: what would not fit in a log line is no id."""
    given = metadata.get(REQUEST_ID_HEADER)
    return str(given) if given is not None and _REQUEST_ID.fullmatch(str(given)) else ""
