"""The command line as a shell script sees it."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from leakscale import errors
from leakscale.cli.console import Console
from leakscale.cli.entry import run
from leakscale.cli.exits import ExitCode, failure_of
from leakscale.cli.shell import hoist_global_options
from leakscale.stats import EmptyCellError

SDK_ERRORS = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error") and name != "LeakScaleError"]


def leakscale(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "leakscale.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **environment},
    )


def test_help_loads_nothing_heavy() -> None:
    """Help must be instant; a stray import at the top of a verb would load a tensor library to print text."""
    code = (
        "import sys; from leakscale.cli.entry import run; run(['--help']);"
        "print(sorted({'torch', 'transformers', 'numpy', 'scipy', 'grpc', 'jinja2', 'matplotlib'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.rstrip().endswith("[]")
    assert "analyze" in done.stdout


def test_importing_leakscale_loads_nothing_heavy() -> None:
    """A notebook imports the package before it knows what it needs."""
    code = "import sys, leakscale; print({'torch', 'numpy', 'grpc', 'rich'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("arguments", [["nope"], ["report"], ["--nope"], []])
def test_usage_errors_are_one_line_and_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A script tells a typo from a failed study by the code."""
    code = run(arguments)

    error = capsys.readouterr().err
    assert code == ExitCode.USAGE
    assert error.count("\n") == 1
    assert error.startswith("error: ")
    assert "--help`" in error


@pytest.mark.parametrize(
    "arguments",
    [
        *(["experiment", "create", "x", "--edition", "e", "--model-label", "m", *more] for more in (
            ["--lifetime-days", "nan"], ["--lifetime-days", "inf"], ["--lifetime-days", "1e308"],
            ["--bank-seed", str(2**63)], ["--bootstrap-seed", str(2**63)], ["--draws", str(2**31)],
        )),
        *(["grant", "approve", "g", "--days", days] for days in ("nan", "inf", "1e308", "-1")),
        ["grant", "request", "e", "--preservation", str(2**31)],
    ],
)  # fmt: skip
def test_a_number_that_nothing_can_hold_is_a_usage_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anybody is called, and with the option's name."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert run(arguments) == ExitCode.USAGE
    assert arguments[-2] in capsys.readouterr().err


def test_error_as_json_is_one_value_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program that reads stdout must find a result there or nothing."""
    code = run(["analyze", str(tmp_path), "--json"])

    captured = capsys.readouterr()
    error = json.loads(captured.err)["error"]
    assert captured.out == ""
    assert code == error["exit_code"] == ExitCode.USAGE
    assert error["reason"] == "not_found"
    assert "analysis/disclosure.json" in error["message"]


def test_traceback_appears_on_request_only(tmp_path: Path) -> None:
    """A traceback tells a user nothing and a developer everything."""
    plain = leakscale("analyze", str(tmp_path))
    debug = leakscale("analyze", str(tmp_path), LEAKSCALE_DEBUG="1")

    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr
    assert plain.stderr == debug.stderr.splitlines(keepends=True)[-1]


@pytest.mark.parametrize("kind", SDK_ERRORS)
def test_every_error_of_the_sdk_has_a_code_that_is_not_internal(kind: type[Exception]) -> None:
    """An error raised on purpose must never look like a bug."""
    failure = failure_of(kind("subject 'x'\nis wrong; do this"))

    assert failure.exit_code not in {ExitCode.INTERNAL, ExitCode.OK}
    assert failure.message == "subject 'x' is wrong; do this"
    assert failure.reason.islower()


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (errors.UnavailableError("no server"), 3, "no server"),
        (errors.PermissionDeniedError("wrong token"), 4, "wrong token"),
        (errors.NotSealedError("bank"), 4, "bank"),
        (errors.IntegrityError("digest"), 1, "digest"),
        (EmptyCellError("no family"), 2, "no family"),
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/a"), 3, "free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "/root/a"), 2, "'/root/a': Permission denied"),
        (ConnectionRefusedError("refused"), 3, "--server"),
        (ZeroDivisionError("division by zero"), 5, "LEAKSCALE_DEBUG=1"),
        (ModuleNotFoundError("No module named 'torch'", name="torch"), 2, "pip install 'leakscale[train]'"),
        (ModuleNotFoundError("No module named 'leakscale.x'", name="leakscale.x"), 5, "LEAKSCALE_DEBUG=1"),
        (typer.Abort(), 130, "run the same command again"),
    ],
)
def test_errors_get_the_code_of_the_table(error: Exception, code: int, words: str) -> None:
    """The table in the module's docstring is what scripts are written against."""
    failure = failure_of(error)

    assert failure.exit_code == code
    assert words in failure.message


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        (["report", "x", "--json"], ["--json", "report", "x"]),
        (["certify", "--server", "h:1", "x", "--token=t"], ["--server", "h:1", "--token=t", "certify", "x"]),
        (["certify", "--", "--json"], ["certify", "--", "--json"]),
        (["certify", "--server"], ["--server", "certify"]),
    ],
)
def test_global_options_may_stand_anywhere(typed: list[str], sent: list[str]) -> None:
    """People append `--json` to the command they have just typed."""
    assert hoist_global_options(typed) == sent


@given(st.lists(st.sampled_from(["report", "--json", "--server", "--token=x", "--", "a", "--out"])))
def test_hoisting_loses_and_invents_nothing(arguments: list[str]) -> None:
    """Moving is all that may happen to an argument."""
    assert sorted(hoist_global_options(arguments)) == sorted(arguments)


def test_no_name_commands_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A label of somebody else's could clear the screen, forge a line, or turn one around."""
    Console().result({}, text="a\x1b[2Jb\rc\u202ed\u2028e\tf\nÄ\u00a0日本 🔑")

    assert capsys.readouterr().out == "a\\x1b[2Jb\\rc\\u202ed\\u2028e\tf\nÄ\u00a0日本 🔑\n"
