"""Workers in Docker containers: no network, no capabilities, read-only, spoken to over the attach socket."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from weakref import WeakSet

import docker
from docker.errors import DockerException, ImageNotFound
from docker.types import LogConfig

from leakscale_server.sandbox_pool.archive import USER_ID
from leakscale_server.sandbox_pool.bundle import interpreter_arguments
from leakscale_server.sandbox_pool.containers import CONTAINER_LABEL, OWNER_LABEL, Sweeper, remove, sweep
from leakscale_server.sandbox_pool.contract import BackendUnavailable
from leakscale_server.sandbox_pool.docker_channel import DockerChannel
from leakscale_server.sandbox_pool.image_cache import ImageCache
from leakscale_server.sandbox_pool.lanes import LaneError, LaneSettings
from leakscale_server.sandbox_pool.owners import this_process

if TYPE_CHECKING:
    from pathlib import Path

    from docker.models.containers import Container

    from leakscale_server.sandbox_pool.image_cache import ImageNames

__all__ = ["DockerBackend"]

_API_S_MAX = 60
_MEMORY = "512m"
_PROCESS_COUNT_MAX = 32
_USUAL_RUNTIME = "runc"


class DockerBackend:
    """Starts one hardened container a lane."""

    name = "docker"

    def __init__(self, client: docker.DockerClient, image_id: str, names: ImageNames, *, runtime: str) -> None:
        self.runtime = "" if runtime == _USUAL_RUNTIME else runtime
        self.image_digest = names.image_digest
        self._client = client
        self._runtime = runtime
        self._image_id = image_id
        self._owner = this_process()
        # Weak: a lane that was replaced is gone from here too.
        self._channels: WeakSet[DockerChannel] = WeakSet()
        self._sweeper = Sweeper(client)

    @classmethod
    def open(cls, state_dir: Path, *, runtime: str = "") -> DockerBackend:
        """Find the daemon, remove what dead servers left, and load the image if the daemon lacks it.

        Args:
            runtime: A stronger runtime that the daemon knows, such as `"runsc"`; empty for the daemon's default.

        Raises:
            BackendUnavailable: If no daemon answers, it has no such runtime, or it does not take the image.
        """
        try:
            client = docker.from_env(timeout=_API_S_MAX)
            client.ping()
        except DockerException as error:
            raise BackendUnavailable(
                "no Docker daemon answers", "run `docker/engine.sh start`, or choose the backend bubblewrap"
            ) from error
        try:
            runtime = _find_runtime(client, runtime)
            sweep(client)
            cache = ImageCache(state_dir)
            return cls(client, *_ensure_image(client, cache), runtime=runtime)
        except BackendUnavailable:
            client.close()
            raise
        except (DockerException, OSError) as error:
            client.close()
            raise BackendUnavailable(
                f"the Docker daemon does not take the sandbox image: {error}", "see `docker info`"
            ) from error

    def start_lane(self, settings: LaneSettings) -> DockerChannel:
        """Start a container; see `Backend.start_lane`.

        The order matters: a container that exists is always in somebody's hands. It is created, attached to, started;
        if one step fails it is removed.
        """
        container: Container | None = None
        try:
            container = self._create(settings)
            channel = DockerChannel(container)
            container.start()
        except (DockerException, OSError) as error:
            if container is not None:
                remove(container)
            raise LaneError(f"a container does not start: {error}") from error
        self._channels.add(channel)
        return channel

    def close(self) -> None:
        """Destroy every container that this backend started."""
        self._sweeper.close()
        for channel in list(self._channels):
            channel.close()
        self._client.close()

    def _create(self, settings: LaneSettings) -> Container:
        return self._client.containers.create(
            self._image_id,
            interpreter_arguments(is_second=settings.is_second, shift=settings.shift),
            user=f"{USER_ID}:{USER_ID}",
            environment={"PYTHONHASHSEED": str(settings.hash_seed)},
            labels={CONTAINER_LABEL: "1", OWNER_LABEL: self._owner},
            runtime=self._runtime,
            hostname="sandbox",
            network_mode="none",
            ipc_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            pids_limit=_PROCESS_COUNT_MAX,
            mem_limit=_MEMORY,
            # Equal to the memory limit: no swap.
            memswap_limit=_MEMORY,
            # Results are in the pipe and nowhere else.
            log_config=LogConfig(type=LogConfig.types.NONE),
            # Standard input ends when its one client goes, so a killed server's worker ends too, and is removed.
            stdin_open=True,
            auto_remove=True,
            tty=False,
            init=False,
            privileged=False,
        )


def _find_runtime(client: docker.DockerClient, asked: str) -> str:
    """Return the runtime that containers get: the one asked for, or the daemon's default."""
    info = client.info()
    known = sorted(info["Runtimes"])
    if asked and asked not in known:
        raise BackendUnavailable(
            f"the Docker daemon has no runtime {asked!r} (it has {', '.join(known)})",
            "add it to the daemon's configuration, or leave out --docker-runtime",
        )
    return asked or str(info["DefaultRuntime"])


def _ensure_image(client: docker.DockerClient, cache: ImageCache) -> tuple[str, ImageNames]:
    """Return the daemon's own id of our image, loaded if missing, and the image's names."""
    known = cache.known()
    if known is not None and (loaded := _loaded(client, known)):
        return loaded, known
    with cache.built() as image:
        if loaded := _loaded(client, image.names):
            return loaded, image.names
        with image.archive.open("rb") as file:
            client.images.load(file)
        if loaded := _loaded(client, image.names):
            return loaded, image.names
    raise OSError("the loaded image holds another layer")


def _loaded(client: docker.DockerClient, names: ImageNames) -> str:
    """Return the daemon's own id of an image; empty where it has none.

    Daemons with the containerd store name images by another digest than ours, so the layer is what is compared.
    """
    with contextlib.suppress(ImageNotFound):
        image = client.images.get(names.tag)
        if image.attrs["RootFS"]["Layers"] == [names.layer_digest]:
            return str(image.id)
    return ""
