"""One call, as the gate hands it to a handler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import grpc

from leakscale_server.identity.caller import Caller

__all__ = ["Call", "CallContext"]


class CallContext(Protocol):
    """What a listener knows of a call: of gRPC's context what the gate needs, which JSON over HTTP can give too."""

    def invocation_metadata(self) -> Any:
        """Return what came with the call, as pairs."""

    def peer(self) -> str:
        """Return where the call comes from, such as `ipv4:192.0.2.1:4711`."""

    def is_active(self) -> bool:
        """Return whether the client still waits."""

    def set_trailing_metadata(self, trailing_metadata: Any, /) -> None:
        """Keep what is sent after the answer or the error, as pairs."""

    def cancel(self) -> object:
        """End the call without an answer, from any thread."""

    def abort(self, code: grpc.StatusCode, details: str, /) -> NoReturn:
        """End the call with an error, by raising."""


@dataclass(slots=True)
class Call:
    """Who calls, and the listener's own context for what only it can do."""

    caller: Caller
    context: CallContext
    answer_holds: Callable[[], bool] | None = None
    """Set by a handler whose answer everybody gets who may call the method: tells whether it would be the same again.
    Such an answer may be given again without the handler; None: each call has its own."""
