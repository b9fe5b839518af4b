"""Ctrl-C in `leakscale adapt` outside its optimizer steps: the words promise what is there, and no more."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leakscale.cli.exits import ExitCode, interrupted, telling_what_is_kept
from leakscale.training_files import CHECKPOINT_FILE, unfinished_folder

NOTHING = "nothing of the training was there yet"


@pytest.fixture
def silent_server(tmp_path: Path) -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "silent.sock"))
        listener.listen()
        listener.settimeout(60)
        yield listener


def last_line_of_interrupted_adapt(server: socket.socket, output: Path) -> str:
    """Send Ctrl-C to the command while it waits for the server."""
    arguments = ["world", "--model", "tiny", "--output", str(output), "--request-id", "r"]
    command = [sys.executable, "-m", "leakscale.cli", "adapt", *arguments, "--server", f"unix:{server.getsockname()}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    connection, _ = server.accept()
    with connection:
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED, error
    assert out == ""
    return error.splitlines()[-1]


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ("", NOTHING),
        ("folder without a checkpoint", NOTHING),
        ("checkpoint", "training is kept up to its last checkpoint"),
        ("adapter", "the adapter is complete"),
    ],
)
def test_ctrl_c_before_a_step_says_what_is_there(
    silent_server: socket.socket, tmp_path: Path, there: str, words: str
) -> None:
    """Whoever reads that something is kept where nothing is goes home too early."""
    output = tmp_path / "a"
    if there == "adapter":
        output.mkdir()
    elif there:
        unfinished_folder(output).mkdir()
    if there == "checkpoint":
        (unfinished_folder(output) / CHECKPOINT_FILE).write_bytes(b"state")

    line = last_line_of_interrupted_adapt(silent_server, output)

    assert line == f"error: interrupted; {words}, run the same command again to go on"


def test_ctrl_c_in_an_import_says_what_is_there(tmp_path: Path) -> None:
    """Loading torch takes seconds, in which most people change their minds; it ends the process at once."""
    (tmp_path / "slow_library.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    code = (
        "import sys\n"
        "from leakscale.cli.app import app\n"
        "from leakscale.cli.entry import run\n"
        "from leakscale.cli.exits import telling_what_is_kept\n"
        "@app.command()\n"
        "def load() -> None:\n"
        "    with telling_what_is_kept(lambda: 'nothing yet'):\n"
        "        import slow_library\n"
        f"sys.path.append({str(tmp_path)!r})\n"
        "sys.exit(run(['load']))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"

    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)

    assert process.returncode == ExitCode.INTERRUPTED
    assert error == "error: interrupted; nothing yet, run the same command again to go on\n"


def test_an_interruption_that_knows_better_keeps_its_words() -> None:
    """A training run in its steps names the step."""
    with pytest.raises(KeyboardInterrupt, match=r"^training is kept up to step 3 of 7$"), telling_what_is_kept(str):
        raise KeyboardInterrupt("training is kept up to step 3 of 7")


def test_the_words_end_with_the_block() -> None:
    """What one command says is no other's."""
    with telling_what_is_kept(lambda: "nothing yet"):
        assert interrupted().message.startswith("interrupted; nothing yet, ")
    assert interrupted().message.startswith("interrupted; what was finished is kept, ")
