"""A study that is killed, interrupted or out of disk goes on to the same numbers."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leakscale.errors import IntegrityError
from leakscale.resources import catalog_folder
from leakscale.study.config import StudyShapes, load_study
from leakscale.study.layout import open_directory

from .helpers import demo, start_demo

pytestmark = pytest.mark.slow


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists() and process.poll() is None:
        time.sleep(0.005)


def identity(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "summary.json").read_text())["identity"]
    return found


def test_a_study_killed_at_every_stage_ends_in_the_same_numbers(
    tmp_path: Path, small_study: Path, finished: Path
) -> None:
    """kill -9 as each file appears: whatever was half written, the next run heals it."""
    root = tmp_path / "run"
    moments = [
        "server/vault.db",
        "certificates.jsonl",
        "banks/sql-adapted.attempts.jsonl",
        "analysis/disclosure.json",
        "evidence.partial/evidence/banks/answers.parquet",
        "evidence/manifest.json",
    ]
    killed = 0
    for moment in moments:
        process = start_demo("--study", str(small_study), "--out", str(root))
        wait_for(root / moment, process)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL

    done = demo("--study", str(small_study), "--out", str(root))

    assert killed >= len(moments) - 1
    assert done.returncode == 0, done.stderr
    assert identity(root) == identity(finished)


@pytest.mark.parametrize("moment", ["study.json", "server.log", "training"])
def test_ctrl_c_is_one_line_and_its_exit_code(tmp_path: Path, small_study: Path, moment: str) -> None:
    """A normal way to end a long study; it must not look like a crash, nor leave a server."""
    root = tmp_path / "run"
    process = start_demo("--study", str(small_study), "--out", str(root), start_new_session=True)
    wait_for(root / moment, process)

    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=60)

    assert process.returncode == 130, error
    assert output == ""
    assert "Traceback" not in error
    assert re.fullmatch(
        "error: interrupted; (what was finished is kept|training is kept up to step [0-9]+ of [0-9]+), "
        "run the same command again to go on",
        error.splitlines()[-1],
    )
    deadline = time.monotonic() + 20
    while (left := [line for line in command_lines() if str(root) in line]) and time.monotonic() < deadline:
        time.sleep(0.05)  # its server hears of the end by itself, and closes its sandboxes
    assert not left


def command_lines() -> Iterator[str]:
    """Return what every process of this machine was started with."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield file.read_text(errors="replace")


def test_a_study_on_a_full_disk_goes_on_when_there_is_space(tmp_path: Path, small_study: Path, finished: Path) -> None:
    """Wherever it fills up, one line says so; with more space, the same numbers come out."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        for kibibytes in (64, 900):
            subprocess.run(["mount", "-o", f"remount,size={kibibytes}k", str(disk)], check=True)
            failed = demo("--study", str(small_study), "--out", str(disk / "run"))
            if failed.returncode == 0:
                break
            assert failed.returncode == 3, failed.stderr
            last = failed.stderr.splitlines()[-1]
            assert last.startswith("error: ")
            assert "space" in last or "full" in last, failed.stderr
            assert "Traceback" not in failed.stderr
        assert kibibytes > 64
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)

        done = demo("--study", str(small_study), "--out", str(disk / "run"))

        assert done.returncode == 0, done.stderr
        assert identity(disk / "run") == identity(finished)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_directory_that_another_run_holds_is_left_to_it(tmp_path: Path, small_study: Path) -> None:
    """Two commands by mistake: the second is refused, whatever the first has done so far."""
    root = tmp_path / "run"
    study = load_study(small_study)
    with open_directory(root, study, StudyShapes(catalog_folder()).read(study)):
        second = demo("--study", str(small_study), "--out", str(root))

    assert second.returncode == 4, second.stderr
    assert f"in use by process {os.getpid()}" in second.stderr.splitlines()[-1]


def test_damaged_times_of_an_unfinished_run_are_named(tmp_path: Path) -> None:
    """The message says which file to delete."""
    from leakscale.study.pipeline import _read_stages

    (tmp_path / "stages.json").write_text("{broken")

    with pytest.raises(IntegrityError, match=r"stages\.json' cannot be read: .*; delete it"):
        _read_stages(tmp_path / "stages.json")
