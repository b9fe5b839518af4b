"""The gate every RPC passes: who calls, whether they may, and what an exception becomes.

One interceptor does it all, because an exception out of a handler would otherwise travel as UNKNOWN with its text.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from leakscale_server.errors import InvalidRequest, QueueFull, ScopeMissing, TokenMissing
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.methods import METHOD_SCOPES, OPEN_METHODS
from leakscale_server.services.call import Call
from leakscale_server.services.refusals import REQUEST_ID_HEADER, abort

__all__ = ["Gate", "Identify"]

Identify = Callable[[str], Caller]
"""Tells whom a bearer token stands for, or raises `TokenRefused`."""

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Gate(grpc.ServerInterceptor):
    """Finds out who calls, checks the method's scope, counts open streams, and translates what a handler raises.

    All of it comes before the request is even decoded, so a stranger learns nothing but that it is one. Handlers get a
    `Call` in place of gRPC's context.
    """

    def __init__(self, identify: Identify, *, stream_count_max: int) -> None:
        self._identify = identify
        self._streams = _Streams(stream_count_max)

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Wrap the handler of one call."""
        handler = continuation(handler_call_details)
        if handler is None or handler_call_details.method in OPEN_METHODS:
            return handler
        metadata = dict(handler_call_details.invocation_metadata or ())
        return _Passage(self, handler_call_details.method, metadata, handler).handler()

    def admit(self, method: str, metadata: Mapping[str, str | bytes]) -> Caller:
        """Return who calls, if they may.

        Raises:
            TokenMissing: If there is no bearer token.
            TokenRefused: If the token stands for nobody.
            ScopeMissing: If the token does not open this method.
        """
        scheme, _, token = str(metadata.get("authorization", "")).partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenMissing("the call carries no token; set LEAKSCALE_TOKEN or pass --token")
        caller = self._identify(token)
        scope = METHOD_SCOPES.get(method)
        if scope is None or scope not in caller.scopes:
            raise ScopeMissing(
                f"the {caller.role} token {caller.token_id!r} does not open {method.rpartition('/')[2]}, which takes "
                f"the scope {scope or 'of nobody'}; use a token that has it",
                subject=scope or "",
            )
        return caller

    def one_more_stream(self) -> AbstractContextManager[None]:
        """Count a stream for as long as the block runs; see `_Streams`."""
        return self._streams.one_more()


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


class _Passage:
    """One call on its way through the gate."""

    def __init__(
        self, gate: Gate, method: str, metadata: Mapping[str, str | bytes], handler: grpc.RpcMethodHandler[Any, Any]
    ) -> None:
        self._gate = gate
        self._method = method
        self._metadata = metadata
        self._inner = handler
        self._request_id = _request_id(metadata)

    def handler(self) -> grpc.RpcMethodHandler[Any, Any]:
        """Return the handler in its guarded form. It takes undecoded requests."""
        inner, serializer = self._inner, self._inner.response_serializer
        if inner.unary_unary:
            return grpc.unary_unary_rpc_method_handler(self._once(inner.unary_unary), response_serializer=serializer)
        if inner.unary_stream:
            return grpc.unary_stream_rpc_method_handler(self._many(inner.unary_stream), response_serializer=serializer)
        if inner.stream_unary:
            return grpc.stream_unary_rpc_method_handler(self._once(inner.stream_unary), response_serializer=serializer)
        assert inner.stream_stream is not None  # noqa: S101 - a handler has one of the four kinds
        return grpc.stream_stream_rpc_method_handler(self._many(inner.stream_stream), response_serializer=serializer)

    def _once(self, behavior: Callable[[Any, Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
        def guarded(request: Any, context: grpc.ServicerContext) -> Any:
            try:
                call = self._call(context)
                if not self._inner.request_streaming:
                    return behavior(self._decode(request), call)
                with self._gate.one_more_stream():
                    return behavior(map(self._decode, request), call)
            except Exception as error:
                abort(context, error, method=self._method, request_id=self._request_id)

        return guarded

    def _many(
        self, behavior: Callable[[Any, Any], Iterator[Any]]
    ) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
        def guarded(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            try:
                call = self._call(context)
                with self._gate.one_more_stream():
                    decoded = map(self._decode, request) if self._inner.request_streaming else self._decode(request)
                    yield from behavior(decoded, call)
            except Exception as error:
                abort(context, error, method=self._method, request_id=self._request_id)

        return guarded

    def _call(self, context: grpc.ServicerContext) -> Call:
        caller = self._gate.admit(self._method, self._metadata)
        context.set_trailing_metadata(((REQUEST_ID_HEADER, self._request_id),))
        return Call(self._request_id, caller, context)

    def _decode(self, request: bytes) -> Any:
        assert self._inner.request_deserializer is not None  # noqa: S101 - every generated handler has one
        try:
            return self._inner.request_deserializer(request)
        except DecodeError as error:
            name = self._method.rpartition("/")[2]
            raise InvalidRequest(f"the request of {name} is no message of leakscale.v1; check the client") from error


def _request_id(metadata: Mapping[str, str | bytes]) -> str:
    """Return the id that the client gave the call, or a new one: what would not fit in a log line is no id."""
    given = str(metadata.get(REQUEST_ID_HEADER, ""))
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(16)
