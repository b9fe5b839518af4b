"""What is told of a call when it has ended: to the log, and to whoever counts.

Neither may ever tell of an answer or an association. So the record holds who called what and how it ended, and nothing
out of a request, a response or a message. How long a call took is for the counter alone: two logs of the same calls are
the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import grpc
import structlog

from leakscale_server.identity.caller import Caller
from leakscale_server.identity.methods import scope_of

__all__ = ["EndedCall", "Observer", "log_call"]

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that has ended."""

    method: str
    """Full name, as gRPC gives it; one that this server has."""
    request_id: str
    caller: Caller | None
    """None where it was refused before that was known."""
    code: grpc.StatusCode
    reason: str
    """Of the error, as the wire names it; empty for OK, and where the client left."""
    time_s: float
    """From the handler's first step to its last."""


Observer = Callable[[EndedCall], None]


def log_call(ended: EndedCall) -> None:
    """Write one line of each call that changed something or failed; a read that succeeded leaves none."""
    scope = scope_of(ended.method)
    if ended.code is grpc.StatusCode.OK and scope is not None and scope.is_read:
        return
    caller = ended.caller
    _log.info(
        "call",
        method=ended.method.removeprefix("/"),
        request_id=ended.request_id,
        principal=caller.principal if caller else "",
        project=caller.project if caller else "",
        token=caller.token_id if caller else "",
        code=ended.code.name,
        reason=ended.reason,
    )
