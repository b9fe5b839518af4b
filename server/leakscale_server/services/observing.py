"""What is told of a call when it has ended: to the log, and to whoever counts.

Neither may ever tell of an answer or an association. So the record holds who called what and how it ended, and nothing
out of a request, a response or a message. How long a call took is for the counter alone: two logs of the same calls are
the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import grpc
import structlog

from leakscale_server.identity.caller import Caller
from leakscale_server.identity.methods import is_read

__all__ = ["CallLog", "EndedCall", "Observer"]

_log = structlog.get_logger()
_CHEAP_PER_S: Final = 10


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that has ended."""

    method: str
    """Full name, as gRPC gives it; one that this server has."""
    request_id: str
    """Empty for a read that succeeded and that its client gave none: nothing names it."""
    caller: Caller | None
    """None where it was refused before that was known."""
    code: grpc.StatusCode
    reason: str
    """Of the error, as the wire names it; empty for OK, and where the client left."""
    time_s: float
    """From the handler's first step to its last."""


Observer = Callable[[EndedCall], None]


class CallLog:
    """Writes one line of each call that changed something or failed; a read that succeeded leaves none.

    Of calls that nobody's token came with, and of those for which there was no room, only so many a second are written:
    whoever makes them by the thousand must not fill a disk. The metrics count them all.

    Args:
        monotonic_s: Clock for that.
    """

    def __init__(self, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._second = 0
        self._written_count = 0

    def __call__(self, ended: EndedCall) -> None:
        """Take a call that has ended."""
        caller = ended.caller
        if ended.code is grpc.StatusCode.OK and is_read(ended.method):
            return
        is_cheap = caller is None or ended.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        if is_cheap and self._is_too_many():
            return
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

    def _is_too_many(self) -> bool:
        with self._lock:
            second = int(self._monotonic_s())
            if second != self._second:
                self._second, self._written_count = second, 0
            self._written_count += 1
            return self._written_count > _CHEAP_PER_S
