"""What a candidate's process loses before the first byte of the candidate runs."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from leakscale_sandbox.seccomp import Filter
from leakscale_sandbox.verdicts import Limits
from leakscale_sandbox.wire import RESULT_BYTES_MAX

__all__ = ["confine"]

_DESCRIPTOR_COUNT_MAX = 64
_STACK_BYTES = 8 << 20
_FIXED_LIMITS = (
    (resource.RLIMIT_CORE, 0),
    # The filter refuses clone already; this holds where a filter of another kernel would not.
    (resource.RLIMIT_NPROC, 1),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_SIGPENDING, 8),
    (resource.RLIMIT_STACK, _STACK_BYTES),
    # One byte more than a frame holds, so that PID 1 can tell too much from just enough.
    (resource.RLIMIT_FSIZE, RESULT_BYTES_MAX + 1),
)


def confine(limits: Limits, *, null: int, kept: Sequence[int], syscall_filter: Filter) -> None:
    """Take everything from the calling process but its memory and two descriptors.

    Args:
        limits: CPU seconds and address space of the process.
        null: Descriptor of /dev/null, which becomes 0, 1 and 2.
        kept: Descriptors above 2 that stay open.
        syscall_filter: Installed last: the steps before need calls that it refuses.

    Raises:
        OSError: If one step fails; the caller must exit.
    """
    os.setsid()
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    _close_all_but(kept)
    cpu = limits.cpu_time_s_max
    # At the soft limit SIGXCPU can be blocked, though not caught, at the hard one SIGKILL cannot.
    _lower(resource.RLIMIT_CPU, cpu, cpu + 1)
    _lower(resource.RLIMIT_AS, limits.memory_bytes_max, limits.memory_bytes_max)
    for name, value in _FIXED_LIMITS:
        _lower(name, value, value)
    syscall_filter.install()


def _close_all_but(kept: Sequence[int]) -> None:
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, _DESCRIPTOR_COUNT_MAX)


def _lower(name: int, soft: int, hard: int) -> None:
    """Set a limit, or keep a tighter one that stands already."""
    standing = resource.getrlimit(name)[1]
    if standing != resource.RLIM_INFINITY:
        hard = min(hard, standing)
    resource.setrlimit(name, (min(soft, hard), hard))
