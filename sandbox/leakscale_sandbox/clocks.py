"""Stop the clocks that a Python program can read, at another moment in each of the two lanes.

A program that reads the date gives the same bytes in two passes a second apart, and others tomorrow. With the clocks
stopped at two moments that agree in nothing a calendar tells, it differs today, and its family is rejected. Elapsed
time is zero, so no outcome depends on load by way of a stopwatch.

Whoever finds a way around these functions comes to the C library, whose clock `kernel_clock` stops.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from typing import Any

from leakscale_sandbox.kernel_clock import StoppedKernelClock

__all__ = ["FIRST_NS", "SECOND_NS", "StoppedClocks"]

FIRST_NS = 1_076_127_010_123_456_788
"""2004-02-07 04:10:10.123456788 UTC: a Saturday of a leap year, before anything is certified."""
SECOND_NS = 4_093_954_387_654_321_987
"""2099-09-24 17:33:07.654321987 UTC: a Thursday, after; no part of it is a part of the first."""

_MEASURES = ("time", "monotonic", "perf_counter", "process_time", "thread_time")


class StoppedClocks:
    """Clocks that show one moment for ever."""

    def __init__(self, moment_ns: int) -> None:
        """Prepare the functions; nothing changes yet.

        Args:
            moment_ns: Nanoseconds since 1970; of the monotonic clocks and of processor time as well.
        """
        self._kernel_clock = StoppedKernelClock(moment_ns)
        seconds = moment_ns / 1e9
        calendar_time = time.gmtime(moment_ns // 1_000_000_000)
        self._functions: dict[str, Callable[..., Any]] = {
            "clock_gettime": lambda _clock, /: seconds,
            "clock_gettime_ns": lambda _clock, /: moment_ns,
            "strftime": _with_default(time.strftime, calendar_time, place=1),
            "asctime": _with_default(time.asctime, calendar_time, place=0),
        }
        # The interpreter's own would wait until a moment that never comes.
        self._functions["sleep"] = _sleep
        for name in _MEASURES:
            self._functions[name] = lambda: seconds
            self._functions[f"{name}_ns"] = lambda: moment_ns
        for name in ("gmtime", "localtime", "ctime"):
            self._functions[name] = _with_default(getattr(time, name), seconds, place=0)

    def install(self) -> None:
        """Stop the clocks of this process and of those that it forks; only `RunningClock` goes on.

        Replaces the functions of `time`, which `datetime` asks too, one of `os`, and what the C library asks.
        """
        self._kernel_clock.install()
        vars(time).update(self._functions)
        vars(os)["times"] = _no_times


def _sleep(seconds: float, /) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    whole = int(seconds)
    duration = (ctypes.c_long * 2)(whole, int((seconds - whole) * 1e9))
    ctypes.CDLL(None).nanosleep(duration, None)


def _with_default(function: Callable[..., Any], default: object, *, place: int) -> Callable[..., Any]:
    """Return a function that takes `default` where its argument at `place` is left out or None."""

    def stopped(*arguments: object) -> Any:
        if arguments[place:] in ((), (None,)):
            arguments = (*arguments[:place], default)
        return function(*arguments)

    return stopped


def _no_times() -> None:
    raise PermissionError("the sandbox has no clock")
