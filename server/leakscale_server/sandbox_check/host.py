"""Say what kernel, daemon and worker a sandbox stands on, as lines for people and for `--json`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from leakscale_server.sandbox_pool import BackendIdentity

__all__ = ["host_facts"]

_UNKNOWN: Final = "unknown"
_SECCOMP_ACTIONS: Final = Path("/proc/sys/kernel/seccomp/actions_avail")
_NAMESPACE_COUNT: Final = Path("/proc/sys/user/max_user_namespaces")
_NAMESPACE_SWITCHES: Final = {
    # Debian's switch, and Ubuntu's: each has another value for "programs without privileges may".
    Path("/proc/sys/kernel/unprivileged_userns_clone"): "1",
    Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"): "0",
}
_CGROUP_ROOT: Final = Path("/sys/fs/cgroup")
_VERSION_S_MAX: Final = 10


def host_facts(identity: BackendIdentity) -> dict[str, str]:
    """Return what this host offers, in the order in which to print it.

    Args:
        identity: Of a pool that was entered.
    """
    kernel = os.uname()
    facts = {
        "kernel": f"{kernel.sysname} {kernel.release} {kernel.machine}",
        "cgroups": _cgroups(),
        "seccomp": _seccomp(),
        "user namespaces": _user_namespaces(),
    }
    facts |= _of_docker(identity.runtime) if identity.backend == "docker" else _of_bubblewrap()
    facts |= {
        "image": identity.image_digest,
        "worker": identity.worker_digest,
        "Python inside": identity.python_build,
        "SQLite inside": identity.facts.sqlite_version,
    }
    return facts


def _cgroups() -> str:
    if (_CGROUP_ROOT / "cgroup.controllers").exists():
        return "v2"
    return "v1" if _CGROUP_ROOT.is_dir() and any(_CGROUP_ROOT.iterdir()) else "not mounted"


def _seccomp() -> str:
    actions = _read(_SECCOMP_ACTIONS)
    return "filters that kill the process" if actions and "kill_process" in actions.split() else "no kill_process"


def _user_namespaces() -> str:
    count = _read(_NAMESPACE_COUNT)
    if count is None:
        return _UNKNOWN
    closed = [path.name for path, open_value in _NAMESPACE_SWITCHES.items() if _read(path) not in (None, open_value)]
    return f"{count}, but not without privileges ({', '.join(closed)})" if closed else count


def _of_docker(runtime: str) -> dict[str, str]:
    import docker  # noqa: PLC0415 - a server on bubblewrap need not have it
    from docker.errors import DockerException  # noqa: PLC0415

    try:
        client = docker.from_env()
        try:
            info: dict[str, Any] = client.info()
        finally:
            client.close()
    except DockerException:
        return {"Docker": _UNKNOWN}
    names = {"memory": "MemoryLimit", "swap": "SwapLimit", "processes": "PidsLimit"}
    return {
        "Docker": str(info["ServerVersion"]),
        "limits of containers": ", ".join(f"{name} {'yes' if info.get(key) else 'NO'}" for name, key in names.items()),
        "runtime": f"{runtime or info['DefaultRuntime']} (of {', '.join(sorted(info['Runtimes']))})",
    }


def _of_bubblewrap() -> dict[str, str]:
    from leakscale_server.sandbox_pool.bubblewrap_backend import find_bwrap  # noqa: PLC0415

    bwrap = find_bwrap()
    if bwrap is None:
        return {"bubblewrap": _UNKNOWN}
    told = subprocess.run([bwrap, "--version"], capture_output=True, text=True, timeout=_VERSION_S_MAX, check=False)
    return {"bubblewrap": told.stdout.strip().removeprefix("bubblewrap ") or _UNKNOWN}


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return None
