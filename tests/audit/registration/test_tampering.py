"""What was signed cannot be changed unseen: not by a byte, not by an entry, not with another key."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.audit.registration.builders import NOW, an_audit, edit_bank

from leakscale.audit.checks import CheckSettings
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.registration.documents import registration_in
from leakscale.audit.registration.ledger import AuditLedger, EntryKind, Head
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.signing import AuditKey, AuditStatement
from leakscale.audit.registration.verifying import (
    locked_bank,
    locked_registration,
    require_locked_reading,
)
from leakscale.audit.review import ReviewLog, Verdict, review_queue
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.statements import envelope_bytes, signed_bytes, statement


def _flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def _refused(directory: AuditDirectory) -> bool:
    try:
        locked_registration(directory)
    except IntegrityError as error:
        return "restore" in str(error)
    return False


@pytest.mark.parametrize("name", ["registration.json", "draw.json", "ledger.jsonl"])
def test_a_single_changed_byte_is_found_wherever_it_is(tmp_path: Path, name: str) -> None:
    """What no signature covers, a key's name or a space, is covered too."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    path = directory.root / name
    whole = path.read_bytes()
    step = max(1, len(whole) // 150)
    for at in {*range(0, len(whole), step), len(whole) - 1}:
        _flip(path, at)
        assert _refused(directory), f"byte {at} of {name}"
        path.write_bytes(whole)
    assert locked_registration(directory).name == "demo"


def test_a_form_changed_after_the_lock_is_found(tmp_path: Path) -> None:
    """Even one that passes every check."""
    directory = an_audit(tmp_path)
    registration = lock_audit(directory, now=NOW).registration
    edit_bank(
        directory, lambda lines: lines[3]["fresh"][0].update(text=lines[3]["fresh"][0]["text"].replace("Ana", "Eva"))
    )
    with pytest.raises(IntegrityError, match=r"bank\.jsonl' was changed after the lock"):
        locked_bank(directory, registration)


@pytest.mark.parametrize("role", list(BankRole))
def test_a_gold_changed_after_the_lock_is_found(tmp_path: Path, role: BankRole) -> None:
    """A bank's digest says nothing of its golds, so they are bound beside it; in all forms at once no check objects."""
    directory = an_audit(tmp_path, control_count=4)
    registration = lock_audit(directory, now=NOW).registration
    edit_bank(
        directory,
        lambda lines: [form.update(gold="8") for form in (lines[1]["original"], *lines[1]["fresh"])],
        role=role,
    )
    with pytest.raises(IntegrityError, match=rf"{directory.bank(role).name}': a gold answer was .*\(gold-changed\)"):
        locked_bank(directory, registration, role)


def test_a_gold_of_the_frame_changed_before_the_lock_is_found(tmp_path: Path) -> None:
    """Changed in frame and bank together, it would pass as the benchmark's."""
    directory = an_audit(tmp_path)
    directory.frame.write_text(directory.frame.read_text("utf-8").replace('"gold": "25"', '"gold": "26"'), "utf-8")
    with pytest.raises(IntegrityError, match=r"frame '.*' was changed after the draw"):
        lock_audit(directory)


@pytest.mark.parametrize("content", [b"", b"1" * 31, b"1" * 32])
def test_a_lost_or_changed_nonce_is_found(tmp_path: Path, content: bytes) -> None:
    """Without the right one, nobody can say any more that the golds are those of the lock."""
    directory = an_audit(tmp_path)
    registration = lock_audit(directory, now=NOW).registration
    assert directory.nonce.stat().st_mode & 0o077 == 0
    directory.nonce.write_bytes(content)
    with pytest.raises(IntegrityError, match=r"nonce' (has|was).*restore"):
        locked_bank(directory, registration)


def test_a_frame_changed_before_the_lock_is_found(tmp_path: Path) -> None:
    """A frame with fewer parents makes every interval narrower."""
    directory = an_audit(tmp_path)
    kept = directory.frame.read_text(encoding="utf-8").splitlines()[:-1]
    directory.frame.write_text("\n".join(kept) + "\n", encoding="utf-8")
    with pytest.raises(IntegrityError, match=r"frame '.*' was changed after the draw"):
        lock_audit(directory)


def test_ledger_entries_cannot_be_dropped_or_moved(tmp_path: Path) -> None:
    """An amendment that nobody wants to show any more."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    ledger = AuditLedger(directory)
    ledger.append(EntryKind.SCORES, subject="a", digest=b"1" * 32, at=NOW)
    first, second, third = directory.ledger.read_bytes().splitlines(keepends=True)
    head = ledger.head()
    assert head.entry_count == 3
    for edited in (first + third, second + third, first + third + second, first + first + second + third, first[:-1]):
        directory.ledger.write_bytes(edited)
        with pytest.raises(IntegrityError):
            ledger.entries()
    directory.ledger.write_bytes(first + second)
    assert ledger.head().root != head.root
    with pytest.raises(IntegrityError, match="does not go on from the head of 3 entries that was published"):
        ledger.require_extends(head)


def test_a_published_head_is_gone_on_from(tmp_path: Path) -> None:
    """Whoever kept the line from the day of the lock can check the ledger of the day of the report."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    ledger = AuditLedger(directory)
    published = Head.parse(str(ledger.head()))
    ledger.append(EntryKind.SCORES, subject="a", digest=b"1" * 32, at=NOW)
    ledger.require_extends(published)
    with pytest.raises(IntegrityError, match="does not go on from the head"):
        ledger.require_extends(replace(published, key_id="0" * 64))
    with pytest.raises(InvalidRequestError, match="head '3:x:y' is none"):
        Head.parse("3:x:y")


def test_another_audits_entries_are_refused(tmp_path: Path) -> None:
    """Two audits have two keys."""
    one, other = an_audit(tmp_path / "one"), an_audit(tmp_path / "other")
    lock_audit(one, now=NOW)
    lock_audit(other, now=NOW)
    one.registration.write_bytes(other.registration.read_bytes())
    with pytest.raises(IntegrityError, match="was changed after it was signed"):
        locked_registration(one)
    lines = one.ledger.read_bytes().splitlines(keepends=True)
    one.ledger.write_bytes(lines[0] + other.ledger.read_bytes().splitlines(keepends=True)[1])
    with pytest.raises(IntegrityError, match=r"entry 2: changed after it was signed .*another key"):
        locked_registration(one)


def test_a_registration_is_a_dsse_envelope_of_an_in_toto_statement(tmp_path: Path) -> None:
    """Other tools read it."""
    directory = an_audit(tmp_path)
    lock_audit(directory, now=NOW)
    envelope = json.loads(directory.registration.read_bytes())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    assert statement["predicateType"] == "urn:leakscale:audit-registration:v2"
    assert statement["subject"][0]["name"] == "audits/demo"


def test_a_reading_changed_after_the_lock_is_found(tmp_path: Path) -> None:
    """A rejection must not become an acceptance afterwards; what is read later is added below."""
    directory = an_audit(tmp_path)
    items = review_queue(read_bank(directory.bank(BankRole.AUDIT)), CheckSettings(), role=BankRole.AUDIT)
    one, other = (str(item.name) for item in items[:2])
    ReviewLog(directory).record({one: (Verdict.ACCEPT, "at length")}, items, reviewer="Ana", now=NOW)
    registration = lock_audit(directory, now=NOW).registration
    ReviewLog(directory).record({other: (Verdict.REJECT, "seen too late")}, items, reviewer="Ana", now=NOW)
    require_locked_reading(directory, registration)
    directory.review_log.write_text(directory.review_log.read_text().replace("at length", "in haste"))
    with pytest.raises(IntegrityError, match="decisions from before the lock were changed"):
        require_locked_reading(directory, registration)


def test_a_later_versions_registration_is_said_to_be_one(tmp_path: Path) -> None:
    """Signed and unreadable is not changed."""
    directory = an_audit(tmp_path)
    registration = lock_audit(directory, now=NOW).registration
    directory.ledger.write_bytes(directory.ledger.read_bytes().splitlines(keepends=True)[0])
    facts = registration.to_json() | {"later": 1, "leakscale_version": "9.9"}
    content = AuditKey.kept_in(directory.key).sign(
        AuditStatement.REGISTRATION, subject="audits/demo", digest=b"1" * 32, facts=facts
    )
    directory.registration.write_bytes(content)
    AuditLedger(directory).append(
        EntryKind.LOCK, subject="registration.json", digest=hashlib.sha256(content).digest(), at=NOW
    )
    with pytest.raises(InvalidRequestError, match=r"was locked by leakscale 9\.9, and this version cannot read it"):
        locked_registration(directory)


def test_an_earlier_versions_registration_is_said_to_be_one(tmp_path: Path) -> None:
    """Before its digests hid the golds, a registration was of another type; its signature still holds."""
    directory = an_audit(tmp_path)
    facts = lock_audit(directory, now=NOW).registration.to_json() | {"leakscale_version": "0.9"}
    payload = statement("urn:leakscale:audit-registration:v1", subject="audits/demo", digest=b"1" * 32, predicate=facts)
    key = Ed25519PrivateKey.from_private_bytes(directory.key.read_bytes())
    public_key = key.public_key().public_bytes_raw()
    content = envelope_bytes(payload, signature=key.sign(signed_bytes(payload)), public_key=public_key)
    with pytest.raises(InvalidRequestError, match=r"locked by leakscale 0\.9, .* cannot read it .*registration:v1"):
        registration_in(content, public_key=public_key, source="registration")
    with pytest.raises(IntegrityError, match="another key signed it"):
        registration_in(content, public_key=b"1" * 32, source="registration")


def test_a_lost_key_is_not_made_again(tmp_path: Path) -> None:
    """Another key would begin another ledger under the same name."""
    directory = an_audit(tmp_path)
    directory.key.unlink()
    with pytest.raises(NotFoundError, match=r"key '.*' is missing, and the audit is signed with it"):
        lock_audit(directory)
    assert not directory.key.exists()
