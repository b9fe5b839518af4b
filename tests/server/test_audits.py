"""Deposited audits over a real server: fetched, answered, sealed, scored; and what is refused on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leakscale.audit.directory import BankRole
from leakscale.audit.registration.fields import ScoringTable
from leakscale.audit.remote.chunks import answer_chunks, answers_digest
from leakscale.audit.remote.names import answer_set_name, bank_name, scores_name
from leakscale.audit.scoring.answers import score_answers
from leakscale.client import Client
from leakscale.envelopes import check_signature
from leakscale.errors import (
    AlreadyDoneError,
    BankIncompleteError,
    CaseDuplicateError,
    CaseUnknownError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    NotSealedError,
)
from leakscale.form_engines import OptionScore
from leakscale.sealing import HolderKey
from leakscale.statements import Predicate, predicate_of, subject_of
from leakscale_server.app import RunningServer
from leakscale_server.identity.scopes import Role

from .deposited import (
    BANKS,
    MODELS,
    SALT,
    a_locked,
    amendment_of,
    answer_all,
    answers_to,
    client_of,
    deposit,
    fetched,
    original_only,
    right,
    sealed_chunk,
    sealed_chunks,
    set_names,
    submit_and_seal,
    wrong,
)
from .helpers import refusal

KEY = HolderKey(b"r" * 32)


@pytest.fixture(scope="module")
def author(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    with client_of(server, data_dir, "ada", Role.AUTHOR) as client:
        yield client


@pytest.fixture(scope="module")
def runner(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    with client_of(server, data_dir, "rob", Role.AUDITOR) as client:
        yield client


@pytest.fixture(scope="module")
def other(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    with client_of(server, data_dir, "una", Role.AUDITOR) as client:
        yield client


def ledger_of(client: Client, audit_id: str) -> list[dict[str, Any]]:
    """What the ledger tells the project of an audit."""
    entries = [json.loads(entry.content) for entry in client.ledger.entries() if entry.content]
    return [entry for entry in entries if entry.get("audit") == audit_id]


def test_an_audit_goes_the_whole_way_and_scores_as_it_would_locally(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Same code, same bytes: a finding does not depend on where the right answers lay."""
    locked = a_locked(tmp_path, "whole-way")
    audit = deposit(author, locked)
    says = {"tiny": original_only, "other": right}
    answers = {(role, model): answers_to(bank, says[model]) for role, bank in locked.banks.items() for model in MODELS}
    for role, bank in locked.banks.items():
        assert fetched(runner, "whole-way", role, key=KEY) == bank.without_golds()
        for model in MODELS:
            submit_and_seal(runner, answer_set_name("whole-way", "registered", role, model), answers[role, model])
    released = runner.audits.scores(scores_name("whole-way", "registered"))

    facts = predicate_of(released.statement.payload, Predicate.AUDIT_SCORES)
    name, digest = subject_of(released.statement.payload)
    check_signature(
        released.statement.payload, signature=released.statement.signature, public_key=runner.server.info().public_key
    )
    assert (audit.name, audit.depositor, audit.registration) == ("audits/whole-way", "ada", locked.registration)
    assert (name, digest) == ("audits/whole-way/variants/registered", hashlib.sha256(locked.registration).digest())
    assert (facts["audit"], facts["variant"], facts["assurance_level"]) == ("audits/whole-way", "registered", "L2")
    assert facts["released_before"] == []
    assert [(file.bank, file.model_id) for file in released.files] == [(b, m) for b in BANKS for m in MODELS]
    for file in released.files:
        role = BankRole(file.bank)
        local = score_answers(
            locked.banks[role], answers[role, file.model_id], ScoringTable(), model=file.model_id
        ).accuracy
        chunks = answer_chunks(answers[role, file.model_id], salt=SALT)
        assert file.content == local.to_bytes()
        assert file.answers_digest == answers_digest(chunk.digest for chunk in chunks)


def test_what_happened_is_in_the_ledger_of_the_project(author: Client, runner: Client, tmp_path: Path) -> None:
    """Who deposited, fetched, sealed, and that scores left, each once, with digests and no content."""
    locked = a_locked(tmp_path, "logged")
    for _ in range(2):
        deposit(author, locked)
        fetched(runner, "logged", BankRole.AUDIT, key=KEY)
    answer_all(runner, locked)
    for _ in range(2):
        released = runner.audits.scores("audits/logged/variants/registered")
    entries = ledger_of(author, "logged")

    assert [(entry["kind"], entry.get("by")) for entry in entries] == [
        ("audit-deposited", "ada"),
        ("audit-forms-fetched", "rob"),
        *[("audit-answers-sealed", "rob")] * 4,
        ("audit-scores-released", None),
    ]
    assert entries[0]["registration"] == hashlib.sha256(locked.registration).hexdigest()
    assert entries[-1]["scores"] == hashlib.sha256(released.statement.payload).hexdigest()
    assert all(len(entry["salt"]) == 32 for entry in entries)


def test_no_score_leaves_before_every_answer_set_is_sealed(author: Client, runner: Client, tmp_path: Path) -> None:
    """Who had the scores of one model could write the next model's answers by them."""
    locked = a_locked(tmp_path, "together")
    deposit(author, locked)
    name = "audits/together/variants/registered"
    left = set_names("together")
    for bank in locked.banks.values():
        for _ in MODELS:
            told = refusal(NotSealedError, lambda: runner.audits.scores(name))
            assert f"{len(left)} answer sets" in told
            assert left[0] in told
            submit_and_seal(runner, left.pop(0), answers_to(bank))

    assert [file.content for file in runner.audits.scores(name).files] == [
        file.content for file in author.audits.scores(name).files
    ]
    assert runner.audits.scores(name).statement == author.audits.scores(name).statement
    assert runner.audits.get("audits/together").released_variants == (name,)


def test_a_runner_who_deposited_makes_level_1(server: RunningServer, data_dir: Path, tmp_path: Path) -> None:
    """Two roles of one principal are one party."""
    locked = a_locked(tmp_path, "alone", control_count=0)
    with (
        client_of(server, data_dir, "ann", Role.AUTHOR) as author,
        client_of(server, data_dir, "ann", Role.AUDITOR) as me,
    ):
        deposit(author, locked)
        answer_all(me, locked)
        released = me.audits.scores("audits/alone/variants/registered")

    assert predicate_of(released.statement.payload, Predicate.AUDIT_SCORES)["assurance_level"] == "L1"
    assert [file.bank for file in released.files] == ["audit", "audit"]


def test_a_receipt_is_the_same_whatever_is_right_but_for_its_time(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Two audits with other golds, answered alike: receipts name answers, and nothing of what they were worth."""
    receipts = []
    for audit_id, say in (("receipt-a", right), ("receipt-b", wrong)):
        locked = a_locked(tmp_path / audit_id, audit_id)
        deposit(author, locked)
        (answer_set, *_) = set_names(audit_id)
        receipt = submit_and_seal(runner, answer_set, answers_to(locked.banks[BankRole.AUDIT], say)).receipt
        assert receipt is not None
        check_signature(receipt.payload, signature=receipt.signature, public_key=runner.server.info().public_key)
        receipts.append(predicate_of(receipt.payload, Predicate.FORM_ANSWERS))
    one, two = receipts

    assert one.keys() == two.keys()
    assert {name for name in one if one[name] != two[name]} <= {
        "audit", "answers", "registration", "ledger_index", "seal_time"
    }  # fmt: skip
    assert (one["answer_count"], one["chunk_count"], one["by"]) == (12, 1, "rob")


def test_a_set_is_sealed_once_by_whoever_is_first(
    author: Client, runner: Client, other: Client, tmp_path: Path
) -> None:
    """Each runner fills one of its own, so nobody stands in the way of another; a second seal would choose."""
    locked = a_locked(tmp_path, "first")
    deposit(author, locked)
    (answer_set, *_) = set_names("first")
    answers = answers_to(locked.banks[BankRole.AUDIT])
    key = author.audits.deposit_key().public_key
    other.audits.submit(answer_set, sealed_chunks(answer_set, answers, deposit_key=key, salt=bytes(32)))
    sealed = submit_and_seal(runner, answer_set, answers)

    assert other.audits.chunks(answer_set) != runner.audits.chunks(answer_set)
    assert runner.audits.seal(answer_set, chunk_count=1) == sealed
    assert author.audits.get("audits/first").answer_sets[0] == sealed
    refused: tuple[Callable[[], object], ...] = (
        lambda: other.audits.seal(answer_set, chunk_count=1),
        lambda: runner.audits.seal(answer_set, chunk_count=1, request_id="another"),
        lambda: runner.audits.seal(answer_set, chunk_count=2),
        lambda: submit_and_seal(runner, answer_set, answers_to(locked.banks[BankRole.AUDIT], wrong)[:1]),
    )
    for again in refused:
        with pytest.raises((AlreadyDoneError, ConflictError)):
            again()
    # What is there already may come again.
    runner.audits.submit(answer_set, sealed_chunks(answer_set, answers, deposit_key=key))


def test_an_upload_goes_on_where_it_broke(author: Client, runner: Client, tmp_path: Path) -> None:
    """By number and digest; a chunk that is there is not even opened again."""
    locked = a_locked(tmp_path, "broken-upload")
    deposit(author, locked)
    (answer_set, *_) = set_names("broken-upload")
    key = author.audits.deposit_key().public_key
    first, *_ = answer_chunks(answers_to(locked.banks[BankRole.AUDIT])[:5], salt=SALT)
    second, *_ = answer_chunks(answers_to(locked.banks[BankRole.AUDIT])[5:], salt=SALT)
    second = replace(second, number=1)
    runner.audits.submit(answer_set, [sealed_chunk(answer_set, first, deposit_key=key)])
    told = refusal(BankIncompleteError, lambda: runner.audits.seal(answer_set, chunk_count=1))

    assert "5 of 12 answers" in told
    assert runner.audits.chunks(answer_set) == {0: first.digest}
    assert "chunks 0 to 1" in refusal(BankIncompleteError, lambda: runner.audits.seal(answer_set, chunk_count=2))
    runner.audits.submit(answer_set, [sealed_chunk(answer_set, each, deposit_key=key) for each in (first, second)])
    assert runner.audits.seal(answer_set, chunk_count=2).is_sealed


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda answers: [replace(answers[0], form="p0/fresh-9")], CaseUnknownError, "form 'p0/fresh-9'"),
        (lambda answers: [replace(answers[0], number=1)], CaseUnknownError, "no answer 1"),
        (lambda answers: [answers[0], answers[0]], CaseDuplicateError, "two answers to one form"),
        (
            lambda answers: [replace(answers[0], generated=None, options=(OptionScore(-1.0, 1),) * 2)],
            InvalidRequestError,
            "not a generated text",
        ),
    ],
)
def test_answers_that_do_not_fit_the_forms_are_refused(
    change: Any, error: type, said: str, *, author: Client, runner: Client, tmp_path: Path
) -> None:
    """By the name of the form, before anything is stored."""
    audit_id = f"unfit-{hashlib.sha256(said.encode()).hexdigest()[:8]}"
    locked = a_locked(tmp_path, audit_id)
    deposit(author, locked)
    (answer_set, *_) = set_names(audit_id)
    key = author.audits.deposit_key().public_key
    chunks = sealed_chunks(answer_set, change(answers_to(locked.banks[BankRole.AUDIT])), deposit_key=key)

    assert said in refusal(error, lambda: runner.audits.submit(answer_set, chunks))
    assert runner.audits.chunks(answer_set) == {}


def test_a_form_that_two_chunks_answer_is_refused(author: Client, runner: Client, tmp_path: Path) -> None:
    """The second would stand for the first, or beside it."""
    locked = a_locked(tmp_path, "twice")
    deposit(author, locked)
    (answer_set, *_) = set_names("twice")
    key = author.audits.deposit_key().public_key
    (chunk,) = answer_chunks(answers_to(locked.banks[BankRole.AUDIT]), salt=SALT)
    both = [sealed_chunk(answer_set, replace(chunk, number=number), deposit_key=key) for number in range(2)]
    runner.audits.submit(answer_set, both)

    assert "two answers to one form" in refusal(
        CaseDuplicateError, lambda: runner.audits.seal(answer_set, chunk_count=2)
    )
    assert runner.audits.seal(answer_set, chunk_count=1).is_sealed


def test_whoever_lost_a_folder_answers_again(author: Client, runner: Client, tmp_path: Path) -> None:
    """Half an upload, with a chunk that no other folder has, is no dead end; what is sealed is what was asked for."""
    locked = a_locked(tmp_path, "lost-folder")
    deposit(author, locked)
    (answer_set, *_) = set_names("lost-folder")
    key = author.audits.deposit_key().public_key
    answers = answers_to(locked.banks[BankRole.AUDIT])
    lost, again = (answer_chunks(answers, salt=salt) for salt in (bytes(32), SALT))
    (old,), (new,) = lost, again
    digest = answers_digest([new.digest])
    leftover = replace(old, number=7)
    runner.audits.submit(answer_set, [sealed_chunk(answer_set, each, deposit_key=key) for each in (old, leftover)])
    told = refusal(BankIncompleteError, lambda: runner.audits.seal(answer_set, chunk_count=1, answers_digest=digest))
    runner.audits.submit(answer_set, [sealed_chunk(answer_set, new, deposit_key=key)])
    there = runner.audits.chunks(answer_set)
    receipt = runner.audits.seal(answer_set, chunk_count=1, answers_digest=digest).receipt

    for digests in ([], [old.digest]):
        with pytest.raises(AlreadyDoneError, match="or with other answers"):
            runner.audits.seal(answer_set, chunk_count=1, answers_digest=answers_digest(digests))
    with pytest.raises(InvalidRequestError, match="answers_digest has 1 bytes"):
        runner.audits.seal(answer_set, chunk_count=1, answers_digest="00")
    assert "others of yours took their place" in told
    assert there == {0: new.digest, 7: leftover.digest}
    assert receipt is not None
    assert predicate_of(receipt.payload, Predicate.FORM_ANSWERS)["answers"] == digest


def test_a_chunk_opens_for_its_own_set_number_and_digest_alone(author: Client, runner: Client, tmp_path: Path) -> None:
    """A chunk of one model would otherwise be another's."""
    locked = a_locked(tmp_path, "bound")
    deposit(author, locked)
    one, two, *_ = set_names("bound")
    key = author.audits.deposit_key().public_key
    (chunk,) = sealed_chunks(one, answers_to(locked.banks[BankRole.AUDIT]), deposit_key=key)
    for answer_set, sent in (
        (two, chunk),
        (one, replace(chunk, number=1)),
        (one, replace(chunk, sealed=chunk.sealed[:-1])),
        (one, replace(chunk, sealed=b"")),
    ):
        assert "does not open" in refusal(
            InvalidRequestError,
            lambda s=answer_set, c=sent: runner.audits.submit(s, [c]),  # type: ignore[misc]
        )
    told = refusal(InvalidRequestError, lambda: runner.audits.submit(one, [replace(chunk, digest=bytes(32))]))

    assert "another digest" in told
    assert runner.audits.chunks(one) == {}


def test_forms_leave_sealed_to_their_holder_and_without_right_answers(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """Nobody on the way reads them, and nobody at all the answers."""
    locked = a_locked(tmp_path, "sealed-forms")
    deposit(author, locked)
    name = bank_name("sealed-forms", BankRole.AUDIT)
    sealed = b"".join(piece.sealed for piece in runner.audits.forms(name, holder_key=KEY.public))
    bank = fetched(runner, "sealed-forms", BankRole.AUDIT, key=KEY)

    assert b"pencil" not in sealed
    assert not bank.has_golds
    assert bank.digest == locked.banks[BankRole.AUDIT].digest
    assert "no X25519 public key" in refusal(
        InvalidRequestError, lambda: list(runner.audits.forms(name, holder_key=bytes(32)))
    )


def test_an_amendment_is_answered_and_scored_beside_the_registration(
    author: Client, runner: Client, tmp_path: Path
) -> None:
    """By its own settings; and it says that scores had left before it was answered."""
    locked = a_locked(tmp_path, "amended")
    deposit(author, locked)
    answer_all(runner, locked, lambda name, form: f"It is {form.gold}, I think.")
    runner.audits.scores("audits/amended/variants/registered")
    amendment = amendment_of(locked, {"scoring.parser_formats": ["phrase"]})
    for _ in range(2):
        audit = author.audits.amend("audits/amended", amendment)
    answer_all(runner, locked, lambda name, form: f"It is {form.gold}, I think.", variant="amendment-1")
    first, second = (
        runner.audits.scores(f"audits/amended/variants/{variant}") for variant in ("registered", "amendment-1")
    )

    (receipt,) = audit.amendment_receipts
    told = predicate_of(receipt.payload, Predicate.AUDIT_AMENDMENT)
    check_signature(receipt.payload, signature=receipt.signature, public_key=runner.server.info().public_key)
    assert audit.amendments == (amendment,)
    assert (told["released_before"], told["sealed_before"], told["variant"]) == (["registered"], 4, "amendment-1")
    assert told["amendment"] == hashlib.sha256(amendment).hexdigest()
    assert predicate_of(first.statement.payload, Predicate.AUDIT_SCORES)["amendment"] == ""
    assert predicate_of(second.statement.payload, Predicate.AUDIT_SCORES)["amendment"] == told["amendment"]
    assert len(audit.answer_sets) == 8
    assert predicate_of(second.statement.payload, Predicate.AUDIT_SCORES)["released_before"] == ["registered"]
    assert b'"original":1.0' in first.files[0].content
    assert b'"original":1.0' not in second.files[0].content
    assert [entry["kind"] for entry in ledger_of(author, "amended")].count("audit-amended") == 1


def test_audits_are_listed_to_their_project_alone(
    author: Client, runner: Client, stranger: Client, tmp_path: Path
) -> None:
    """Newest first, without their documents; to another project none of them is there, in the same words."""
    for audit_id in ("listed-a", "listed-b"):
        deposit(author, a_locked(tmp_path / audit_id, audit_id))
    listed = [audit for audit in runner.audits.list() if audit.name.startswith("audits/listed")]

    assert [audit.name for audit in listed] == ["audits/listed-b", "audits/listed-a"]
    assert all((audit.registration, audit.answer_sets) == (b"", ()) for audit in listed)
    assert list(stranger.audits.list()) == []
    for act in (
        stranger.audits.get,
        lambda name: stranger.audits.amend(name, b"x"),
        lambda name: stranger.audits.scores(f"{name}/variants/registered"),
        lambda name: list(stranger.audits.forms(f"{name}/banks/audit", holder_key=KEY.public)),
        lambda name: stranger.audits.chunks(f"{name}/variants/registered/banks/audit/models/tiny"),
    ):
        theirs, nobodys = (
            refusal(NotFoundError, lambda n=name, a=act: a(n))  # type: ignore[misc]
            for name in ("audits/listed-a", "audits/listed-c")
        )
        assert theirs.replace("listed-a", "listed-c") == nobodys


@pytest.mark.parametrize(
    "name",
    [
        "audits/parts-a/variants/amendment-1/banks/audit/models/tiny",
        "audits/parts-b/variants/registered/banks/private/models/tiny",
        "audits/parts-c/variants/registered/banks/audit/models/none",
    ],
)
def test_a_part_that_an_audit_does_not_have_does_not_exist(
    name: str, author: Client, runner: Client, tmp_path: Path
) -> None:
    """A misspelt model would otherwise fill a set that nobody waits for."""
    audit_id = name.split("/")[1]
    deposit(author, a_locked(tmp_path, audit_id))
    with pytest.raises(NotFoundError):
        runner.audits.chunks(name)
    with pytest.raises(NotFoundError):
        list(runner.audits.forms(f"audits/{audit_id}/banks/private", holder_key=KEY.public))
