"""Open a backend by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leakscale_server.sandbox_pool.contract import BackendUnavailable
from leakscale_server.sandbox_pool.lanes import LaneError, LaneSettings
from leakscale_server.sandbox_pool.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from leakscale_server.sandbox_pool.contract import Backend

__all__ = ["BACKEND_NAMES", "choose_backend", "open_backend", "prepare_backend", "prove"]

BACKEND_NAMES = ("docker", "bubblewrap")
_RUNTIME_WITHOUT_DOCKER = "a container runtime can be chosen with the backend docker only"


def open_backend(name: str, *, state_dir: Path, runtime: str = "") -> Backend:
    """Prepare a backend's image, and make sure that a worker starts on this host.

    Args:
        name: `"docker"` or `"bubblewrap"`. There is no third, weaker one, and no silent downgrade.
        state_dir: Folder for the cached image; made if missing.
        runtime: Docker only: a runtime that the daemon knows, such as `"runsc"`; empty for its default.

    Raises:
        BackendUnavailable: If this host cannot, with the reason and what to do.
        ValueError: If there is no such backend, or it has no runtimes to choose from.
    """
    return prove(prepare_backend(name, state_dir=state_dir, runtime=runtime))


def choose_backend(name: str, *, state_dir: Path, runtime: str = "", ray_address: str = "") -> tuple[Backend, str]:
    """Open a backend by name, or the best one that works here.

    Args:
        name: As for `open_backend`, or `"auto"`: Docker where a daemon answers, else bubblewrap.
        state_dir: As for `open_backend`.
        runtime: As for `open_backend`; only with `"docker"`, so that nothing weaker can take its place.
        ray_address: Of a Ray cluster on whose nodes the workers run, `HOST:PORT` or `auto`; empty for this host alone.
            Not with `"auto"`: nodes could choose differently.

    Returns:
        The backend, and one line that says why it is not Docker; empty where there is nothing to say.

    Raises:
        BackendUnavailable: If nothing works.
        ValueError: As for `open_backend`.
    """
    if ray_address:
        return _open_on_ray(name, address=ray_address, state_dir=state_dir, runtime=runtime), ""
    if name != "auto":
        return open_backend(name, state_dir=state_dir, runtime=runtime), ""
    if runtime:
        raise ValueError(_RUNTIME_WITHOUT_DOCKER)
    try:
        return open_backend("docker", state_dir=state_dir), ""
    except BackendUnavailable as docker:
        try:
            backend = open_backend("bubblewrap", state_dir=state_dir)
        except BackendUnavailable as bubblewrap:
            raise BackendUnavailable(
                f"no sandbox works on this host: Docker: {docker.reason}; bubblewrap: {bubblewrap.reason}",
                bubblewrap.next_step,
            ) from docker
        return backend, f"Docker cannot be used ({docker.reason}): candidates run under bubblewrap"


def prove(backend: Backend) -> Backend:
    """Return a backend once one of its workers greeted: a daemon that answers may still not start containers.

    Raises:
        BackendUnavailable: If the worker does not start; the backend is closed then.
    """
    try:
        Session(backend.start_lane(LaneSettings.of(0))).close()
    except LaneError as error:
        backend.close()
        raise BackendUnavailable(
            f"no sandbox worker starts under {backend.name}: {error}", "choose another backend, or repair this one"
        ) from error
    return backend


def prepare_backend(name: str, *, state_dir: Path, runtime: str = "") -> Backend:
    """Prepare a backend's image, and leave it to the first worker to show that it starts; see `open_backend`.

    Raises:
        BackendUnavailable: If the image cannot be prepared, with the reason and what to do.
        ValueError: As for `open_backend`.
    """
    # Imported late: a server on bubblewrap need not have the docker package.
    if name == "docker":
        from leakscale_server.sandbox_pool.docker_backend import DockerBackend  # noqa: PLC0415

        return DockerBackend.open(state_dir, runtime=runtime)
    if runtime:
        raise ValueError(_RUNTIME_WITHOUT_DOCKER)
    if name == "bubblewrap":
        from leakscale_server.sandbox_pool.bubblewrap_backend import BubblewrapBackend  # noqa: PLC0415

        return BubblewrapBackend.open(state_dir)
    raise ValueError(f"sandbox backend {name!r} does not exist; choose one of {', '.join(BACKEND_NAMES)}")


def _open_on_ray(name: str, *, address: str, state_dir: Path, runtime: str) -> Backend:
    if name not in BACKEND_NAMES:
        raise ValueError(f"sandbox backend {name!r} on a Ray cluster: choose {' or '.join(BACKEND_NAMES)}")
    from leakscale_server.sandbox_pool.ray_backend import RayBackend  # noqa: PLC0415 - loads an extra

    return prove(RayBackend.open(name, address=address, state_dir=state_dir, runtime=runtime))
