"""A wrong argument is one line with option, rule and value, in no library's words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from leakscale.cli.entry import run


@pytest.mark.parametrize(
    ("arguments", "option", "words"),
    [
        (["grant", "approve", "x", "--days", "soon"], "--days", "number"),
        (["grant", "approve", "x", "--days", "nan"], "--days", "nan is no number of days from 0 to 36525"),
        (["grant", "approve", "x", "--days", "-1"], "--days", "-1 is no number of days from 0 to 36525"),
        (["evidence", "build", "x", "--backend", "podman"], "--backend", "'podman' is not one of "),
    ],
)
def test_a_wrong_argument_is_told_with_its_value(
    arguments: list[str], option: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Typer's newer versions hand on what pydantic says, which names no value."""
    assert run(arguments) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert f"Invalid value for {option}" in line.replace("'--", "--")
    assert words in line
    assert arguments[-1] in line
    assert "Value error" not in line


def test_the_server_tells_a_wrong_argument_alike() -> None:
    """It has a command line of its own."""
    command = [sys.executable, "-m", "leakscale_server", "token", "create", "--principal", "a", "--role", "king"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.startswith("leakscale-server: Invalid value for '--role': 'king' is not one of 'author', ")
    assert done.stderr.endswith("; see --help\n")
    assert "got" not in done.stderr
