"""What may stand in a ledger after what: nothing that would choose a result is entered, or read where it was."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.audit.registration.builders import NOW, an_audit
from typer.testing import CliRunner

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration import ledger as ledgers
from leakscale.audit.registration.ledger import AuditLedger, EntryKind, Head
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.models import Amendment
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import ConflictError, IntegrityError

SCORES = "scores/registered/audit/tiny.base.correct.jsonl"
LOCKED = [(EntryKind.LOCK, "registration.json", b"1")]
BREACHES = {
    "second draw": ([(EntryKind.DRAW, "draw.json", b"2")], "an audit is drawn or fetched once, first"),
    "fetch after a draw": ([(EntryKind.FETCH, "draw.json", b"2")], "an audit is drawn or fetched once, first"),
    "deposit before the lock": ([(EntryKind.DEPOSIT, "audits/demo", b"1")], "(deposit) stands before the lock"),
    "second lock": ([*LOCKED, (EntryKind.LOCK, "registration.json", b"2")], "an audit is locked once"),
    "scores before the lock": ([(EntryKind.SCORES, SCORES, b"1")], f"'{SCORES}' (scores) stands before the lock"),
    "amendment before the lock": ([(EntryKind.AMENDMENT, "amendment-1", b"1")], "(amendment) stands before the lock"),
    "control before the lock": (
        [(EntryKind.CONTROL, "controls/leak/control.json", b"1")],
        "(control) stands before the lock",
    ),
    "other scores of the same name": (
        [*LOCKED, (EntryKind.SCORES, SCORES, b"1"), (EntryKind.SCORES, SCORES, b"2")],
        f"'{SCORES}' is entered a second time, after entry 3",
    ),
    "amendment out of turn": (
        [*LOCKED, (EntryKind.AMENDMENT, "amendment-2", b"1")],
        "'amendment-2' stands where 'amendment-1' belongs",
    ),
    "scores of no amendment": (
        [*LOCKED, (EntryKind.SCORES, "scores/amendment-1/audit/tiny.base.correct.jsonl", b"1")],
        "is of an amendment that was not logged before",
    ),
    "scores after their analysis": (
        [
            *LOCKED,
            (EntryKind.SCORES, SCORES, b"1"),
            (EntryKind.ANALYSIS, "analysis/registered/analysis.json", b"1"),
            (EntryKind.SCORES, SCORES.replace("correct", "confidence"), b"1"),
        ],
        "is entered after the analysis of its variant, entry 4",
    ),
    "numbers of no control": (
        [*LOCKED, (EntryKind.ANALYSIS, "controls/leak/numbers/analysis.json", b"1")],
        "is of a control that was not registered before",
    ),
}


def enter(directory: AuditDirectory, entries: list[tuple[EntryKind, str, bytes]]) -> None:
    """Append entries as they come."""
    for kind, subject, digest in entries:
        AuditLedger(directory).append(kind, subject=subject, digest=digest * 32, at=NOW)


@pytest.mark.parametrize(("entries", "rule"), BREACHES.values(), ids=list(BREACHES))
def test_what_breaks_the_order_is_not_entered(
    tmp_path: Path, entries: list[tuple[EntryKind, str, bytes]], rule: str
) -> None:
    """The file keeps what it had."""
    directory = an_audit(tmp_path)
    enter(directory, entries[:-1])
    before = directory.ledger.read_bytes()
    with pytest.raises(ConflictError, match=re.escape(rule)) as caught:
        enter(directory, entries[-1:])

    assert "\n" not in str(caught.value)
    assert directory.ledger.read_bytes() == before


@pytest.mark.parametrize(("entries", "rule"), BREACHES.values(), ids=list(BREACHES))
def test_what_broke_the_order_elsewhere_is_refused_wherever_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[tuple[EntryKind, str, bytes]], rule: str
) -> None:
    """Whoever holds the key can sign a line by other means, and every signature of the ledger holds."""
    directory = an_audit(tmp_path)
    with monkeypatch.context() as without_law:
        without_law.setattr(ledgers, "breach_of", lambda _entries: None)
        enter(directory, entries)
        assert len(AuditLedger(directory).entries()) == len(entries) + 1
    with pytest.raises(IntegrityError, match=f"entry {len(entries) + 1}: .*{re.escape(rule)}; restore the file"):
        AuditLedger(directory).entries()


def test_a_second_lock_does_not_go_on_from_the_head_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publishing the head of the lock fixes the rules, whatever is signed below it."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    published = Head.parse(str(AuditLedger(directory).head()))
    monkeypatch.setattr(ledgers, "breach_of", lambda _entries: None)
    enter(directory, LOCKED)
    monkeypatch.undo()
    with pytest.raises(IntegrityError, match="an audit is locked once"):
        AuditLedger(directory).require_extends(published)


def test_the_same_thing_again_is_no_second_entry(tmp_path: Path) -> None:
    """A command that is repeated changes nothing; another digest is another thing."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    ledger = AuditLedger(directory)
    for _ in range(2):
        ledger.append_once(EntryKind.SCORES, subject=SCORES, digest=b"1" * 32, facts={})
    with pytest.raises(ConflictError, match="is entered a second time, after entry 3"):
        ledger.append_once(EntryKind.SCORES, subject=SCORES, digest=b"2" * 32, facts={})

    assert len(ledger.entries()) == 3


AMENDMENT = Amendment(1, "cut off", {"decoding.token_count_max": 1024}, NOW.isoformat(), ())
UNSOUND = {
    "amendment without fields": (EntryKind.AMENDMENT, "amendment-1", {}),
    "amendment of another number": (EntryKind.AMENDMENT, "amendment-1", AMENDMENT.to_json() | {"number": 7}),
    "amendment that leads elsewhere": (EntryKind.AMENDMENT, "amendment-1", AMENDMENT.to_json() | {"number": "../x"}),
    "amendment of another digest": (EntryKind.AMENDMENT, "amendment-1", AMENDMENT.to_json()),
    "control without a name": (EntryKind.CONTROL, "controls/x/control.json", {}),
    "control of another name": (EntryKind.CONTROL, "controls/x/control.json", {"control": "../.."}),
    "control whose name is a number": (EntryKind.CONTROL, "controls/x/control.json", {"control": 5}),
    "import without notes": (EntryKind.SCORES, SCORES, {"made_by": "import"}),
    "files that lead elsewhere": (EntryKind.SCORES, SCORES, {"files": {"../../key": "0" * 64}}),
}


@pytest.mark.parametrize(("kind", "subject", "facts"), UNSOUND.values(), ids=list(UNSOUND))
def test_an_entry_says_what_its_kind_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: EntryKind, subject: str, facts: dict[str, Any]
) -> None:
    """Whoever holds the key can sign anything; who reads it later must not stumble over it."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    ledger = AuditLedger(directory)
    with pytest.raises(ConflictError, match="does not say what such an entry says"):
        ledger.append(kind, subject=subject, digest=b"1" * 32, facts=facts, at=NOW)
    with monkeypatch.context() as without_law:
        without_law.setattr(ledgers, "breach_of", lambda _entries: None)
        ledger.append(kind, subject=subject, digest=b"1" * 32, facts=facts, at=NOW)
    with pytest.raises(IntegrityError, match=r"entry 3: .*does not say what such an entry says") as caught:
        ledger.entries()

    assert "\n" not in str(caught.value)


def test_a_clock_that_was_set_back_is_told(tmp_path: Path) -> None:
    """The order is the ledger's; the moments are a clock's word."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW - timedelta(days=1))
    shell = Shell(console=Console(), server="", token=None)
    outcome = CliRunner().invoke(app, ["audit", "show", str(directory.root)], obj=shell)

    assert outcome.exit_code == 0, outcome.output
    assert "entry 2 is dated before entry 1; a clock was set back" in outcome.output


def test_a_moment_without_a_zone_is_no_moment(tmp_path: Path) -> None:
    """Nobody could tell what it is before."""
    directory = an_audit(tmp_path)
    with pytest.raises(ConflictError, match="is not in UTC"):
        AuditLedger(directory).append(
            EntryKind.LOCK, subject="registration.json", digest=b"1" * 32, at=NOW.replace(tzinfo=None)
        )
