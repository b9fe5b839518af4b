"""Encoded answers that stay what they are, such as a family of a frozen edition: found again by the request's bytes.

Nothing here knows who asks. It is looked at behind the gate only, once the caller has been found to have the method's
scope, and a handler keeps only what it would answer to everybody who has that.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["KeptAnswers"]

_BYTES_MAX: Final = 16 * 1024 * 1024
_SHARE_MAX: Final = 16
"""No answer takes more than one part in so many of the room: one that does would drive the others out."""
_ENTRY_BYTES: Final = 512
"""What an entry takes beside its two byte strings, about."""


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: bytes
    holds: Callable[[], bool]


class KeptAnswers:
    """Answers by method and request, the ones not asked for the longest time dropped first. Safe between threads.

    Args:
        bytes_max: Room for requests, answers and what keeps them.
    """

    def __init__(self, *, bytes_max: int = _BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, bytes], _Kept] = OrderedDict()
        self._byte_count = 0

    @property
    def byte_count(self) -> int:
        """Room that is taken."""
        return self._byte_count

    def find(self, method: str, request: bytes) -> bytes | None:
        """Return the answer to a request if there is one that still holds."""
        key = (method, request)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
        if kept.holds():
            return kept.answer
        with self._lock:
            self._drop(key)
        return None

    def keep(self, method: str, request: bytes, answer: bytes, *, holds: Callable[[], bool]) -> None:
        """Keep an answer for as long as it holds and there is room.

        Args:
            method: Full name.
            request: As it came.
            answer: As it went.
            holds: Asked each time before the answer is given again; cheap, and true for good until it is false.
        """
        key = (method, request)
        size = _size(key, answer)
        if size * _SHARE_MAX > self._bytes_max:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = _Kept(answer, holds)
            self._byte_count += size
            while self._byte_count > self._bytes_max:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, bytes]) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._byte_count -= _size(key, kept.answer)


def _size(key: tuple[str, bytes], answer: bytes) -> int:
    return len(key[1]) + len(answer) + _ENTRY_BYTES
