"""What a candidate's process loses before the first byte of the candidate runs."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from leakscale_sandbox.seccomp import Filter
from leakscale_sandbox.verdicts import Limits
from leakscale_sandbox.wire import RESULT_BYTES_MAX

__all__ = ["Confinement"]

_DESCRIPTOR_COUNT_MAX = 64
_STACK_BYTES = 8 << 20
_SHARED_LIMITS = (
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_SIGPENDING, 8),
    (resource.RLIMIT_STACK, _STACK_BYTES),
)
"""Limits under which PID 1 itself can work; a child inherits them."""
_OWN_LIMITS = (
    # The filter refuses clone already; this holds where a filter of another kernel would not.
    (resource.RLIMIT_NPROC, 1),
    # One byte more than a frame holds, so that PID 1 can tell too much from just enough.
    (resource.RLIMIT_FSIZE, RESULT_BYTES_MAX + 1),
)


class Confinement:
    """Takes everything from a process but its memory and a few descriptors.

    Made by PID 1 before the first fork, which then does what can be done once: a candidate waits for the rest.
    """

    def __init__(self, syscall_filter: Filter) -> None:
        """Put this process under the limits that a child shall inherit."""
        self._filter = syscall_filter
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        names = (resource.RLIMIT_CPU, resource.RLIMIT_AS, *(name for name, _ in _OWN_LIMITS))
        self._standing = {name: resource.getrlimit(name)[1] for name in names}
        for name, value in _SHARED_LIMITS:
            hard = _tighter(value, resource.getrlimit(name)[1])
            resource.setrlimit(name, (hard, hard))

    def apply(self, limits: Limits, *, kept: Sequence[int]) -> None:
        """Confine the calling process, for good.

        Args:
            limits: CPU seconds and address space of the process.
            kept: Descriptors above 2 that stay open; 0, 1 and 2 become /dev/null.

        Raises:
            OSError: If one step fails; the caller must exit.
        """
        os.setsid()
        for descriptor in (0, 1, 2):
            os.dup2(self._null, descriptor)
        _close_all_but(kept)
        cpu = limits.cpu_time_s_max
        # At the soft limit SIGXCPU can be blocked, though not caught, at the hard one SIGKILL cannot.
        self._lower(resource.RLIMIT_CPU, cpu, cpu + 1)
        self._lower(resource.RLIMIT_AS, limits.memory_bytes_max, limits.memory_bytes_max)
        for name, value in _OWN_LIMITS:
            self._lower(name, value, value)
        # Last: the steps before need calls that it refuses.
        self._filter.install()

    def _lower(self, name: int, soft: int, hard: int) -> None:
        """Set a limit, or keep a tighter one that stands already."""
        hard = _tighter(hard, self._standing[name])
        resource.setrlimit(name, (min(soft, hard), hard))


def _tighter(limit: int, standing: int) -> int:
    return limit if standing == resource.RLIM_INFINITY else min(limit, standing)


def _close_all_but(kept: Sequence[int]) -> None:
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, _DESCRIPTOR_COUNT_MAX)
