"""Ends streams whose client does nothing: a stream holds a thread and one of few places.

Counted is only the time for which the server waits for its client, to send a message or to take one, and only since the
last message either way. A server that works for a long time ends nobody's stream.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

__all__ = ["IdleStreams", "LiveStream"]

T = TypeVar("T")
_END: Final = object()
_LOOKS_IN_THE_LIMIT: Final = 8


class LiveStream(Generic[T]):
    """One stream, from its first message to its last.

    Args:
        end: Ends it, from any thread.
        monotonic_s: Clock.
    """

    def __init__(self, end: Callable[[], object], *, monotonic_s: Callable[[], float]) -> None:
        self._end = end
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._waiting_count = 0
        """How often the server waits for the client now: of a stream in both directions, up to twice."""
        self._last_s = monotonic_s()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for the client in the block; where it ends, a message came or went."""
        with self._lock:
            self._waiting_count += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting_count -= 1
                self._last_s = self._monotonic_s()

    def incoming(self, requests: Iterable[T]) -> Iterator[T]:
        """Return the client's messages."""
        iterator = iter(requests)
        while True:
            with self.waiting():
                request = next(iterator, _END)
            if request is _END:
                return
            yield request  # type: ignore[misc]

    def end_if_idle(self, limit_s: float) -> bool:
        """End the stream if its client has done nothing for longer than the limit; return whether it did."""
        with self._lock:
            is_idle = self._waiting_count > 0 and self._monotonic_s() - self._last_s > limit_s
        if is_idle:
            self._end()
        return is_idle


class IdleStreams:
    """Looks after all streams of a server, on a thread that is there while there are any.

    Args:
        limit_s: How long a client may do nothing.
        monotonic_s: Clock.
    """

    def __init__(self, limit_s: float, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._live: set[LiveStream[Any]] = set()
        self._is_looking = False

    @contextmanager
    def watching(self, end: Callable[[], object]) -> Iterator[LiveStream[Any]]:
        """Watch one stream for as long as the block runs."""
        stream: LiveStream[Any] = LiveStream(end, monotonic_s=self._monotonic_s)
        with self._lock:
            self._live.add(stream)
            if not self._is_looking:
                self._is_looking = True
                threading.Thread(target=self._look_on, name="idle-streams", daemon=True).start()
        try:
            yield stream
        finally:
            with self._lock:
                self._live.discard(stream)

    def look(self) -> int:
        """End what is idle now; return how many streams."""
        with self._lock:
            live = list(self._live)
        return sum(stream.end_if_idle(self._limit_s) for stream in live)

    def _look_on(self) -> None:
        while True:
            time.sleep(self._limit_s / _LOOKS_IN_THE_LIMIT)
            self.look()
            with self._lock:
                if not self._live:
                    self._is_looking = False
                    return
