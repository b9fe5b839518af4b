"""Remove containers: our own when a lane ends, and what dead servers left behind."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from docker.errors import APIError, DockerException, NotFound

from leakscale_server.sandbox_pool.owners import is_gone

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

__all__ = ["CONTAINER_LABEL", "OWNER_LABEL", "Sweeper", "remove", "sweep"]

CONTAINER_LABEL = "leakscale.sandbox"
OWNER_LABEL = "leakscale.sandbox.owner"

_REMOVAL_S_MAX = 10.0
_PAUSE_S = 0.02
_SWEEP_S = 60.0
_END_S_MAX = 5.0


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


class Sweeper:
    """Sweeps again and again: a server that runs for weeks outlives many that were killed beside it."""

    def __init__(self, client: DockerClient, *, interval_s: float = _SWEEP_S) -> None:
        """Start sweeping after the first interval.

        Args:
            client: Stays open until the sweeper is closed.
            interval_s: Seconds between two sweeps.
        """
        self._client = client
        self._interval_s = interval_s
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and give a sweep that is under way a moment to end. Safe to call twice."""
        self._closed.set()
        self._thread.join(_END_S_MAX)

    def _run(self) -> None:
        while not self._closed.wait(self._interval_s):
            # A daemon that does not answer now is asked again; a job that needs it says what is wrong.
            with contextlib.suppress(DockerException, OSError):
                sweep(self._client)
