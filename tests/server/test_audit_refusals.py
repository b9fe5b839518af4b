"""What an author, a runner and a server of a deposited audit refuse of one another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.audit.registration.builders import NOW, edit_bank, parent_line, write_lines

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amending import amend_audit, registration_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.remote.names import answer_set_name
from leakscale.client import Client
from leakscale.deposits import ReleasedScores
from leakscale.errors import (
    AlreadyDoneError,
    ConflictError,
    IntegrityError,
    LeakScaleError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
)
from leakscale.models import SignedStatement
from leakscale.statements import Predicate, predicate_of, signed_bytes, statement
from leakscale_server.app import RunningServer
from leakscale_server.identity.scopes import Role

from .audit_parties import ONE, an_audit, answer, deposited, fetched, scores_of, submitted
from .deposited import client_of


def test_one_party_in_both_parts_is_level_1(server: RunningServer, data_dir: Path, tmp_path: Path) -> None:
    """It had the right answers."""
    with client_of(server, data_dir, "sol", Role.ADMIN, project="alone") as client:
        deposited(client, an_audit(tmp_path, "alone", control_count=0))
        theirs = fetched(client, "alone", tmp_path / "theirs").directory
        answer(theirs, roles=(BankRole.AUDIT,))
        done = submitted(client, theirs)
    assert done.released is not None
    assert registration_of(theirs).assurance_level == done.released.assurance_level == "L1"


def test_each_part_needs_its_role(author: Client, runner: Client, tmp_path: Path) -> None:
    """Who answers deposits nothing, who deposits answers nothing, and strangers do not even hear that it exists."""
    mine = an_audit(tmp_path, "roles")
    with pytest.raises(PermissionDeniedError):
        deposited(runner, mine)
    deposited(author, mine)
    with pytest.raises(PermissionDeniedError):
        fetched(author, "roles", tmp_path / "theirs")
    assert not (tmp_path / "theirs").exists()
    theirs = fetched(runner, "roles", tmp_path / "theirs").directory
    answer(theirs)
    with pytest.raises(PermissionDeniedError):
        submitted(author, theirs)


def test_another_project_does_not_find_it(
    server: RunningServer, data_dir: Path, author: Client, tmp_path: Path
) -> None:
    """In the words that it hears of an audit that nobody deposited."""
    deposited(author, an_audit(tmp_path, "hidden", control_count=0))
    with client_of(server, data_dir, "eve", Role.AUDITOR, project="south") as stranger:
        said = []
        for name in ("hidden", "nobody"):
            with pytest.raises(NotFoundError) as caught:
                fetched(stranger, name, tmp_path / name)
            said.append(str(caught.value).replace(name, "…"))
    assert said[0] == said[1]


def test_a_server_with_another_key_is_refused_before_anything_is_sent(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Forms sealed to whoever answers at that address could be read there."""
    mine = an_audit(tmp_path, "pinned", control_count=0)
    with pytest.raises(IntegrityError, match=r"31313131.* is the one to trust"):
        deposited(author, mine, server_key=b"1" * 32)
    with pytest.raises(NotFoundError):
        author.audits.get("audits/pinned")
    deposited(author, mine, server_key=author.server.info().public_key)
    with pytest.raises(IntegrityError, match="is the one to trust"):
        fetched(runner, "pinned", tmp_path / "theirs", server_key=b"1" * 32)
    assert not (tmp_path / "theirs").exists()


def test_one_server_scores_an_audit(author: Client, tmp_path: Path) -> None:
    """Whoever has the scores of one could answer the other better."""
    mine = an_audit(tmp_path, "twice", control_count=0)
    facts = {"server": "elsewhere:1", "server_key": "11" * 32}
    AuditLedger(mine).append(EntryKind.DEPOSIT, subject="audits/twice", digest=b"1" * 32, facts=facts)
    with pytest.raises(ConflictError, match=r"deposited on 'elsewhere:1', whose key is 1111.*one server scores it"):
        deposited(author, mine)


def test_a_name_stands_for_one_registration(author: Client, tmp_path: Path) -> None:
    """Locked anew, an audit could be shaped after its forms were seen."""
    deposited(author, an_audit(tmp_path / "one", "taken", control_count=0))
    with pytest.raises(ConflictError, match=r"'audits/taken' is deposited with another registration \(by ada\)"):
        deposited(author, an_audit(tmp_path / "other", "taken", control_count=0))


def test_an_audit_whose_answers_are_a_log_is_not_deposited(author: Client, tmp_path: Path) -> None:
    """Nobody could seal what was there before."""
    mine = an_audit(tmp_path, "logged", plan=ONE + 'engine = "log"\n', control_count=0)
    with pytest.raises(PreconditionError, match="model 'tiny' of audit 'logged' is registered with engine 'log'"):
        deposited(author, mine)


@pytest.mark.parametrize("is_amended", [False, True])
def test_several_answers_a_form_are_not_deposited(author: Client, tmp_path: Path, is_amended: bool) -> None:
    """How many of a thousand made-up answers were right names the one that is."""
    decoding = "[decoding]\ntemperature = 0.5\nanswer_count = 9\n"
    name = f"many-{is_amended}".lower()
    mine = an_audit(tmp_path, name, plan=ONE if is_amended else ONE + decoding, control_count=0)
    if is_amended:
        changes = {"decoding.temperature": 0.5, "decoding.answer_count": 9}
        amend_audit(mine, changes=changes, reason="more of them", now=NOW)
    with pytest.raises(PreconditionError, match=r"draws 9 answers a form \(decoding\.answer_count\)"):
        deposited(author, mine)
    with pytest.raises(NotFoundError):
        author.audits.get(f"audits/{name}")


def test_answers_that_somebody_else_sealed_are_not_sealed_again(
    server: RunningServer, data_dir: Path, author: Client, runner: Client, tmp_path: Path
) -> None:
    """The first set stands; everybody of the project takes the same scores."""
    deposited(author, an_audit(tmp_path, "shared", control_count=0))
    first = fetched(runner, "shared", tmp_path / "first").directory
    answer(first, roles=(BankRole.AUDIT,))
    submitted(runner, first)
    with client_of(server, data_dir, "una", Role.AUDITOR, project="flows") as other:
        second = fetched(other, "shared", tmp_path / "second").directory
        done = submitted(other, second)
        assert done.newly_sealed == ()
        assert scores_of(second) == scores_of(first)
        with pytest.raises(AlreadyDoneError):
            other.audits.seal(answer_set_name("shared", "registered", "audit", "tiny"), chunk_count=1)
        third = fetched(other, "shared", tmp_path / "third").directory
        answer(third, roles=(BankRole.AUDIT,))
        with pytest.raises(ConflictError, match="was sealed by 'rob' from another directory, and this one has answers"):
            submitted(other, third)
        assert scores_of(third) == {}


def test_a_directory_of_another_kind_is_not_fetched_into(author: Client, runner: Client, tmp_path: Path) -> None:
    """Neither the author's own nor that of another audit is overwritten."""
    mine = an_audit(tmp_path, "kinds", control_count=0)
    deposited(author, mine)
    deposited(author, an_audit(tmp_path, "other-kind", control_count=0))
    theirs = fetched(runner, "other-kind", tmp_path / "theirs").directory
    for root, message in ((mine.root, "is an audit that was drawn there"), (theirs.root, "with another audit")):
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.name != "in-use"}
        with pytest.raises(ConflictError, match=message):
            fetched(runner, "kinds", root)
        assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(PreconditionError, match="was drawn here, and scores its answers itself"):
        submitted(runner, mine)
    with pytest.raises(PreconditionError, match="without its golds, and a deposit needs"):
        deposited(author, theirs)


def test_the_draw_is_drawn_again_from_the_frame_or_refused(author: Client, runner: Client, tmp_path: Path) -> None:
    """An author who chose the sample is found by whoever has the benchmark."""
    mine = an_audit(tmp_path, "drawn", control_count=0)
    deposited(author, mine)
    other = write_lines(tmp_path / "other.jsonl", [parent_line(number) for number in range(5)])
    with pytest.raises(IntegrityError, match="is not the one that audit 'drawn' was drawn from"):
        fetched(runner, "drawn", tmp_path / "theirs", frame=other)
    assert not (tmp_path / "theirs").exists()
    assert not fetched(runner, "drawn", tmp_path / "theirs").is_drawn_again
    whole = mine.root.parent / "frame.jsonl"
    assert "fresh" in whole.read_text() and whole.read_text() != mine.frame.read_text()  # rewrites stand beside it
    assert fetched(runner, "drawn", tmp_path / "theirs", frame=whole).is_drawn_again
    assert fetched(runner, "drawn", tmp_path / "theirs", frame=mine.frame).is_drawn_again


class Wire:
    """A client between whose server and whose user somebody changes what is said."""

    def __init__(self, client: Client, **audits: Any) -> None:
        self.server = client.server
        self.audits = _Changed(client.audits, audits)

    def as_client(self) -> Client:
        """Say that it is one; it has all that the flows ask of it."""
        return cast(Client, self)


class _Changed:
    def __init__(self, whole: Any, changed: dict[str, Any]) -> None:
        self._whole, self._changed = whole, changed

    def __getattr__(self, name: str) -> Any:
        return self._changed.get(name) or getattr(self._whole, name)


def test_a_form_changed_on_the_way_is_refused(author: Client, runner: Client, tmp_path: Path) -> None:
    """So is a bank in the place of another, a registration of another key, and one that was cut off."""
    deposited(author, an_audit(tmp_path, "wired"))
    deposited(author, an_audit(tmp_path, "swapped"))
    audits = runner.audits

    def of_other(bank: str, *, holder_key: bytes) -> Any:
        return audits.forms(bank.replace("wired", "swapped"), holder_key=holder_key)

    def cut(bank: str, *, holder_key: bytes) -> Any:
        return [replace(piece, is_last=False) for piece in audits.forms(bank, holder_key=holder_key)]

    def other_key(name: str) -> Any:
        return replace(audits.get(name), author_key=b"1" * 32)

    def other_audit(name: str) -> Any:
        return replace(audits.get("audits/swapped"), name=name)

    for changes, message in (
        ({"forms": of_other}, "cannot be opened"),
        ({"forms": cut}, "cannot be opened"),
        ({"get": other_key}, "another key signed it"),
        ({"get": other_audit}, "has under 'audits/wired' the registration of 'swapped'"),
    ):
        with pytest.raises(IntegrityError, match=message):
            fetched(Wire(runner, **changes).as_client(), "wired", tmp_path / "theirs")
        assert not (tmp_path / "theirs").exists()


def test_a_form_changed_in_the_directory_is_neither_answered_nor_submitted(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Its answers would be scored as answers to what was locked."""
    deposited(author, an_audit(tmp_path, "edited", control_count=0))
    theirs = fetched(runner, "edited", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    edit_bank(theirs, lambda lines: lines[0]["fresh"][0].update(text="How many are left of the 40?"))
    for do in (lambda: answer(theirs, roles=(BankRole.AUDIT,)), lambda: submitted(runner, theirs)):
        with pytest.raises(IntegrityError, match="was changed after the lock"):
            do()
    assert runner.audits.chunks(answer_set_name("edited", "registered", "audit", "tiny")) == {}


def test_a_deposit_key_that_the_server_did_not_sign_gets_nothing(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Whoever swaps it could read the forms, or the answers."""
    mine = an_audit(tmp_path, "key-swapped", control_count=0)
    swapped = replace(author.audits.deposit_key(), public_key=b"2" * 32)
    with pytest.raises(IntegrityError, match=r"deposit key .* is not the one that its statement names"):
        deposited(Wire(author, deposit_key=lambda: swapped).as_client(), mine)
    resigned = replace(swapped, statement=_resigned(swapped.statement, public_key=(b"2" * 32).hex()))
    with pytest.raises(IntegrityError, match="another key signed it"):
        deposited(Wire(author, deposit_key=lambda: resigned).as_client(), mine)
    with pytest.raises(NotFoundError):
        author.audits.get("audits/key-swapped")
    deposited(author, mine)
    theirs = fetched(runner, "key-swapped", tmp_path / "theirs").directory
    answer(theirs, roles=(BankRole.AUDIT,))
    with pytest.raises(IntegrityError, match="another key signed it"):
        submitted(Wire(runner, deposit_key=lambda: resigned).as_client(), theirs)
    assert runner.audits.chunks(answer_set_name("key-swapped", "registered", "audit", "tiny")) == {}


def _resigned(signed: SignedStatement, **facts: Any) -> SignedStatement:
    """Say something else in a statement's form, and sign it with a key of one's own."""
    kind = Predicate(json.loads(signed.payload)["predicateType"])
    payload = statement(
        kind, subject="deposit-key", digest=b"1" * 32, predicate=predicate_of(signed.payload, kind) | facts
    )
    key = Ed25519PrivateKey.generate()
    return SignedStatement(payload, key.sign(signed_bytes(payload)), key.public_key().public_bytes_raw())


@contextmanager
def _refused(directory: AuditDirectory, message: str) -> Iterator[None]:
    """Expect a refusal that files nothing."""
    before = directory.ledger.read_bytes()
    with pytest.raises(IntegrityError, match=message):
        yield
    assert directory.ledger.read_bytes() == before
    assert scores_of(directory) == {}
    assert not directory.released().exists()


def test_scores_that_the_server_did_not_sign_as_they_are_are_not_filed(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """A wrong signature, digest, bank, model, variant or set of answers: nothing of it comes into the directory."""
    deposited(author, an_audit(tmp_path, "forged"))
    theirs = fetched(runner, "forged", tmp_path / "theirs").directory
    answer(theirs)
    with pytest.raises(ConnectionError):
        submitted(Wire(runner, scores=_unreachable).as_client(), theirs)
    honest = runner.audits.scores("audits/forged/variants/registered")
    key = Ed25519PrivateKey.generate()
    first, *rest = honest.files

    def with_files(*files: Any) -> ReleasedScores:
        return replace(honest, files=files)

    other_key = SignedStatement(
        honest.statement.payload,
        key.sign(signed_bytes(honest.statement.payload)),
        key.public_key().public_bytes_raw(),
    )
    payload = honest.statement.payload.replace(b'"L2"', b'"L1"')
    forgeries: dict[str, ReleasedScores] = {
        "another key signed it": replace(honest, statement=other_key),
        "its signature does not hold": replace(honest, statement=replace(honest.statement, payload=payload)),
        "not the file that the server signed": with_files(
            replace(first, content=first.content.replace(b'"original":1.0', b'"original":0.0')), *rest
        ),
        "are not those of every registered model and bank": with_files(*rest),
    }
    for message, scores in forgeries.items():
        with _refused(theirs, message):
            submitted(Wire(runner, scores=lambda _, scores=scores: scores).as_client(), theirs)
    assert submitted(runner, theirs).released is not None
    assert len(scores_of(theirs)) == 2


def _unreachable(_: str) -> ReleasedScores:
    raise ConnectionError


def test_a_receipt_of_other_answers_is_refused(author: Client, runner: Client, tmp_path: Path) -> None:
    """Whoever seals keeps the server's word on what; a word on something else is none."""
    deposited(author, an_audit(tmp_path, "receipts"))
    theirs = fetched(runner, "receipts", tmp_path / "theirs").directory
    answer(theirs)
    receipts: list[Any] = []

    def keep(answer_set: str, **settings: Any) -> Any:
        receipts.append(runner.audits.seal(answer_set, **settings))
        return replace(receipts[-1], receipt=receipts[0].receipt)

    with pytest.raises(IntegrityError, match=r"the receipt of '.*control/models/tiny' is of '.*audit/models/tiny'"):
        submitted(Wire(runner, seal=keep).as_client(), theirs)
    assert [entry.kind for entry in AuditLedger(theirs).entries()].count(EntryKind.SEAL) == 1


def test_every_refusal_is_one_line(author: Client, runner: Client, tmp_path: Path) -> None:
    """Whoever reads it at a terminal has the subject, the rule and the next step."""
    mine = an_audit(tmp_path, "one-line", control_count=0)
    for do in (lambda: submitted(runner, mine), lambda: fetched(runner, "no-such", tmp_path / "x")):
        with pytest.raises(LeakScaleError) as caught:
            do()
        assert "\n" not in str(caught.value)
