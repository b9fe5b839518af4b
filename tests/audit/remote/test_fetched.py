"""A directory without golds is read, answered and refused as one: nothing in it is guessed in place of a gold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.audit.answering.builders import SpokenEngine, locked_audit
from tests.audit.builders import choice, write
from tests.audit.registration.builders import NOW, PLAN, an_audit, edit_bank
from tests.audit.remote.builders import a_fetched_audit
from typer.testing import CliRunner

from leakscale.audit.answering.running import answer_audit
from leakscale.audit.controls import ControlPlan
from leakscale.audit.controls.running import run_control
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import read_bank
from leakscale.audit.importers.columns import LogPaths
from leakscale.audit.importers.filing import import_into_audit
from leakscale.audit.importers.models import Selection
from leakscale.audit.registration.amending import amend_audit, registration_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.readiness import readiness_of
from leakscale.audit.registration.verifying import locked_bank, require_locked_reading
from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.shell import Shell
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, PreconditionError
from leakscale.statements import Predicate, envelope_bytes, signed_bytes, statement

ONE = PLAN[: PLAN.rindex("[[models]]")]


@pytest.fixture
def fetched(tmp_path: Path) -> AuditDirectory:
    return a_fetched_audit(locked_audit(tmp_path, plan=ONE, control_count=3), tmp_path / "fetched")


def test_what_was_fetched_is_held_against_the_authors_registration(fetched: AuditDirectory) -> None:
    """Whoever answers has no key of the author's, and still sees every changed byte."""
    registration = registration_of(fetched)
    banks = [locked_bank(fetched, registration, role) for role in BankRole]
    assert registration.control is not None
    require_locked_reading(fetched, registration)

    assert not any(bank.has_golds for bank in banks)
    assert [bank.digest for bank in banks] == [
        registration.bank.digest,
        registration.control and registration.control.digest,
    ]
    assert AuditLedger(fetched).entries()[0].kind is EntryKind.FETCH
    assert not fetched.nonce.exists()
    fetched.registration.write_bytes(fetched.registration.read_bytes()[:-1] + b" ")
    with pytest.raises(IntegrityError, match="was changed after it was signed"):
        registration_of(fetched)


def test_what_was_fetched_is_not_locked_again(fetched: AuditDirectory) -> None:
    """The rules are its author's."""
    with pytest.raises(ConflictError, match="an audit is locked once"):
        AuditLedger(fetched).append(EntryKind.LOCK, subject="registration.json", digest=b"1" * 32)


@pytest.mark.parametrize("role", list(BankRole))
def test_a_form_changed_after_the_fetch_is_found(fetched: AuditDirectory, role: BankRole) -> None:
    """Answers to another question would be scored as answers to this one."""
    edit_bank(fetched, lambda lines: lines[0]["fresh"][0].update(text="How many are left?"), role=role)
    with pytest.raises(IntegrityError, match="was changed after the lock"):
        locked_bank(fetched, registration_of(fetched), role)


def test_a_gold_that_was_written_in_is_refused(fetched: AuditDirectory) -> None:
    """A guess among the forms would be taken for the server's."""
    edit_bank(fetched, lambda lines: lines[0]["original"].update(gold="31"))
    with pytest.raises(InvalidRequestError, match="has a gold answer, and this bank's are withheld"):
        locked_bank(fetched, registration_of(fetched))


def test_answers_are_kept_and_nothing_is_scored(fetched: AuditDirectory) -> None:
    """What the engine says of itself is there as in any audit; right and wrong are the server's to say."""
    engine = SpokenEngine(lambda prompt: "The answer is 31.")
    answered = answer_audit(fetched, "tiny", engine=engine)

    assert answered.accuracy is None
    assert [str(table.kind) for table in answered.tables] == ["confidence"]
    assert answered.quality.forms[0].formats == {"phrase": 4}
    assert not list(fetched.root.rglob("*.correct.jsonl"))
    subjects = {entry.subject for entry in AuditLedger(fetched).entries() if entry.kind is EntryKind.SCORES}
    assert subjects == {f"scores/registered/audit/tiny.base.{name}" for name in ("confidence.jsonl", "quality.json")}


def test_confidences_are_those_of_the_author_s_machine(tmp_path: Path) -> None:
    """The same answers make the same tables, with golds or without."""
    author = locked_audit(tmp_path, plan=ONE)
    fetched = a_fetched_audit(author, tmp_path / "fetched")
    mine, theirs = (
        answer_audit(each, "tiny", engine=SpokenEngine(lambda prompt: f"The answer is {len(prompt)}."))
        for each in (author, fetched)
    )
    assert mine.tables[1] == theirs.tables[0]
    assert mine.quality == theirs.quality


def test_what_no_gold_can_tell_is_left_out_and_not_counted_as_none(tmp_path: Path) -> None:
    """Zero of the secondary score would be a number."""
    frame = write(tmp_path, *(choice(f"c{number}") for number in range(4)))
    author, _ = open_audit(tmp_path / "audit", frame=frame, size=4, seed=1, rewrites=frame, now=NOW)
    author.plan.write_text(ONE, encoding="utf-8")
    lock_audit(author, now=NOW)
    fetched = a_fetched_audit(author, tmp_path / "fetched")
    quality = answer_audit(fetched, "tiny", engine=SpokenEngine(str)).quality

    assert [form.secondary_right_count for form in quality.forms] == [None, None]
    assert [form.choice_count for form in quality.forms] == [4, 4]


def _control() -> ControlPlan:
    control: ControlPlan = ControlPlan.model_construct(name="exact", model="tiny")
    return control


@pytest.mark.parametrize(
    ("do", "doing"),
    [
        (lambda directory: amend_audit(directory, changes={"decoding.seed": 1}, reason="why"), "an amendment"),
        (lock_audit, "a lock"),
        (readiness_of, "a check"),
        (lambda directory: run_control(directory, _control(), folder=directory.root), "a positive control"),
        (lambda directory: import_into_audit(directory, "tiny", LogPaths(Path("x")), Selection("m")), "an import"),
        (
            lambda directory: answer_audit(
                directory, "tiny", state="adapted", adapter=Path("x"), engine=SpokenEngine(str)
            ),
            "state 'adapted'",
        ),
    ],
)
def test_what_needs_golds_is_refused_in_one_line(
    fetched: AuditDirectory, do: Callable[[AuditDirectory], Any], doing: str
) -> None:
    """And says where it can be done."""
    with pytest.raises(PreconditionError, match=f"fetched from 127.0.0.1:7443 without its golds, and {doing} needs"):
        do(fetched)


def run(*arguments: object) -> tuple[int, str]:
    """Run a command of the audit; return exit code and output."""
    shell = Shell(console=Console(), server="", token=None)
    outcome = CliRunner().invoke(app, ["audit", *map(str, arguments)], obj=shell)
    return outcome.exit_code, outcome.stdout + str(outcome.exception or "")


def test_show_says_where_it_was_fetched_and_that_scores_are_to_come(fetched: AuditDirectory) -> None:
    """Whoever comes back to it after a week."""
    code, text = run("show", fetched.root)

    assert code == 0
    assert "fetched    audits/demo from 127.0.0.1:7443, without golds" in text
    assert "not released yet; see `leakscale audit submit`" in text
    assert "assurance  L0" in text
    assert "the reading needs" in run("review", fetched.root)[1]


def a_release(fetched: AuditDirectory, key: Ed25519PrivateKey, **facts: Any) -> bytes:
    """Sign what a server would say of the scores."""
    first = AuditLedger(fetched).entries()[0].facts
    whole = {
        "audit": "audits/demo",
        "registration": first["registration_digest"],
        "variant": "registered",
        "amendment": "",
        "assurance_level": "L2",
        "released_before": [],
        "tables": [],
    } | facts
    payload = statement(Predicate.AUDIT_SCORES, subject="audits/demo", digest=b"1" * 32, predicate=whole)
    public_key = key.public_key().public_bytes_raw()
    return envelope_bytes(payload, signature=key.sign(signed_bytes(payload)), public_key=public_key)


def test_the_assurance_level_is_the_servers_word(tmp_path: Path) -> None:
    """It is signed by the key that the ledger's first entry names, and about this audit, or it is refused."""
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    server_key = key.public_key().public_bytes_raw()
    fetched = a_fetched_audit(an_audit_locked(tmp_path), tmp_path / "fetched", server_key=server_key)
    path = fetched.released()
    path.parent.mkdir(parents=True)
    path.write_bytes(a_release(fetched, key, released_before=["amendment-1"]))

    assert registration_of(fetched).assurance_level == "L2"
    shown = run("show", fetched.root)[1]
    assert "assurance  L2" in shown
    assert "registered: released, verified, L2; those of amendment-1 had left before" in shown
    assert server_key.hex() in shown
    refused = {
        "another key signed it": a_release(fetched, other),
        "its audit is 'audits/other', not 'audits/demo'": a_release(fetched, key, audit="audits/other"),
        "its registration is '00'": a_release(fetched, key, registration="00"),
        "its variant is 'amendment-1', not 'registered'": a_release(fetched, key, variant="amendment-1"),
        "its assurance level is 'L9'": a_release(fetched, key, assurance_level="L9"),
        "'tables'": a_release(fetched, key, tables=7),
    }
    for message, content in refused.items():
        path.write_bytes(content)
        with pytest.raises(IntegrityError, match=message if "tables" not in message else "not iterable"):
            registration_of(fetched)


def an_audit_locked(folder: Path) -> AuditDirectory:
    """Return a locked audit of one model."""
    directory = an_audit(folder, plan=ONE)
    lock_audit(directory, now=NOW)
    return directory


def test_a_registration_does_not_say_its_own_level(tmp_path: Path) -> None:
    """Its author signs it; the level is the server's to say."""
    facts = json.loads(json.dumps(lock_audit(an_audit(tmp_path), now=NOW).registration.to_json()))
    assert Registration.from_json(facts).assurance_level == "L0"
    for name in ("assurance_level", "variant"):
        with pytest.raises(TypeError, match=f"says its own {name}"):
            Registration.from_json(facts | {name: "L2"})


def test_a_fetched_bank_has_no_gold_on_the_disk(fetched: AuditDirectory) -> None:
    """Neither as a field nor anywhere else in its directory."""
    for path in fetched.root.rglob("*"):
        if path.is_file():
            assert b'"gold"' not in path.read_bytes()
    assert read_bank(fetched.bank(BankRole.AUDIT), golds="withheld").parents[0].original.gold == ""
