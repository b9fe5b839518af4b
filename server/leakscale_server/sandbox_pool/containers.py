"""Remove containers: our own when a lane ends, and what dead servers left behind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from docker.errors import APIError, NotFound

from leakscale_server.sandbox_pool.owners import is_gone

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

__all__ = ["CONTAINER_LABEL", "OWNER_LABEL", "remove", "sweep"]

CONTAINER_LABEL = "leakscale.sandbox"
OWNER_LABEL = "leakscale.sandbox.owner"

_REMOVAL_S_MAX = 10.0
_PAUSE_S = 0.02


def remove(container: Container) -> None:
    """Kill and remove a container, and wait until it is gone."""
    deadline = time.monotonic() + _REMOVAL_S_MAX
    while time.monotonic() < deadline:
        try:
            container.remove(force=True, v=True)
        except NotFound:
            return
        except APIError:  # its removal is in progress already
            time.sleep(_PAUSE_S)
        except OSError:  # the daemon is gone; its containers end with their standard input
            return


def sweep(client: DockerClient) -> None:
    """Remove containers whose server is dead. Those of live servers stay."""
    for container in client.containers.list(all=True, filters={"label": CONTAINER_LABEL}, ignore_removed=True):
        if is_gone(container.labels.get(OWNER_LABEL, "")):
            remove(container)
