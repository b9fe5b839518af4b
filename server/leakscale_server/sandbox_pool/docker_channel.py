"""A byte pipe to a container over the daemon's attach socket."""

from __future__ import annotations

import contextlib
import select
import socket
from typing import TYPE_CHECKING, cast

from leakscale_server.sandbox_pool.containers import remove
from leakscale_server.sandbox_pool.lanes import LaneError, seconds_left, wait_for

if TYPE_CHECKING:
    from docker.models.containers import Container

__all__ = ["DockerChannel"]

_HEADER_BYTES = 8
_STDOUT = 1
_READ_BYTES = 1 << 18
# What a worker may say on standard error before it is cut off; only ever shown in a LaneError.
_COMPLAINT_BYTES_MAX = 4096


class DockerChannel:
    """See `Channel`. The daemon wraps output as `stream, 0, 0, 0, length` and payload; input goes as it is."""

    def __init__(self, container: Container) -> None:
        """Attach to a container that has not started yet, so that its first byte is not missed."""
        self._container = container
        self._holder = container.attach_socket(params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        # Over a UNIX socket the client library hands out a file object around the socket, over TLS the socket itself.
        self._socket: socket.socket = getattr(self._holder, "_sock", None) or cast("socket.socket", self._holder)
        self._raw = bytearray()
        self._output = bytearray()
        self._complaint = bytearray()
        self._is_closed = False

    @property
    def container_id(self) -> str:
        """Return the daemon's id of the container."""
        return str(self._container.id)

    def send(self, data: bytes, *, deadline: float) -> None:
        """See `Channel.send`."""
        try:
            self._socket.settimeout(seconds_left(deadline))
            self._socket.sendall(data)
        except OSError as error:
            raise LaneError(f"the container takes no input: {error}") from error

    def receive(self, byte_count: int, *, deadline: float) -> bytes:
        """See `Channel.receive`."""
        while len(self._output) < byte_count:
            self._fill(deadline)
        received = bytes(self._output[:byte_count])
        del self._output[:byte_count]
        return received

    def has_pending(self) -> bool:
        """See `Channel.has_pending`."""
        return bool(self._output or self._raw) or wait_for(self._socket.fileno(), select.POLLIN, seconds=0)

    def close(self) -> None:
        """See `Channel.close`."""
        if self._is_closed:
            return
        self._is_closed = True
        remove(self._container)
        # The response of the attach request first: collected after its socket, it complains (since Python 3.13).
        response = getattr(self._holder, "_response", None)
        if response is not None:
            with contextlib.suppress(OSError, ValueError):
                response.close()
        with contextlib.suppress(OSError):
            self._holder.close()
        with contextlib.suppress(OSError):
            self._socket.close()

    def _fill(self, deadline: float) -> None:
        """Read once, and move every whole chunk to where it belongs."""
        try:
            self._socket.settimeout(seconds_left(deadline))
            piece = self._socket.recv(_READ_BYTES)
        except OSError as error:
            raise LaneError(f"the container does not answer: {error}") from error
        if not piece:
            raise LaneError(f"the container ended: {self._complaint[-500:].decode(errors='replace').strip()}")
        self._raw += piece
        while len(self._raw) >= _HEADER_BYTES:
            end = _HEADER_BYTES + int.from_bytes(self._raw[4:_HEADER_BYTES], "big")
            if len(self._raw) < end:
                return
            chunk = self._raw[_HEADER_BYTES:end]
            if self._raw[0] == _STDOUT:
                self._output += chunk
            else:
                self._complaint = (self._complaint + chunk)[-_COMPLAINT_BYTES_MAX:]
            del self._raw[:end]
