"""Workers on the nodes of a Ray cluster: each lane a Docker container or a jail on some node, spoken to through Ray.

A lane's host is an actor that opens the backend of its node and passes bytes on without reading them; what a worker
says is checked here, as ever. Certificates name the backend below, not Ray: where a program ran changes nothing that it
returns, and every node must have the same image to the digest.

Hidden fixtures travel to the nodes and stay in their memory as long as a job runs. Does not guard against a node's
administrator, nor against who listens between nodes: use a cluster of your own, with Ray's TLS.

ray is imported here only.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from leakscale_server.sandbox_pool.backends import BACKEND_NAMES, open_backend
from leakscale_server.sandbox_pool.contract import BackendUnavailable
from leakscale_server.sandbox_pool.lanes import LaneError, seconds_left

if TYPE_CHECKING:
    from pathlib import Path

    from leakscale_server.sandbox_pool.contract import Backend, Channel

__all__ = ["LANE_RESOURCE", "RayBackend"]

LANE_RESOURCE: Final = "leakscale_lane"
"""Custom resource of the nodes that can host lanes: `ray start --resources '{"leakscale_lane": 4}'`."""
_START_S_MAX: Final = 300.0
"""A node's first lane builds or unpacks the image there."""
_CLOSE_S_MAX: Final = 10.0
_MARGIN_S: Final = 10.0
"""On top of a deadline that the host of a lane keeps itself."""


@dataclass(frozen=True, slots=True)
class _Identity:
    """What a node's backend is."""

    name: str
    runtime: str
    image_digest: str


class _LaneHost:
    """A backend and one of its lanes, on some node."""

    def __init__(self, name: str, state_dir: Path, runtime: str) -> None:
        self._arguments = (name, state_dir, runtime)
        self._backend: Backend | None = None
        self._channel: Channel | None = None

    def start(self, lane: int) -> _Identity:
        """Open the backend and start the lane. Not in the constructor: what fails there reaches nobody as itself."""
        name, state_dir, runtime = self._arguments
        state_dir.mkdir(parents=True, exist_ok=True)
        self._backend = open_backend(name, state_dir=state_dir, runtime=runtime)
        self._channel = self._backend.start_lane(lane)
        return _Identity(self._backend.name, self._backend.runtime, self._backend.image_digest)

    def send(self, data: bytes, seconds: float) -> None:
        """Write all bytes."""
        self._running().send(data, deadline=time.monotonic() + seconds)

    def receive(self, byte_count: int, seconds: float) -> bytes:
        """Read exactly so many bytes."""
        return self._running().receive(byte_count, deadline=time.monotonic() + seconds)

    def has_pending(self) -> bool:
        """Return whether bytes wait."""
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


class _RayChannel:
    """The bytes of one lane; see `Channel`."""

    def __init__(self, ray: Any, host: Any) -> None:
        self._ray, self._host = ray, host
        self._is_closed = False

    def send(self, data: bytes, *, deadline: float) -> None:
        """Write all bytes."""
        self._ask("send", data, deadline=deadline)

    def receive(self, byte_count: int, *, deadline: float) -> bytes:
        """Read exactly `byte_count` bytes."""
        received: bytes = self._ask("receive", byte_count, deadline=deadline)
        return received

    def has_pending(self) -> bool:
        """Return whether bytes wait that nobody asked for."""
        return bool(_get(self._ray, self._host.has_pending.remote(), _MARGIN_S))

    def close(self) -> None:
        """Destroy the worker and its host."""
        if not self._is_closed:
            self._is_closed = True
            with contextlib.suppress(LaneError):
                _get(self._ray, self._host.close.remote(), _CLOSE_S_MAX)
            self._ray.kill(self._host)

    def _ask(self, method: str, argument: bytes | int, *, deadline: float) -> Any:
        seconds = seconds_left(deadline)
        return _get(self._ray, getattr(self._host, method).remote(argument, seconds), seconds + _MARGIN_S)


class RayBackend:
    """Starts one actor a lane, wherever the cluster has room for one. Named as the backend of its nodes."""

    def __init__(self, ray: Any, backend: str, *, state_dir: Path, runtime: str) -> None:
        self._ray = ray
        self._arguments = (backend, state_dir, runtime)
        self.name = self.runtime = self.image_digest = ""
        remote = ray.remote(num_cpus=0, resources={LANE_RESOURCE: 1}, max_restarts=0, scheduling_strategy="SPREAD")
        self._class = remote(_LaneHost)
        self._channels: WeakSet[_RayChannel] = WeakSet()
        self._identity: _Identity | None = None

    @classmethod
    def open(cls, backend: str, *, address: str, state_dir: Path, runtime: str = "") -> RayBackend:
        """Join a cluster and start one lane on it, to see that it can and what it is.

        Args:
            backend: Of every node, `"docker"` or `"bubblewrap"`.
            address: Of the cluster, e.g. `auto`.
            state_dir: Folder for the cached image, on each node.
            runtime: Docker only; see `open_backend`.

        Raises:
            BackendUnavailable: If ray is missing, the cluster cannot be joined, or no node can host a lane.
            ValueError: If there is no such backend; `auto` is none, for nodes could choose differently.
        """
        if backend not in BACKEND_NAMES:
            raise ValueError(f"sandbox backend {backend!r} on a Ray cluster: choose {' or '.join(BACKEND_NAMES)}")
        opened = cls(_join(address), backend, state_dir=state_dir, runtime=runtime)
        try:
            opened.start_lane(0).close()
        except LaneError as error:
            raise BackendUnavailable(
                f"no lane starts on the Ray cluster: {error}",
                f"start nodes with --resources '{{\"{LANE_RESOURCE}\": N}}' and {backend} on them",
            ) from error
        return opened

    def start_lane(self, lane: int) -> _RayChannel:
        """Start a lane on some node; see `Backend.start_lane`."""
        host = self._class.remote(*self._arguments)
        try:
            identity: _Identity = _get(self._ray, host.start.remote(lane), _START_S_MAX)
        except LaneError:
            self._ray.kill(host)
            raise
        if self._identity is None:
            self._identity = identity
            self.name, self.runtime, self.image_digest = identity.name, identity.runtime, identity.image_digest
        channel = _RayChannel(self._ray, host)
        if identity != self._identity:
            channel.close()
            raise LaneError(f"a node has another sandbox than the first: {identity.image_digest}")
        self._channels.add(channel)
        return channel

    def close(self) -> None:
        """Destroy every lane that this backend started."""
        for channel in list(self._channels):
            channel.close()


def _join(address: str) -> Any:
    try:
        import ray  # noqa: PLC0415 - an extra, and seconds to load
    except ModuleNotFoundError as error:
        raise BackendUnavailable("the package ray is not installed", "run `pip install 'leakscale[ray]'`") from error
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise BackendUnavailable(
                f"Ray cluster {address!r} cannot be joined: {str(error).strip().splitlines()[0]}",
                "start one with `ray start --head`",
            ) from error
    return ray


def _get(ray: Any, ref: Any, seconds: float) -> Any:
    """Return what a lane's host answered.

    Raises:
        LaneError: If the lane broke, its host died, or it did not answer in time.
    """
    try:
        return ray.get(ref, timeout=seconds)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        raise cause if isinstance(cause, LaneError) else LaneError(f"a lane's host failed: {cause}") from error
    except ray.exceptions.GetTimeoutError as error:
        raise LaneError("no node answered in time") from error
    except ray.exceptions.RayError as error:
        raise LaneError(f"the node of a lane is gone: {str(error).strip().splitlines()[0]}") from error
