"""One lane on a node of a Ray cluster: that node's own backend, which the server speaks to by calls.

Bytes are passed on unread; what a worker says is checked by the server, as ever. Nothing here imports ray: the class
becomes an actor in `ray_backend`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakscale_server.sandbox_pool.backends import prepare_backend
from leakscale_server.sandbox_pool.bundle import worker_digest
from leakscale_server.sandbox_pool.contract import BackendUnavailable
from leakscale_server.sandbox_pool.lanes import LaneError

if TYPE_CHECKING:
    from pathlib import Path

    from leakscale_server.sandbox_pool.contract import Backend, Channel
    from leakscale_server.sandbox_pool.lanes import LaneSettings

__all__ = ["LaneHost", "NodeIdentity"]


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """What a lane on some node is; see `BackendIdentity`."""

    runtime: str
    image_digest: str
    worker_digest: str


class LaneHost:
    """A backend and its one lane. Two calls may run at once, so that `close` need not wait for a program's end."""

    def __init__(self, backend: str, state_dir: Path, runtime: str) -> None:
        self._arguments = (backend, state_dir, runtime)
        self._backend: Backend | None = None
        self._channel: Channel | None = None

    def start(self, settings: LaneSettings) -> NodeIdentity:
        """Open the backend and start the lane. Not in the constructor: what fails there reaches nobody as itself.

        Raises:
            LaneError: If this node cannot run the backend, or the lane does not start.
        """
        name, state_dir, runtime = self._arguments
        try:
            self._backend = prepare_backend(name, state_dir=state_dir, runtime=runtime)
        except BackendUnavailable as error:
            raise LaneError(str(error)) from None  # travels between processes, which that one does not
        try:
            self._channel = self._backend.start_lane(settings)
        except BaseException:
            self._backend.close()
            raise
        return NodeIdentity(self._backend.runtime, self._backend.image_digest, worker_digest())

    def send(self, data: bytes, seconds: float) -> None:
        """Write all bytes within so many seconds; see `Channel.send`."""
        self._running().send(data, deadline=time.monotonic() + seconds)

    def receive(self, byte_count: int, seconds: float) -> bytes:
        """Read exactly so many bytes within so many seconds; see `Channel.receive`."""
        return self._running().receive(byte_count, deadline=time.monotonic() + seconds)

    def has_pending(self) -> bool:
        """See `Channel.has_pending`."""
        return self._running().has_pending()

    def close(self) -> None:
        """Destroy the worker, and the backend with it."""
        if self._channel is not None:
            self._channel.close()
        if self._backend is not None:
            self._backend.close()

    def _running(self) -> Channel:
        if self._channel is None:
            raise LaneError("the lane was not started")
        return self._channel
