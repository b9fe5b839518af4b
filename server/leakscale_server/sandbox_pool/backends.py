"""Open a backend by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from leakscale_server.sandbox_pool.contract import Backend

__all__ = ["BACKEND_NAMES", "open_backend"]

BACKEND_NAMES = ("docker", "bubblewrap")


def open_backend(name: str, *, state_dir: Path) -> Backend:
    """Make sure that this host can run a backend, and prepare its image.

    Args:
        name: `"docker"` or `"bubblewrap"`. There is no third, weaker one, and no silent downgrade.
        state_dir: Folder for the cached image; made if missing.

    Raises:
        BackendUnavailable: If this host cannot, with the reason and what to do.
        ValueError: If there is no such backend.
    """
    # Imported late: a server on bubblewrap need not have the docker package.
    if name == "docker":
        from leakscale_server.sandbox_pool.docker_backend import DockerBackend  # noqa: PLC0415

        return DockerBackend.open(state_dir)
    if name == "bubblewrap":
        from leakscale_server.sandbox_pool.bubblewrap_backend import BubblewrapBackend  # noqa: PLC0415

        return BubblewrapBackend.open(state_dir)
    raise ValueError(f"sandbox backend {name!r} does not exist; choose one of {', '.join(BACKEND_NAMES)}")
