"""What the sandbox is compared with: a container for each candidate, under the same restrictions."""

from __future__ import annotations

import statistics
import subprocess
import time

__all__ = ["docker_run_s"]

_FLAGS = (
    *("--rm", "--network", "none", "--read-only", "--ipc", "none", "--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges", "--pids-limit", "32"),
    *("--memory", "512m", "--memory-swap", "512m", "--log-driver", "none"),
)


def docker_run_s(image: str, *, sample: int) -> float:
    """Return the median seconds of a hardened `docker run` of an empty program: what it costs before any work."""
    seconds = []
    for _ in range(sample):
        started = time.perf_counter()
        subprocess.run(["docker", "run", *_FLAGS, image, "-I", "-S", "-c", "pass"], check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)
