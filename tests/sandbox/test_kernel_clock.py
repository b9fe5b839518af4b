"""The page that stands in for the kernel's, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

MOMENT_NS = 4_093_954_387_654_321_987
LOOK = f"""
import ctypes, json, time
from leakscale_sandbox.kernel_clock import StoppedKernelClock
clock = StoppedKernelClock({MOMENT_NS})
before = time.time_ns()
clock.install()
libc = ctypes.CDLL(None)
libc.time.restype = ctypes.c_long
seconds, moment = ctypes.c_long(), (ctypes.c_long * 2)()
told = [before, time.time_ns(), time.monotonic_ns(), libc.time(ctypes.byref(seconds)), seconds.value, libc.time(None)]
told += [libc.gettimeofday(moment, None), *moment, libc.gettimeofday(None, None)]
told += [libc.clock_gettime(1, moment), *moment, len(__import__("os").urandom(3)), libc.sched_getcpu() >= 0]
print(json.dumps(told))
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="written for x86-64")
def test_every_function_of_the_c_library_tells_the_moment() -> None:
    """A register mixed up by hand-written code would show here, not in a candidate's verdict."""
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    before, *told = json.loads(done.stdout)
    seconds, nanoseconds = divmod(MOMENT_NS, 10**9)

    assert before < MOMENT_NS
    assert told[:2] == [MOMENT_NS, MOMENT_NS]
    assert told[2:5] == [seconds] * 3
    assert told[5:9] == [0, seconds, nanoseconds // 1000, 0]
    assert told[9:12] == [0, seconds, nanoseconds]
    assert told[12:] == [3, True]
