"""Pieces of deposits that nobody has judged yet: in memory, so that what is refused leaves nothing behind."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

__all__ = ["Staging"]

_BYTES_MAX: Final = 384 * 1024 * 1024
"""One deposit at its bounds, and some beside it."""


class Staging:
    """Pieces by name, those that came first dropped where room is short. Safe to use from several threads.

    Args:
        bytes_max: Room for all of them.
    """

    def __init__(self, *, bytes_max: int = _BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._pieces: OrderedDict[str, bytes] = OrderedDict()
        self._byte_count = 0

    def put(self, name: str, content: bytes) -> None:
        """Keep a piece until it is taken."""
        with self._lock:
            self._drop(name)
            self._pieces[name] = content
            self._byte_count += len(content)
            while self._byte_count > self._bytes_max:
                self._drop(next(iter(self._pieces)))

    def get(self, name: str) -> bytes | None:
        """Return a piece, if it is there."""
        with self._lock:
            return self._pieces.get(name)

    def drop(self, name: str) -> None:
        """Forget a piece."""
        with self._lock:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._byte_count -= len(self._pieces.pop(name, b""))
