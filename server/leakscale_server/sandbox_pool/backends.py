"""Open a backend by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leakscale_server.sandbox_pool.contract import BackendUnavailable
from leakscale_server.sandbox_pool.lanes import LaneError
from leakscale_server.sandbox_pool.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from leakscale_server.sandbox_pool.contract import Backend

__all__ = ["BACKEND_NAMES", "open_backend", "prove"]

BACKEND_NAMES = ("docker", "bubblewrap")


def open_backend(name: str, *, state_dir: Path) -> Backend:
    """Prepare a backend's image, and make sure that a worker starts on this host.

    Args:
        name: `"docker"` or `"bubblewrap"`. There is no third, weaker one, and no silent downgrade.
        state_dir: Folder for the cached image; made if missing.

    Raises:
        BackendUnavailable: If this host cannot, with the reason and what to do.
        ValueError: If there is no such backend.
    """
    return prove(_open(name, state_dir))


def prove(backend: Backend) -> Backend:
    """Return a backend once one of its workers greeted: a daemon that answers may still not start containers.

    Raises:
        BackendUnavailable: If the worker does not start; the backend is closed then.
    """
    try:
        Session(backend.start_lane(0)).close()
    except LaneError as error:
        backend.close()
        raise BackendUnavailable(
            f"no sandbox worker starts under {backend.name}: {error}", "choose another backend, or repair this one"
        ) from error
    return backend


def _open(name: str, state_dir: Path) -> Backend:
    # Imported late: a server on bubblewrap need not have the docker package.
    if name == "docker":
        from leakscale_server.sandbox_pool.docker_backend import DockerBackend  # noqa: PLC0415

        return DockerBackend.open(state_dir)
    if name == "bubblewrap":
        from leakscale_server.sandbox_pool.bubblewrap_backend import BubblewrapBackend  # noqa: PLC0415

        return BubblewrapBackend.open(state_dir)
    raise ValueError(f"sandbox backend {name!r} does not exist; choose one of {', '.join(BACKEND_NAMES)}")
