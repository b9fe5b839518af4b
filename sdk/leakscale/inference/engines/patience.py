"""How long failures of an endpoint are borne, and what is said meanwhile."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

from leakscale.errors import UnavailableError
from leakscale.inference.engines.transport import TransportFailure

__all__ = ["Patience"]

_BACKOFF_S_MAX: Final = 30.0
_NOTE_INTERVAL_S: Final = 1.0
"""Many requests fail at once when an endpoint goes away; one line a second says enough."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Patience:
    """Shared by all requests to one endpoint; safe to share among threads."""

    url: str
    failures_max: int
    """Failures in a row of one request after which the endpoint counts as unavailable."""
    backoff_s: float
    """Pause after the first; it doubles with each, up to half a minute."""
    timeout_s: float
    """What one request may take."""
    _noted_at: float = field(default=float("-inf"), init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def announce(self, model: str) -> None:
        """Say what is about to be tried."""
        _log.info(
            "asking endpoint '%s' for model '%s': each request up to %d times, %g s at most for each",
            self.url,
            model,
            self.failures_max,
            self.timeout_s,
        )

    def bear(self, failure: TransportFailure, failure_count: int, stop: Event) -> None:
        """Say what failed, and wait before it is asked again.

        Args:
            failure: The last one.
            failure_count: Failures in a row of this request, this one included.
            stop: Ends the waiting early.

        Raises:
            UnavailableError: If it failed too often.
        """
        if failure_count >= self.failures_max:
            raise UnavailableError(
                f"endpoint '{self.url}' failed {failure_count} times in a row, last with {failure.detail}; see that it "
                "runs, and run the same command again: it goes on from here"
            ) from failure
        pause_s = max(self._pause_s(failure_count), failure.retry_after_s)
        self._note(failure, failure_count, pause_s)
        stop.wait(pause_s)

    def _pause_s(self, failure_count: int) -> float:
        return min(self.backoff_s * 2.0 ** (failure_count - 1), _BACKOFF_S_MAX)

    def _note(self, failure: TransportFailure, failure_count: int, pause_s: float) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._noted_at < _NOTE_INTERVAL_S:
                return
            self._noted_at = now
        left_s = pause_s + sum(map(self._pause_s, range(failure_count + 1, self.failures_max)))
        _log.warning(
            "endpoint '%s' failed with %s, try %d of %d; again in %.1f s, and given up after %.0f s of pauses",
            self.url,
            failure.detail,
            failure_count,
            self.failures_max,
            pause_s,
            left_s,
        )
