"""One call, as the gate hands it to a handler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import grpc

from leakscale_server.identity.caller import Caller

__all__ = ["Call", "CallContext"]


class CallContext(Protocol):
    """What a listener knows of a call: of gRPC's context what the gate needs, which JSON over HTTP can give too."""

    def is_active(self) -> bool:
        """Return whether the client still waits."""

    def set_trailing_metadata(self, trailing_metadata: Any, /) -> None:
        """Keep what is sent after the answer or the error, as pairs."""

    def abort(self, code: grpc.StatusCode, details: str, /) -> NoReturn:
        """End the call with an error, by raising."""


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, under which id, and the listener's own context for what only it can do."""

    request_id: str
    """As the client sent it in `x-request-id`, or drawn here; it stands in the log and returns in the trailers."""
    caller: Caller
    context: CallContext
