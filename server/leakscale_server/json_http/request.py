"""What HTTP itself is asked of a request, before the gate is asked anything."""

from __future__ import annotations

import asyncio
from typing import Final

from google.rpc import code_pb2, status_pb2
from starlette.datastructures import Headers
from starlette.requests import Request

from leakscale_server.json_http.reply import JSON, Reply, failure
from leakscale_server.limits import MESSAGE_BYTES_MAX

__all__ = ["RefusedError", "body_of", "checked_headers", "timeout_s_of"]

_BODY_TIME_S_MAX: Final = 30.0
_DRAINED_BYTES_MAX: Final = 4 * MESSAGE_BYTES_MAX
"""A body that is too long is read so far and dropped: a client that still sends would not read why it is refused."""
_TIMEOUT_MS_DIGITS_MAX: Final = 10
"""Connect's own bound."""


class RefusedError(Exception):
    """What HTTP cannot carry; the reply says why."""

    def __init__(self, code: int, message: str, *, http_status: int | None = None) -> None:
        super().__init__(message)
        self.reply: Reply = failure(status_pb2.Status(code=code, message=message), http_status=http_status)


def checked_headers(headers: Headers) -> None:
    """Take JSON as it is, of Connect's only version.

    Raises:
        RefusedError: For two lengths of one body (which a proxy may read otherwise), another media type, a compressed
            body, or another version.
    """
    if "transfer-encoding" in headers and "content-length" in headers:
        raise RefusedError(
            code_pb2.INVALID_ARGUMENT, "a request has transfer-encoding or content-length, never both; send one"
        )
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON:
        raise RefusedError(
            code_pb2.UNIMPLEMENTED,
            f"a request is {JSON}, not {media_type[:80] or 'without a type'!r}; set content-type",
            http_status=415,
        )
    encoding = headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise RefusedError(code_pb2.UNIMPLEMENTED, f"content-encoding {encoding[:80]!r} is not read; send identity")
    version = headers.get("connect-protocol-version", "1")
    if version != "1":
        raise RefusedError(
            code_pb2.INVALID_ARGUMENT, f"connect-protocol-version {version[:80]!r} is not spoken; send 1"
        )


def timeout_s_of(headers: Headers) -> float | None:
    """Return the deadline that a client gives its call, or None.

    Raises:
        RefusedError: If it is no number of milliseconds.
    """
    given = headers.get("connect-timeout-ms")
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) <= _TIMEOUT_MS_DIGITS_MAX):
        raise RefusedError(
            code_pb2.INVALID_ARGUMENT,
            f"connect-timeout-ms {given[:80]!r} is no number of at most {_TIMEOUT_MS_DIGITS_MAX} digits",
        )
    return int(given) / 1000


async def body_of(request: Request) -> bytes:
    """Return the body, of at most the bytes that a gRPC message may have.

    Raises:
        RefusedError: If it is longer, or takes too long to arrive.
        ClientDisconnect: If its sender leaves.
    """
    body, byte_count = bytearray(), 0
    try:
        async with asyncio.timeout(_BODY_TIME_S_MAX):
            async for part in request.stream():
                byte_count += len(part)
                if byte_count > _DRAINED_BYTES_MAX:
                    break
                if byte_count <= MESSAGE_BYTES_MAX:
                    body += part
    except TimeoutError as error:
        raise RefusedError(
            code_pb2.DEADLINE_EXCEEDED, f"the request did not arrive within {_BODY_TIME_S_MAX:g} s; send it again"
        ) from error
    if byte_count > MESSAGE_BYTES_MAX:
        raise RefusedError(
            code_pb2.RESOURCE_EXHAUSTED, f"a request has at most {MESSAGE_BYTES_MAX} bytes; ask for less"
        )
    return bytes(body)
