"""`docker/engine.sh` with a stand-in for each program that it calls: what it does where, and in how many words."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "docker" / "engine.sh"
DEAD = "#!/bin/sh\nexit 1\n"


def run(verb: str, folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run a verb with stand-ins first on the path."""
    for name, text in programs.items():
        program = folder / name
        program.write_text(text)
        program.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "LEAKSCALE_ENGINE_DIR": str(folder / "state")}
    return subprocess.run(["sh", ENGINE, verb], env=environment, capture_output=True, text=True, check=False)


def test_a_daemon_that_answers_is_used_and_left_alone(tmp_path: Path) -> None:
    """Somebody's own Docker must not be restarted, nor stopped afterwards."""
    answers = "#!/bin/sh\necho 99.0\n"

    started = run("start", tmp_path, docker=answers, dockerd='#!/bin/sh\necho started > "$0.ran"\n')
    stopped = run("stop", tmp_path)
    told = run("status", tmp_path)

    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")
    assert (stopped.returncode, stopped.stdout) == (0, "")
    assert told.stdout == "engine: dockerd 99.0 answers (not ours)\n"
    assert not (tmp_path / "dockerd.ran").exists()


def test_without_root_it_says_what_to_do_in_one_line(tmp_path: Path) -> None:
    """The demo prints this line and goes on with bubblewrap."""
    refused = run("start", tmp_path, docker=DEAD, id="#!/bin/sh\necho 1000\n")

    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "only root can start one" in refused.stderr


def test_a_daemon_that_cannot_run_says_why_in_one_line(tmp_path: Path) -> None:
    """A container without privileges cannot mount what dockerd needs."""
    broken = (
        "#!/bin/sh\necho 'level=info msg=hello' >&2\necho 'failed to mount overlay: permission denied' >&2\nexit 1\n"
    )

    refused = run("start", tmp_path, docker=DEAD, id="#!/bin/sh\necho 0\n", dockerd=broken)

    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "failed to mount overlay: permission denied" in refused.stderr
    assert not (tmp_path / "state" / "dockerd.pid").exists()


def test_stop_does_not_kill_a_process_that_took_over_the_number(tmp_path: Path) -> None:
    """After a reboot the recorded process may be anybody's."""
    with subprocess.Popen(["sleep", "60"]) as bystander:
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "dockerd.pid").write_text(f"{bystander.pid}\n")

        stopped = run("stop", tmp_path)
        is_alive = bystander.poll() is None
        bystander.kill()

    assert stopped.returncode == 0
    assert is_alive


@pytest.mark.parametrize("verb", ["", "restart"])
def test_another_verb_prints_the_usage(tmp_path: Path, verb: str) -> None:
    """A typo must not start a daemon."""
    refused = run(verb, tmp_path)

    assert refused.returncode == 1
    assert "usage" in refused.stderr
