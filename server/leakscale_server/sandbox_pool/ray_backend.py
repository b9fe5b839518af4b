"""Workers on the nodes of a Ray cluster: each lane a Docker container or a jail on some node, spoken to through Ray.

Certificates name the backend of the nodes, not Ray: where a program ran changes nothing that it returns. Every node
must have the same image and the same worker, to the digest.

Hidden fixtures travel to the nodes, and stay in their memory as long as a job runs. Does *not* guard against a node's
administrator, nor against who listens between nodes: use a cluster of your own, with Ray's TLS.

ray is imported here only.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from leakscale_server.sandbox_pool.bundle import worker_digest
from leakscale_server.sandbox_pool.contract import BackendUnavailable
from leakscale_server.sandbox_pool.lanes import LaneError, LaneSettings, seconds_left
from leakscale_server.sandbox_pool.ray_host import LaneHost, NodeIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LANE_RESOURCE", "RayBackend"]

LANE_RESOURCE: Final = "leakscale_lane"
"""Custom resource of the nodes that can host lanes: `ray start --resources '{"leakscale_lane": 4}'`."""
_USUAL_SHARE: Final = 0.9
_RARE_SHARE: Final = 0.01
"""Of one place, which lanes of the two passes and the further ones take. What two places keep free is enough for all of
these, and three lanes of a pass never share two."""
_START_S_MAX: Final = 120.0
"""A node's first lane builds or unpacks the image there; one that takes the place of a dead node's waits for room."""
_CLOSE_S_MAX: Final = 15.0
_MARGIN_S: Final = 10.0
"""On top of a deadline that the host of a lane keeps itself."""
_CALLS_AT_ONCE: Final = 2
"""Of one host: `close` beside what waits for a program."""


class RayBackend:
    """Starts one actor a lane, wherever the cluster has room for one. Named as the backend of its nodes."""

    def __init__(self, ray: Any, backend: str, *, state_dir: Path, runtime: str) -> None:
        """Take a cluster that is joined; `open` joins one."""
        self.name, self.runtime, self.image_digest = backend, runtime, ""
        self._ray = ray
        self._arguments = (backend, state_dir.absolute(), runtime)
        self._class = ray.remote(
            num_cpus=0,
            max_restarts=0,
            max_concurrency=_CALLS_AT_ONCE,
            scheduling_strategy="SPREAD",
        )(LaneHost)
        self._room = 0
        """The most lanes that the cluster has had room for: a node that was lost may come back."""
        # Weak: a lane that was replaced is gone from here too.
        self._channels: WeakSet[_RayChannel] = WeakSet()
        self._identity: NodeIdentity | None = None
        self._lock = threading.Lock()

    @classmethod
    def open(cls, backend: str, *, address: str, state_dir: Path, runtime: str = "") -> RayBackend:
        """Join a cluster. A process stays in the one that it joined first.

        Args:
            backend: Of every node, `"docker"` or `"bubblewrap"`.
            address: Of the cluster, `HOST:PORT` or `auto`.
            state_dir: Folder for the cached image, on each node; made if missing.
            runtime: Docker only; see `open_backend`.

        Raises:
            BackendUnavailable: If ray is missing, the cluster cannot be joined, or none of its nodes hosts lanes.
        """
        opened = cls(_join(address), backend, state_dir=state_dir, runtime=runtime)
        if not opened._find_room():
            raise BackendUnavailable(
                f"no node of Ray cluster {address!r} hosts lanes",
                f"start nodes with `ray start --resources '{{\"{LANE_RESOURCE}\": N}}'`, where {backend} works",
            )
        return opened

    def start_lane(self, settings: LaneSettings) -> _RayChannel:
        """Start a lane on some node; see `Backend.start_lane`."""
        with self._lock:
            # Ray would wait for a place without a word.
            usual = sum(not channel.is_closed and not channel.is_rare for channel in self._channels)
            if not settings.is_rare and usual >= self._find_room():
                raise LaneError(
                    f"the Ray cluster has room for {self._room} lanes, and all are taken; start more nodes with "
                    f"{LANE_RESOURCE}, or use fewer lanes"
                )
            share = {LANE_RESOURCE: _RARE_SHARE if settings.is_rare else _USUAL_SHARE}
            host = self._class.options(resources=share).remote(*self._arguments)
            channel = _RayChannel(self._ray, host, is_rare=settings.is_rare)
            self._channels.add(channel)
        try:
            self._check_identity(channel.start(settings))
        except BaseException:
            channel.close()
            raise
        return channel

    def close(self) -> None:
        """Destroy every lane that this backend started; the cluster stays, and this process in it."""
        for channel in list(self._channels):
            channel.close()

    def _find_room(self) -> int:
        self._room = max(self._room, int(self._ray.cluster_resources().get(LANE_RESOURCE, 0)))
        return self._room

    def _check_identity(self, found: NodeIdentity) -> None:
        if found.worker_digest != worker_digest():
            raise LaneError("a node has another version of the sandbox's worker; install one version everywhere")
        with self._lock:
            self._identity = self._identity or found
            self.runtime, self.image_digest = self._identity.runtime, self._identity.image_digest
        if found != self._identity:
            raise LaneError(
                f"a node has another sandbox image than the first ({found.image_digest}, not {self.image_digest}); "
                "give every node the same Python"
            )


class _RayChannel:
    """The bytes of one lane; see `Channel`."""

    def __init__(self, ray: Any, host: Any, *, is_rare: bool) -> None:
        self._ray, self._host = ray, host
        self.is_rare = is_rare
        self._closing = threading.Lock()
        self._is_started = False
        self.is_closed = False

    def start(self, settings: LaneSettings) -> NodeIdentity:
        """Start the lane on its node.

        Raises:
            LaneError: If it does not start, or no node has room for it in time.
        """
        identity: NodeIdentity = self._get(self._host.start.remote(settings), _START_S_MAX)
        self._is_started = True
        return identity

    def send(self, data: bytes, *, deadline: float) -> None:
        """See `Channel.send`."""
        seconds = seconds_left(deadline)
        self._get(self._host.send.remote(data, seconds), seconds + _MARGIN_S)

    def receive(self, byte_count: int, *, deadline: float) -> bytes:
        """See `Channel.receive`."""
        seconds = seconds_left(deadline)
        received: bytes = self._get(self._host.receive.remote(byte_count, seconds), seconds + _MARGIN_S)
        return received

    def has_pending(self) -> bool:
        """See `Channel.has_pending`."""
        return bool(self._get(self._host.has_pending.remote(), _MARGIN_S))

    def close(self) -> None:
        """See `Channel.close`. The host ends too, and its place on the node is free again."""
        with self._closing:
            if not self.is_closed:
                self.is_closed = True
                if self._is_started:
                    with contextlib.suppress(LaneError):
                        self._get(self._host.close.remote(), _CLOSE_S_MAX)
                self._ray.kill(self._host)

    def _get(self, ref: Any, seconds: float) -> Any:
        """Return what the lane's host answered.

        Raises:
            LaneError: If the lane broke, its host died, or it did not answer in time.
        """
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref, timeout=seconds)
        except errors.RayTaskError as error:
            raise LaneError(f"on its node: {_line(error.cause)}") from error
        except errors.GetTimeoutError as error:
            raise LaneError("its node did not answer in time") from error
        except errors.RayError as error:
            raise LaneError(f"its node is gone: {_line(error)}") from error


def _join(address: str) -> Any:
    try:
        import ray  # noqa: PLC0415 - an extra, and seconds to load
    except ModuleNotFoundError as error:
        raise BackendUnavailable("the package ray is not installed", "run `pip install 'leakscale[ray]'`") from error
    if not ray.is_initialized():
        try:
            with _signals_kept():
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
        except (ConnectionError, ray.exceptions.RayError, RuntimeError, ValueError) as error:
            raise BackendUnavailable(
                f"Ray cluster {address!r} cannot be joined: {_line(error)}", "start one with `ray start --head`"
            ) from error
    return ray


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Let a server finish its calls on SIGTERM: Ray would end the process at once instead."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _line(error: BaseException) -> str:
    """Return what an error says, without the stack that Ray puts behind it."""
    return str(error).strip().split("\n", 1)[0]
