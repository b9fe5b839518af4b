"""What may stand in a ledger after what: nothing that would choose a result is entered, or read where it was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.audit.registration.builders import NOW, an_audit

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration import ledger as ledgers
from leakscale.audit.registration.ledger import AuditLedger, EntryKind, Head
from leakscale.audit.registration.locking import lock_audit
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
