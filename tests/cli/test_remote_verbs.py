"""Verbs that call a server, where there is none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from leakscale.cli.app import app
from leakscale.cli.entry import run
from leakscale.cli.exits import ExitCode

NOWHERE = ["--server", "unix:/nonexistent/leakscale.sock"]


@pytest.mark.parametrize(
    "verb",
    [
        ["server", "status"],
        ["edition", "list"],
        ["edition", "freeze", "demo"],
        ["experiment", "show", "demo"],
        ["bank", "show", "experiments/demo/banks/sql-base"],
        ["audit", "fetch", "audits/demo", "no-such-folder"],
    ],
)
def test_missing_server_is_one_line_with_the_next_step(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The first mistake that everybody makes is to forget the server."""
    code = run([*verb, *NOWHERE])

    captured = capsys.readouterr()
    assert code == ExitCode.SERVER
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "leakscale server start" in captured.err


def test_missing_server_as_json_names_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """A script decides by the reason, not by the words."""
    run(["server", "status", "--json", *NOWHERE])

    assert json.loads(capsys.readouterr().err)["error"]["reason"] == "unavailable"


@pytest.mark.parametrize("verb", [["certify", "missing.toml"], ["demo", "--study", "missing.toml"]])
def test_missing_file_is_named_before_any_server_is_asked(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A typo costs no connection and no start of a server."""
    code = run([*verb, *NOWHERE])

    assert code == ExitCode.USAGE
    assert "missing.toml" in capsys.readouterr().err


@pytest.mark.parametrize("group", ["server", "edition", "experiment", "bank"])
def test_group_without_a_verb_shows_its_help(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever types half a command sees the other halves."""
    code = run([group])

    captured = capsys.readouterr()
    assert code == ExitCode.USAGE
    assert "Commands" in captured.out + captured.err
    assert captured.err.endswith(f"error: Missing command; see `leakscale {group} --help`\n")


def test_interrupted_command_says_in_its_own_words_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """A training run knows its step; a general promise could be wrong."""

    @app.command("interrupted-here", hidden=True)
    def interrupted_here() -> None:
        raise KeyboardInterrupt("training is kept up to step 3 of 7")

    try:
        code = run(["interrupted-here"])
    finally:
        app.registered_commands.pop()

    assert code == ExitCode.INTERRUPTED
    error = capsys.readouterr().err
    assert error == "error: interrupted; training is kept up to step 3 of 7, run the same command again to go on\n"


def test_interrupted_command_says_that_it_can_be_repeated() -> None:
    """Ctrl-C is a normal way to end a long study; it must not look like a crash."""
    code = (
        "import os, signal, time, sys\n"
        "from leakscale.cli.app import app\n"
        "from leakscale.cli.entry import run\n"
        "@app.command()\n"
        "def wait() -> None:\n"
        "    print('waiting', flush=True)\n"
        "    time.sleep(60)\n"
        "sys.exit(run(['wait']))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"

    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)

    assert process.returncode == ExitCode.INTERRUPTED
    assert error == "error: interrupted; what was finished is kept, run the same command again to go on\n"
