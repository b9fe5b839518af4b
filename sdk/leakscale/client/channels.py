"""The channel of the moment: gRPC fixes a client's certificates for the life of a channel, and certificates end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import grpc

from leakscale.errors import InvalidRequestError

__all__ = ["Channels", "Stub"]


class Channels:
    """Opens a channel, and another one when what it was opened with is no more what it was. Thread-safe.

    Args:
        open_channel: Makes a channel.
        stamp: Tells by a change of its value that a new one is due.

    Raises:
        InvalidRequestError: What the two raise, the first time. Later the channel that there is stays: files that are
            being replaced do not fit together for a moment.
    """

    def __init__(self, open_channel: Callable[[], grpc.Channel], *, stamp: Callable[[], object]) -> None:
        self._open = open_channel
        self._stamp = stamp
        self._lock = threading.Lock()
        self._seen = stamp()
        self._channels = [open_channel()]

    @property
    def current(self) -> grpc.Channel:
        """The channel for a new call. Calls that run keep theirs."""
        with self._lock:
            try:
                if (seen := self._stamp()) != self._seen:
                    self._channels.append(self._open())
                    self._seen = seen
            except InvalidRequestError:
                pass
            return self._channels[-1]

    def close(self) -> None:
        """Close them all, and end their calls."""
        with self._lock:
            for channel in self._channels:
                channel.close()


class Stub:
    """A generated stub whose methods are those of the channel of the moment."""

    def __init__(self, make: Callable[[grpc.Channel], Any], channel: Callable[[], grpc.Channel]) -> None:
        self._make = make
        self._channel = channel
        self._made: tuple[grpc.Channel, Any] | None = None

    def __getattr__(self, method: str) -> Any:
        channel = self._channel()
        if self._made is None or self._made[0] is not channel:
            self._made = (channel, self._make(channel))
        return getattr(self._made[1], method)
