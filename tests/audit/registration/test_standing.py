"""What the ledger has entered has to be there, unchanged, whatever lies in the folders."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.audit.controls.builders import a_control, a_spoken_control, a_word_problem_audit
from typer.testing import CliRunner, Result

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.standing import Standing
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import IntegrityError

KINDS = {
    "scores": "scores/registered/audit/tiny.base.correct.jsonl",
    "confidences": "scores/registered/audit/tiny.base.confidence.jsonl",
    "how the run went": "scores/registered/audit/tiny.base.quality.json",
    "scores of a control's run": "scores/registered/control/tiny.leak-null.correct.jsonl",
    "analysis": "analysis/registered/analysis.json",
    "a table of the analysis": "analysis/registered/3-advantage.csv",
    "control": "controls/leak/control.json",
    "numbers of the control": "controls/leak/numbers/analysis.json",
    "a table of the control": "controls/leak/numbers/tables.txt",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> AuditDirectory:
    """An audit with an analysis and a positive control; tests copy it."""
    return a_spoken_control(a_word_problem_audit(tmp_path_factory.mktemp("standing"), own_count=4), a_control())


@pytest.fixture
def directory(finished: AuditDirectory, tmp_path: Path) -> AuditDirectory:
    """A copy to be tampered with."""
    return AuditDirectory(shutil.copytree(finished.root, tmp_path / "audit"))


def run(*arguments: object) -> Result:
    """Run a verb of the audit."""
    shell = Shell(console=Console(), server="", token=None)
    return CliRunner().invoke(app, ["audit", *map(str, arguments)], obj=shell)


def deleted(path: Path) -> None:
    """Remove the folder that a file is in."""
    shutil.rmtree(path.parent)


def edited(path: Path) -> None:
    """Change a byte."""
    path.write_bytes(path.read_bytes()[:-2] + b" \n")


def test_every_file_that_may_be_published_is_bound_by_an_entry(finished: AuditDirectory) -> None:
    """Otherwise the tests below would show only that the bound ones are."""
    published = [path for top in ("scores", "analysis", "controls") for path in (finished.root / top).rglob("*")]
    bound = {path for path, _ in Standing(finished).files()}

    assert {path for path in published if path.is_file()} == bound
    assert {finished.root / name for name in KINDS.values()} <= bound


@pytest.mark.parametrize("verb", ["analyze", "report", "show"])
@pytest.mark.parametrize("tamper", [deleted, edited])
@pytest.mark.parametrize("name", KINDS.values(), ids=list(KINDS))
def test_what_was_entered_and_is_gone_or_another_stops_the_audit(
    directory: AuditDirectory, name: str, tamper: Callable[[Path], None], verb: str
) -> None:
    """A warning, a bad control or a bad model is not got rid of by removing its file."""
    ledger = directory.ledger.read_bytes()
    tamper(directory.root / name)
    outcome = run(verb, directory.root)

    assert isinstance(outcome.exception, IntegrityError)
    message = str(outcome.exception)
    assert str((directory.root / name).parent) in message
    assert "of the ledger names it" in message or "that the ledger names" in message
    assert message.endswith("restore it from a copy")
    assert directory.ledger.read_bytes() == ledger


def test_each_file_is_held_against_the_digest_of_its_own(directory: AuditDirectory) -> None:
    """One by one: no file hides behind another."""
    for path, _ in Standing(directory).files():
        whole = path.read_bytes()
        edited(path)
        with pytest.raises(IntegrityError, match=f"'{path}' is not the one that the ledger names"):
            Standing(directory).require_whole()
        path.write_bytes(whole)
    Standing(directory).require_whole()


@pytest.mark.parametrize("verb", ["analyze", "report", "show"])
def test_the_frame_is_held_too(directory: AuditDirectory, verb: str) -> None:
    """It decides how large the benchmark is."""
    assert run(verb, directory.root).exit_code == 0
    directory.frame.write_bytes(directory.frame.read_bytes().replace(b"sum-", b"sun-", 1))
    changed = run(verb, directory.root)
    directory.frame.unlink()
    missing = run(verb, directory.root)

    assert "was changed after the draw" in str(changed.exception)
    assert "is missing, and the sample was drawn from it" in str(missing.exception)


def test_a_published_audit_is_held_without_its_private_forms(directory: AuditDirectory) -> None:
    """Everything outside private/ goes with the report."""
    shutil.rmtree(directory.private)
    outcome = run("show", directory.root)

    assert outcome.exit_code == 0, outcome.output
    assert "that the ledger names, all there and unchanged" in outcome.output


def test_an_analysis_that_was_deleted_is_not_entered_again(directory: AuditDirectory) -> None:
    """It would look like a second try."""
    shutil.rmtree(directory.analysis)
    run("analyze", directory.root)

    analyses = [entry for entry in AuditLedger(directory).entries() if entry.kind is EntryKind.ANALYSIS]
    assert [entry.subject for entry in analyses] == [KINDS["analysis"], KINDS["numbers of the control"]]


def test_a_head_that_is_empty_is_none(directory: AuditDirectory) -> None:
    """A variable that a script forgot to set must not pass for a check."""
    outcome = run("show", directory.root, "--head", "")

    assert "head '' is none" in str(outcome.exception)


def test_a_locked_audit_is_not_ready_to_be_locked(directory: AuditDirectory) -> None:
    """Check lists what the lock asks for, and the first of it is that nothing is locked."""
    outcome = run("check", directory.root)

    assert outcome.exit_code == 1
    assert "was locked at" in outcome.output


def test_a_file_that_nobody_entered_is_not_a_reports(directory: AuditDirectory) -> None:
    """Its list says where numbers come from."""
    (directory.root / "scores" / "forged.csv").write_text("1", encoding="utf-8")
    outcome = run("report", directory.root)

    assert outcome.exit_code == 0, outcome.output
    assert "forged.csv" not in (directory.root / "report.md").read_text(encoding="utf-8")
