"""Connect's unary shape: `POST /leakscale.v1.EditionService/GetFamily` with a JSON body.

What HTTP asks is asked here (verb, path, media type, size, deadline); who calls, whether they may, whether there is
room, and what the request means, is asked by the gate and the handlers of the gRPC calls, on their threads.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import grpc
from google.rpc import code_pb2, status_pb2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from leakscale_server.errors import ServerFault
from leakscale_server.json_http.context import CallAbortedError, JsonCallContext
from leakscale_server.json_http.methods import JSON_METHODS, JsonMethod
from leakscale_server.json_http.reply import JSON, Reply, answer, failure
from leakscale_server.json_http.request import RefusedError, body_of, checked_headers, timeout_s_of
from leakscale_server.services.passage import Handler
from leakscale_server.services.shared_server import SharedServer

__all__ = ["application"]

_CLIENT_LEFT: Final = 499


def application(server: SharedServer) -> Starlette:
    """Return the ASGI application in front of a server's handlers."""

    async def call(request: Request) -> Response:
        try:
            return _response(await _called(server, request))
        except RefusedError as refused:
            return _response(refused.reply)
        except ClientDisconnect:
            return Response(status_code=_CLIENT_LEFT)

    served = Starlette(
        routes=[Route("/{service}/{method}", call, methods=["POST"])],
        exception_handlers={HTTPException: _http_refusal},
    )
    # A redirection would go to whatever host the request names, and a client would send its token there.
    served.router.redirect_slashes = False
    return served


def _response(reply: Reply) -> Response:
    return Response(reply.body, reply.http_status, media_type=JSON, headers=dict(reply.headers))


async def _http_refusal(request: Request, error: Exception) -> Response:
    """Say what HTTP refuses (a path that is none, another verb than POST) in the words of an error of a call."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class
    if error.status_code == 405:
        message = f"{request.method} calls nothing here; send a POST with a JSON body"
    else:
        message = "there is no such method; its path is /leakscale.v1.SERVICE/METHOD"
    status = status_pb2.Status(code=code_pb2.UNIMPLEMENTED, message=message)
    response = _response(failure(status, http_status=error.status_code))
    response.headers.update(error.headers or {})
    return response


async def _called(server: SharedServer, request: Request) -> Reply:
    method = JSON_METHODS.get(request.url.path)
    if method is None:
        raise HTTPException(404)
    checked_headers(request.headers)
    if not method.is_unary:
        raise RefusedError(
            code_pb2.UNIMPLEMENTED,
            f"{method.path.rpartition('/')[2]} streams, and HTTP serves unary calls alone; call it by gRPC",
        )
    timeout_s = timeout_s_of(request.headers)
    body = await body_of(request)
    context = JsonCallContext(tuple(request.headers.items()), peer=_peer_of(request))
    guarded = _guarded(server, method)
    # Where the gate leads a call when all threads are taken, as gRPC's own server reads it.
    pool = getattr(_behavior(guarded), "experimental_thread_pool", server.executor)
    work = asyncio.get_running_loop().run_in_executor(pool, _answered, guarded, body, context)
    return await _waited_for(work, request, context, timeout_s=timeout_s)


def _peer_of(request: Request) -> str:
    """Write where a request comes from as gRPC does, for both count the same callers."""
    client = request.client
    return f"ipv{6 if ':' in client.host else 4}:[{client.host}]:{client.port}" if client else "unknown"


def _guarded(server: SharedServer, method: JsonMethod) -> Handler:
    handler = server.find(_Details(method.path))
    if handler is None:
        raise HTTPException(404)
    if handler.unary_unary:
        handler = grpc.unary_unary_rpc_method_handler(handler.unary_unary, request_deserializer=method.decode)
    return server.guarded(handler, method.path)


class _Details(grpc.HandlerCallDetails):
    def __init__(self, method: str) -> None:
        self.method = method
        self.invocation_metadata = ()


def _behavior(handler: Handler) -> Any:
    return handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream


def _answered(handler: Handler, body: bytes, context: JsonCallContext) -> Reply:
    """Run a handler on the thread of this call, as gRPC would.

    A handler that streams stands for a unary method where a replica refuses it.
    """
    try:
        decoded = handler.request_deserializer(body) if handler.request_deserializer else body
        answered = _behavior(handler)(iter([decoded]) if handler.request_streaming else decoded, context)
        message = next(answered) if handler.response_streaming else answered
    except CallAbortedError:
        message = None
    except ServerFault as fault:  # of a method that is open to everybody, which no gate translates
        return failure(fault.to_status())
    status = context.status
    reply = answer(message) if status.code == code_pb2.OK else failure(status)
    return Reply(reply.http_status, reply.body, {**reply.headers, **context.headers})


async def _waited_for(
    work: asyncio.Future[Reply], request: Request, context: JsonCallContext, *, timeout_s: float | None
) -> Reply:
    """Wait for a call until it ends, its deadline passes or its client leaves; a call that has begun goes on."""
    left = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((work, left), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        is_left = left.done()
        left.cancel()
        if not work.done():
            context.client_left()
            work.cancel()
    if work.done() and not work.cancelled():
        return work.result()
    if is_left:
        return Reply(_CLIENT_LEFT, b"")
    raise RefusedError(code_pb2.DEADLINE_EXCEEDED, f"the call took longer than its {timeout_s:g} s; give it more time")
