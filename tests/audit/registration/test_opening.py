"""Opening an audit draws once, and records enough for anybody to draw again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.audit.registration.builders import NOW, an_audit, parent_line, write_lines
from typer.testing import CliRunner

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.opening import draw_again, open_audit, read_draw
from leakscale.audit.registration.plan import load_plan
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import ConflictError, InvalidRequestError, NotFoundError


def _frame(folder: Path, size: int = 6) -> Path:
    return write_lines(folder / "frame.jsonl", [parent_line(number) for number in range(size)])


def test_a_draw_can_be_drawn_again(tmp_path: Path) -> None:
    """A sample that was chosen can be made to show anything."""
    directory, record = open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, now=NOW)
    bank = read_bank(directory.bank(BankRole.AUDIT))
    assert draw_again(directory, read_draw(directory)) == bank
    assert (record.population_size, record.sample_size, record.fresh_count) == (6, 4, 2)
    assert all(parent.fresh == (None, None) for parent in bank.parents)
    assert AuditLedger(directory).entries()[0].kind is EntryKind.DRAW


def test_the_frame_is_kept_without_rewrites(tmp_path: Path) -> None:
    """It lies outside the private folder."""
    directory, _ = open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, now=NOW)
    assert "crates" in (tmp_path / "frame.jsonl").read_text()
    assert "crates" not in directory.frame.read_text()


def test_rewrites_that_exist_are_taken_for_the_drawn_parents(tmp_path: Path) -> None:
    """A bank that was written beforehand, or a log's."""
    directory = an_audit(tmp_path)
    bank = read_bank(directory.bank(BankRole.AUDIT))
    assert all(form is not None for parent in bank.parents for form in parent.fresh)
    assert len(bank.parents) == 4


def test_a_bank_of_rewrites_for_nobody_who_was_drawn_is_refused(tmp_path: Path) -> None:
    """Its ids are other ones; all places would stay empty without a word."""
    other = write_lines(tmp_path / "other.jsonl", [parent_line(number, prefix="q") for number in range(6)])
    with pytest.raises(InvalidRequestError, match=r"none of the 4 drawn parents is in it \(it has 'q0', drawn was 'p"):
        open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, rewrites=other)


def test_rewrites_of_another_original_are_refused(tmp_path: Path) -> None:
    """They would be compared with a question that they do not rewrite."""
    lines = [parent_line(number) | {"gold": "1"} for number in range(6)]
    other = write_lines(tmp_path / "other.jsonl", lines)
    with pytest.raises(InvalidRequestError, match=r"parent 'p\d': its original in the bank of rewrites is not"):
        open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, rewrites=other)
    assert not (tmp_path / "a").exists()


def test_an_audit_is_drawn_once(tmp_path: Path) -> None:
    """A second draw would choose between two samples."""
    open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, now=NOW)
    with pytest.raises(ConflictError, match="is an audit already, and its sample is drawn"):
        open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=6)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    """The folder that somebody names by mistake is full of something."""
    with pytest.raises(ConflictError, match="holds other files"):
        open_audit(tmp_path, frame=_frame(tmp_path), size=4, seed=5)
    with pytest.raises(ConflictError, match="is a file"):
        open_audit(tmp_path / "frame.jsonl", frame=_frame(tmp_path), size=4, seed=5)


def test_an_opening_that_broke_off_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half an audit must neither pass for one nor stand in the way."""

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(AuditLedger, "append", fail)
        with pytest.raises(KeyboardInterrupt):
            open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5)
    with pytest.raises(NotFoundError, match="is no audit directory"):
        AuditDirectory.existing(tmp_path / "a")
    open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, now=NOW)
    assert len(AuditLedger(AuditDirectory.existing(tmp_path / "a")).entries()) == 1


@pytest.mark.parametrize(("folder", "name"), [("GSM8K 2026", "gsm8k-2026"), ("--", "audit"), ("x" * 80, "x" * 63)])
def test_the_plan_is_named_after_its_folder(tmp_path: Path, folder: str, name: str) -> None:
    """One field less to fill in, and what is left empty is asked for."""
    directory, _ = open_audit(tmp_path / folder, frame=_frame(tmp_path), size=4, seed=5, now=NOW)
    assert f'name = "{name}"' in directory.plan.read_text()
    with pytest.raises(InvalidRequestError, match=r"field 'benchmark\.source'"):
        load_plan(directory.plan)


def test_the_plan_has_a_control_table_where_there_is_a_control_bank(tmp_path: Path) -> None:
    """Without the table the lock refuses the bank."""
    control = write_lines(tmp_path / "c.jsonl", [parent_line(9)])
    directory, _ = open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, control=control, now=NOW)
    assert "\n[control]\nprivate = true\nprovenance = " in directory.plan.read_text()
    assert directory.bank(BankRole.CONTROL).exists()


def test_signing_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain install has no cryptography, and half an audit is begun again after it is there."""
    with monkeypatch.context() as bare:
        bare.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
        with pytest.raises(
            InvalidRequestError, match=r"signing needs cryptography; run `pip install 'leakscale\[audit\]'`"
        ):
            open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5)
    open_audit(tmp_path / "a", frame=_frame(tmp_path), size=4, seed=5, now=NOW)


def test_opening_that_was_killed_before_its_first_file_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark comes first: without it, what is in the folder would be somebody else's."""
    frame, mkdir = _frame(tmp_path), Path.mkdir

    def killed(path: Path, *arguments: Any, **options: Any) -> None:
        mkdir(path, *arguments, **options)
        if path.name == "private":
            raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(Path, "mkdir", killed)
        open_audit(tmp_path / "a", frame=frame, size=4, seed=5, now=NOW)
    assert (tmp_path / "a" / "private").is_dir()
    open_audit(tmp_path / "a", frame=frame, size=4, seed=5, now=NOW)


def test_a_simple_sample_of_a_frame_with_strata_is_told(tmp_path: Path) -> None:
    """A draw is made once."""
    lines = [parent_line(number) | {"stratum": ("easy", "hard")[number % 2]} for number in range(6)]
    frame = write_lines(tmp_path / "frame.jsonl", lines)
    shell = Shell(console=Console(), server="", token=None)
    arguments = ["audit", "new", str(tmp_path / "a"), "--frame", str(frame)]
    simple = CliRunner().invoke(app, [*arguments, "--sample", "4"], obj=shell)
    arguments[2] = str(tmp_path / "b")
    within = CliRunner().invoke(app, [*arguments, "--sample", "easy=2", "--sample", "hard=2"], obj=shell)

    assert "--sample easy=N --sample hard=N draws within them" in simple.stderr
    assert "note" not in within.stderr
