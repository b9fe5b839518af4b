"""Ctrl-C ends what runs in the sandboxes, and not only the command that waits for it."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from leakscale_server.sandbox_cli.pool import open_pool
from leakscale_server.sandbox_pool import BackendUnavailable, Limits, SandboxFault, SandboxPool

from .conftest import BACKENDS
from .helpers import a_python_job

AN_HOUR = Limits(wall_time_s_max=3600, cpu_time_s_max=3600)
LOOP = "def transform(records):\n    while True:\n        pass"


class Runner(threading.Thread):
    """Runs a job on a thread of its own and keeps what came of it."""

    def __init__(self, pool: SandboxPool) -> None:
        super().__init__()
        self._pool = pool
        self.outcome: object = None

    def run(self) -> None:
        try:
            self.outcome = self._pool.run(a_python_job(LOOP, limits=AN_HOUR))
        except SandboxFault as fault:
            self.outcome = fault


@pytest.mark.parametrize("name", BACKENDS)
def test_an_interruption_ends_a_program_that_loops_for_an_hour(name: str, tmp_path: Path) -> None:
    """A command gathers its threads before it leaves the pool: without this, it would wait for the hour to pass."""
    before = signal.getsignal(signal.SIGINT)
    runners: list[Runner] = []

    def interrupted() -> None:
        with open_pool(name, runtime="", cache_dir=tmp_path, lane_count=2) as pool:
            runners.extend(Runner(pool) for _ in range(2))
            try:
                for runner in runners:
                    runner.start()
                signal.raise_signal(signal.SIGINT)
            finally:
                for runner in runners:
                    runner.join()

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    except BackendUnavailable as error:
        pytest.skip(str(error))

    assert [type(runner.outcome) for runner in runners] == [SandboxFault, SandboxFault]
    assert signal.getsignal(signal.SIGINT) is before
