"""The same fault ends every command that can meet it with the same code, as the table in `leakscale.cli.exits` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leakscale import errors
from leakscale.cli.entry import run
from leakscale.cli.exits import ERROR_EXITS, ExitCode, failure_of
from leakscale.inference import BankFiles, Mode, answer_bank
from leakscale.stats import errors as statistics_errors

from .builders import FakeEngine, a_question, write_bank
from .stub_endpoint import serving

READERS = {
    "plan": ["shards answer BANK --model tiny", "shards submit experiments/x/banks/y BANK", "bank compare BANK BANK"],
    "attempts": ["shards submit experiments/x/banks/y BANK", "bank compare BANK BANK"],
    "results": ["shards submit experiments/x/banks/y BANK", "bank compare BANK BANK"],
    "binding": ["shards submit experiments/x/banks/y BANK", "bank compare BANK BANK"],
}
"""Commands that read each file of a bank."""
STUDY_READERS = ["report STUDY", "analyze STUDY"]
CALLERS = [
    "bank show experiments/x/banks/y",
    "edition show x",
    "experiment show x",
    "shards submit experiments/x/banks/y BANK",
    "bank answer experiments/x/banks/y --model tiny --files BANK",
    "shards freeze experiments/x/banks/y OTHER --model tiny",
]


@pytest.fixture
def files(tmp_path: Path) -> BankFiles:
    """An answered bank."""
    found = BankFiles.of(tmp_path / "bank")
    answer_bank(write_bank(found.plan, map(a_question, range(4))), FakeEngine(Mode.EXACT_GUIDED), found)
    return found


def code_of(command: str, files: BankFiles, *, study: Path | None = None) -> int:
    """Run a command with the places of a bank, of another that is not there, and of a study put in."""
    folder = files.plan.parent
    places = {"BANK": str(folder / "bank"), "OTHER": str(folder / "other"), "STUDY": str(study)}
    return run([places.get(word, word) for word in command.split()])


@pytest.mark.parametrize(("name", "command"), [(name, each) for name, commands in READERS.items() for each in commands])
def test_missing_file_is_usage(files: BankFiles, name: str, command: str) -> None:
    """The next step is the caller's: another path, or the step before."""
    getattr(files, name).unlink()

    assert code_of(command, files) == ExitCode.USAGE


@pytest.mark.parametrize(("name", "command"), [(name, each) for name, commands in READERS.items() for each in commands])
def test_changed_file_of_ours_is_a_negative_finding(
    files: BankFiles, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that checks evidence must see that the evidence is bad, not that it was called wrongly."""
    path: Path = getattr(files, name)
    path.write_bytes(path.read_bytes().replace(b'":', b'";', 1))

    assert code_of(command, files) == ExitCode.NEGATIVE
    assert path.name in capsys.readouterr().err


@pytest.mark.parametrize("command", STUDY_READERS)
def test_study_that_is_missing_or_changed_is_told_apart_in_the_same_way(
    files: BankFiles, tmp_path: Path, command: str
) -> None:
    """Reports read files of ours too."""
    missing = code_of(command, files, study=tmp_path / "none")
    (tmp_path / "study" / "analysis").mkdir(parents=True)
    (tmp_path / "study" / "analysis" / "disclosure.json").write_text("{}")

    assert (missing, code_of(command, files, study=tmp_path / "study")) == (ExitCode.USAGE, ExitCode.NEGATIVE)


@pytest.mark.parametrize("command", CALLERS)
def test_server_that_is_not_there_is_unavailable(files: BankFiles, command: str) -> None:
    """Trying again later is right, and changing the command is not."""
    assert code_of(f"--server 127.0.0.1:1 --token t {command}", files) == ExitCode.SERVER


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, ExitCode.REFUSED), (403, ExitCode.REFUSED), (404, ExitCode.USAGE), (500, ExitCode.SERVER)],
)
def test_endpoint_that_refuses_has_the_code_that_a_server_of_ours_would_have(
    files: BankFiles, status: int, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who is called is no difference to a script."""
    for path in (files.attempts, files.results, files.binding):
        path.unlink()
    with serving() as stub:
        stub.faults.status = status
        options = f"--option url={stub.url} --option backoff_s=0.001 --option transport_failures_max=2"
        found = code_of(f"--json shards answer BANK --model tiny --engine openai {options}", files)

    told = capsys.readouterr().err.splitlines()
    assert found == code
    assert json.loads(told[-1])["error"]["exit_code"] == code
    assert told[0].startswith(f"asking endpoint '{stub.url}' for model 'tiny'")
    assert not files.attempts.exists()


def test_bank_of_another_run_is_refused(files: BankFiles) -> None:
    """The right request, and a place that is taken."""
    assert code_of("shards answer BANK --model tiny", files) == ExitCode.REFUSED


def test_every_error_of_the_package_is_in_the_table() -> None:
    """A class that nobody put there would get the code of a bug; a name that no class has would mean nothing."""
    kinds = [
        kind
        for module in (errors, statistics_errors)
        for name in module.__all__
        if isinstance(kind := getattr(module, name), type) and issubclass(kind, Exception)
    ]
    named = {kind.__name__ for kind in kinds}

    assert set(ERROR_EXITS) <= named
    for kind in kinds:
        if kind is not errors.LeakScaleError:
            wanted = next(ERROR_EXITS[each.__name__] for each in kind.__mro__ if each.__name__ in ERROR_EXITS)
            assert failure_of(kind("x")).exit_code is wanted
