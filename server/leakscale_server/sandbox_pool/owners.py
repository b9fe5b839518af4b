"""Say who owns a container, in a label, so that what a killed server left can be told from what a live one uses."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_gone", "this_process"]

_PARTS = 4


def this_process() -> str:
    """Return `boot/pid namespace/pid/start time` of this process: no two processes ever share it."""
    return "/".join((_boot(), _pid_namespace(), str(os.getpid()), _start_time(os.getpid()) or "0"))


def is_gone(owner: str) -> bool:
    """Return whether the process is known to be dead. One of another PID namespace is never known to be."""
    parts = owner.split("/")
    if len(parts) != _PARTS:
        return False
    boot, namespace, pid, start_time = parts
    if boot != _boot():
        # Containers do not survive a boot either; a daemon of another machine keeps what is not ours.
        return False
    return namespace == _pid_namespace() and _start_time(int(pid)) != start_time


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())


def _start_time(pid: int) -> str | None:
    """Return a process's start in clock ticks since boot, or None if there is no such process or it is a zombie."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name before the last parenthesis may hold anything; the state follows it, and 19 fields later the start time.
    fields = facts.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]
