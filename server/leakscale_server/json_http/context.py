"""A call that came by HTTP, as the gate and the handlers see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

import grpc
from google.rpc import code_pb2, status_pb2

__all__ = ["CallAbortedError", "JsonCallContext"]

_DETAILS: Final = "grpc-status-details-bin"
"""Where gRPC carries a whole status; the metadata of an error have it."""


class CallAbortedError(Exception):
    """Ends a handler, as gRPC's own abort does; the context knows the status."""


class JsonCallContext:
    """Collects what a handler says of its call beside the answer.

    The event loop says that the client left, the handler's thread does everything else.

    Args:
        headers: What came with the call, names in lower case.
        peer: Where it came from, as gRPC writes it.
    """

    def __init__(self, headers: Sequence[tuple[str, str]], *, peer: str) -> None:
        self._headers = headers
        self._peer = peer
        self._client_is_there = True
        self._code = grpc.StatusCode.OK
        self._message = ""
        self._trailers: dict[str, str | bytes] = {}

    def client_left(self) -> None:
        """Note that nobody waits any more."""
        self._client_is_there = False

    def cancel(self) -> None:
        """End the call without an answer."""
        self.client_left()

    def invocation_metadata(self) -> Sequence[tuple[str, str]]:
        """Return the headers, as gRPC gives what came with a call."""
        return self._headers

    def peer(self) -> str:
        """Return where the call comes from."""
        return self._peer

    def is_active(self) -> bool:
        """Return whether the client still waits."""
        return self._client_is_there

    def set_trailing_metadata(self, trailing_metadata: Iterable[tuple[str, str | bytes]], /) -> None:
        """Keep what gRPC would send as trailers."""
        self._trailers = dict(trailing_metadata)

    def abort(self, code: grpc.StatusCode, details: str, /) -> NoReturn:
        """End the call with an error.

        Raises:
            CallAbortedError: Always.
        """
        self.set_code(code)
        self.set_details(details)
        raise CallAbortedError

    def set_code(self, code: grpc.StatusCode) -> None:
        """End the call with a code; the health service does so instead of raising."""
        self._code = code

    def set_details(self, details: str) -> None:
        """Say why."""
        self._message = details

    @property
    def status(self) -> status_pb2.Status:
        """How the call ended, with the details that gRPC would send."""
        packed = self._trailers.get(_DETAILS)
        if isinstance(packed, bytes):
            return status_pb2.Status.FromString(packed)
        return status_pb2.Status(code=code_pb2.Code.Value(self._code.name), message=self._message)

    @property
    def headers(self) -> dict[str, str]:
        """What of the trailers is text, as headers: HTTP has no trailers that people see."""
        return {name: value for name, value in self._trailers.items() if isinstance(value, str)}
