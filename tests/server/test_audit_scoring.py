"""What the scorer does for a deposited audit, and what it refuses to a server that asks for more than it may."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.audit.builders import choice
from tests.audit.registration.builders import NOW, PLAN, parent_line, write_lines

from leakscale.audit.answering.answers import FormAnswer, scored_keys
from leakscale.audit.answering.asks import asks_of
from leakscale.audit.directory import BankRole
from leakscale.audit.forms import FormBank
from leakscale.audit.registration import Amendment, amend_audit, load_plan, lock_audit
from leakscale.audit.registration.documents import registration_in
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.signing import AuditStatement
from leakscale.audit.remote.chunks import answer_chunks
from leakscale.audit.remote.pieces import Deposit, deposit_pieces
from leakscale.audit.scoring.answers import score_answers
from leakscale.digests import json_digest
from leakscale.form_engines import Generated, OptionScore
from leakscale.statements import Predicate, envelope_bytes, predicate_of, signed_bytes, statement
from leakscale_server.errors import AlreadyDone, IntegrityFailure, InvalidRequest, Unavailable
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import Role
from leakscale_server.scorer.audits import documents
from leakscale_server.scorer.audits.contract import (
    AmendmentOrder,
    AnswerSetOrder,
    AuditOrder,
    ChunkOrder,
    DepositOrder,
    PieceOrder,
    ReleaseOrder,
    SealedSet,
)
from leakscale_server.scorer.audits.staging import Staging

from .audit_bench import ADA, ROB, Bench, a_bench, a_caller
from .deposited import (
    MODELS,
    SALT,
    Locked,
    a_locked,
    answers_to,
    locked_of,
    right,
    sealed_chunks,
    with_golds,
    wrong,
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    (tmp_path / "data").mkdir()
    with a_bench(tmp_path / "data") as made:
        yield made


def order_of(locked: Locked) -> AuditOrder:
    return AuditOrder("vault", locked.audit_id, locked.registration, locked.author_key)


def release_of(locked: Locked, *, say: Any = right, **changes: Any) -> ReleaseOrder:
    """What the API process asks when all is sealed."""
    sets = [
        SealedSet(role, model, tuple(chunk.digest for chunk in answer_chunks(answers_to(bank, say), salt=SALT)))
        for role, bank in locked.banks.items()
        for model in MODELS
    ]
    return replace(ReleaseOrder(order_of(locked), b"", tuple(sets), "L2", ()), **changes)


def marked(
    bench: Bench, locked: Locked, *, say: Any = right, amendment: bytes = b"", variant: str = "registered"
) -> None:
    """Have every answer judged, as a server does that submits what it likes."""
    key = bench.scorer.deposit_key("vault").public_key
    for role, bank in locked.banks.items():
        for model in MODELS:
            name = f"audits/{locked.audit_id}/variants/{variant}/banks/{role}/models/{model}"
            for chunk in sealed_chunks(name, answers_to(bank, say), deposit_key=key):
                which = AnswerSetOrder(order_of(locked), amendment, role, model)
                bench.scorer.mark(ChunkOrder(which, chunk.number, chunk.digest, chunk.sealed))


def test_a_variant_is_scored_over_one_collection_of_answers(bench: Bench, tmp_path: Path) -> None:
    """A server that asks again with other answers would learn the golds, one bit a form each time."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    marked(bench, locked)
    marked(bench, locked, say=wrong)
    first = list(bench.scorer.release(release_of(locked)))

    with pytest.raises(IntegrityFailure, match="over other answers before"):
        list(bench.scorer.release(release_of(locked, say=wrong)))
    assert list(bench.scorer.release(release_of(locked))) == first


@pytest.mark.parametrize(
    "change",
    [
        lambda order: replace(order, sets=order.sets[:-1]),
        lambda order: replace(order, sets=()),
        lambda order: replace(order, sets=(*order.sets, order.sets[0])),
        lambda order: replace(order, sets=(order.sets[1], order.sets[0], *order.sets[2:])),
        lambda order: replace(order, sets=(replace(order.sets[0], digests=()), *order.sets[1:])),
        lambda order: replace(order, sets=(replace(order.sets[0], digests=(bytes(32),)), *order.sets[1:])),
        lambda order: replace(order, sets=(replace(order.sets[0], digests=order.sets[0].digests * 2), *order.sets[1:])),
        lambda order: replace(order, audit=replace(order.audit, project="elsewhere")),
    ],
)
def test_a_release_without_every_answer_is_refused(change: Any, bench: Bench, tmp_path: Path) -> None:
    """The scores of one model alone are what the next model's answers could be written by. Nothing is noted of it."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    marked(bench, locked)

    with pytest.raises(IntegrityFailure):
        list(bench.scorer.release(change(release_of(locked))))
    assert len(list(bench.scorer.release(release_of(locked)))) == 5


def test_answers_that_were_judged_by_another_registration_do_not_count(bench: Bench, tmp_path: Path) -> None:
    """Two deposits of one name, of which the registry has one: what was right by the other's golds is not its own."""
    one, other = a_locked(tmp_path / "one"), a_locked(tmp_path / "two")
    for locked in (one, other):
        handles = tuple(bench.scorer.keep(order) for order in piece_orders(bench, locked))
        bench.scorer.deposit(DepositOrder(order_of(locked), handles))
    marked(bench, one)

    with pytest.raises(IntegrityFailure, match="other chunks than were judged"):
        list(bench.scorer.release(release_of(other)))
    assert len(list(bench.scorer.release(release_of(one)))) == 5


@pytest.mark.parametrize(("amender", "level"), [(ROB, "L1"), (a_caller("una", Role.AUTHOR), "L2")])
def test_who_amends_is_an_author(amender: Caller, level: str, bench: Bench, tmp_path: Path) -> None:
    """Whoever sends an amendment has the author's key, and with it forms and golds."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    amend_audit(locked.directory, changes={"decoding.token_count_max": 9}, reason="none", now=NOW)
    bench.auditing.amend("demo", locked.directory.ledger.read_bytes().splitlines()[-1], amender)
    bench.answer(locked)
    statement_of, _ = bench.released(locked)

    assert predicate_of(statement_of.payload, Predicate.AUDIT_SCORES)["assurance_level"] == level


def test_what_was_locked_is_scored_for_one_registration_of_one_project(bench: Bench, tmp_path: Path) -> None:
    """Else it had two scores under one name, one of them made with what the other told."""
    locked = a_locked(tmp_path)
    elsewhere = a_caller("ada", Role.AUTHOR, "elsewhere")
    bench.deposit(locked)
    facts = registration_in(locked.registration, public_key=locked.author_key, source="it").to_json()
    facts["plan"]["name"] = "renamed"
    renamed = replace(locked, audit_id="renamed", registration=signed(locked, AuditStatement.REGISTRATION, facts))

    for again, caller in ((locked, elsewhere), (renamed, ADA), (renamed, elsewhere)):
        with pytest.raises(AlreadyDone, match="deposited on this server already, and are scored once") as refused:
            bench.deposit(again, caller=caller)
        assert "vault" not in refused.value.message
    # Who has read the registration, and holds no gold, hears of other things first.
    with pytest.raises(InvalidRequest, match="gold-changed"):
        bench.deposit(with_golds(locked, lambda _: "1"), caller=elsewhere)
    assert bench.deposit(locked).name == bench.deposit(a_locked(tmp_path / "new"), caller=elsewhere).name


def test_a_registration_of_somebody_else_stands_over_no_deposit(bench: Bench, tmp_path: Path) -> None:
    """Whoever carries a deposit knows its handles and the public facts, and can sign both with a key of its own."""
    locked = a_locked(tmp_path)
    orders = piece_orders(bench, locked)
    handles = tuple(bench.scorer.keep(order) for order in orders)
    bench.scorer.deposit(DepositOrder(order_of(locked), handles))
    facts = registration_in(locked.registration, public_key=locked.author_key, source="it").to_json()
    key = Ed25519PrivateKey.generate()
    payload = statement(
        AuditStatement.REGISTRATION,
        subject="registration.json",
        digest=bytes(32),
        predicate={**facts, "locked_at": "2026-03-02T12:00:00+00:00"},
    )
    public = key.public_key().public_bytes_raw()
    forged = envelope_bytes(payload, signature=key.sign(signed_bytes(payload)), public_key=public)
    theirs = AuditOrder("vault", "demo", forged, public)

    assert bench.scorer.facts(theirs).model_ids == MODELS
    with pytest.raises(Unavailable, match="of the deposit of audit 'demo' are gone"):
        bench.scorer.deposit(DepositOrder(theirs, handles))
    for order in orders:
        with pytest.raises(InvalidRequest, match="does not open"):
            bench.scorer.keep(replace(order, audit=theirs))
    with pytest.raises(IntegrityFailure, match="no deposit"):
        list(bench.scorer.release(replace(release_of(locked), audit=theirs)))


def test_an_amendment_that_its_author_did_not_sign_is_scored_by_nobody(bench: Bench, tmp_path: Path) -> None:
    """Each amendment is one more bit a form, so a server makes none."""
    locked, stranger = a_locked(tmp_path / "one"), a_locked(tmp_path / "two")
    bench.deposit(locked)
    amend_audit(stranger.directory, changes={"decoding.token_count_max": 9}, reason="none", now=NOW)
    forged = stranger.directory.ledger.read_bytes().splitlines()[-1]

    acts: tuple[Callable[[], object], ...] = (
        lambda: bench.scorer.amendment(AmendmentOrder(order_of(locked), forged)),
        lambda: marked(bench, locked, amendment=forged, variant="amendment-1"),
        lambda: list(bench.scorer.release(release_of(locked, amendment=forged))),
    )
    for act in acts:
        with pytest.raises(InvalidRequest, match="another key signed it"):
            act()


def test_more_amendments_than_eight_are_refused(bench: Bench, tmp_path: Path) -> None:
    """By the scorer itself: each is scored once, so their number bounds what is told."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    for number in range(9):
        amend_audit(locked.directory, changes={"decoding.token_count_max": 9 + number}, reason="none", now=NOW)
    last = locked.directory.ledger.read_bytes().splitlines()[-1]

    with pytest.raises(InvalidRequest, match="number 9, and an audit takes 1 to 8"):
        bench.scorer.amendment(AmendmentOrder(order_of(locked), last))


def test_forms_are_answered_once(bench: Bench, tmp_path: Path) -> None:
    """The mean over a thousand made-up answers to one form names any gold below 44."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    changes = {"decoding.temperature": 0.7, "decoding.answer_count": 2}
    amend_audit(locked.directory, changes=changes, reason="often", now=NOW)
    amendment = locked.directory.ledger.read_bytes().splitlines()[-1]
    often = a_locked(tmp_path / "often", plan=PLAN + "[decoding]\ntemperature = 0.7\nanswer_count = 3\n")

    with pytest.raises(InvalidRequest, match=r"amendment-1: .* is 2, and"):
        bench.auditing.amend("demo", amendment, ADA)
    with pytest.raises(InvalidRequest, match=r"registered: .* is 3, and"):
        bench.deposit(often)


def test_an_audit_with_too_many_models_or_parents_is_refused(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = a_locked(tmp_path)
    for name, words in (("MODELS_MAX", "has 2 models, and a server takes 1"), ("PARENTS_MAX", "parents, and a server")):
        with monkeypatch.context() as patch:
            patch.setattr(documents, name, 1)
            with pytest.raises(InvalidRequest, match=words):
                bench.deposit(locked)

    assert bench.deposit(locked).name == "audits/demo"


def test_a_gold_that_no_answer_can_be_judged_by_is_refused(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lock of ours lets it through; the scores would fail after every answer was sealed. The rule is named alone."""
    monkeypatch.setattr(FormBank, "gold_commitment", lambda _bank, _nonce: "00" * 32)
    locked = with_golds(a_locked(tmp_path), lambda _: "a dozen")

    with pytest.raises(InvalidRequest, match="gold-unreadable") as refused:
        bench.deposit(locked)
    assert "dozen" not in str(refused.value)


def locked_lines(folder: Path, lines: list[dict[str, Any]]) -> Locked:
    """Lock an audit of these parents that nobody had to read."""
    frame = write_lines(folder / "frame.jsonl", lines)
    directory, _ = open_audit(folder / "audit", frame=frame, size=len(lines), seed=1, rewrites=frame, now=NOW)
    directory.plan.write_text(f'{PLAN}[review]\nscope = "none"\n', encoding="utf-8")
    lock_audit(directory, now=NOW)
    return locked_of(directory, "demo", roles=(BankRole.AUDIT,))


def test_choices_are_scored_as_locally(bench: Bench, tmp_path: Path) -> None:
    """By the scores of the options, of which none says which is right; beside answers that are numbers."""
    numeric = [parent_line(number) for number in range(2)]
    chosen = [
        choice(
            f"c{number}",
            original=f"Which of these melts first when the {room} grows warm?",
            fresh=[
                f"As the temperature in our {room} rises, what turns liquid before the rest?",
                f"Somebody heats a {room}: name the substance that becomes a fluid soonest.",
            ],
        )
        for number, room in enumerate(("kitchen", "garage"))
    ]
    locked = locked_lines(tmp_path, [*numeric, *chosen])
    bench.deposit(locked)
    bank = locked.banks[BankRole.AUDIT]
    answers = [
        FormAnswer(
            form, number, False, None, tuple(OptionScore(-1.0 - (place != len(form) % 4), 1) for place in range(4))
        )
        if form.startswith("c")
        else FormAnswer(form, number, False, Generated("The answer is 25.", 4, False, None))
        for form, number in scored_keys(bank, answer_count=1)
    ]
    for model in MODELS:
        key = bench.set_key(locked, "audit", model)
        bench.auditing.seal(key, ROB, chunk_count=bench.submit(key, answers), request_id="seal")
    _, tables = bench.released(locked)
    settings = load_plan(locked.directory.plan).scoring

    assert len(answers) == 4 * 3
    for model, content in zip(MODELS, tables, strict=True):
        assert content == score_answers(bank, answers, settings, model=model).accuracy.to_bytes()
    assert b'"metric":"choice(characters),numeric' in tables[0]


def test_what_a_set_needs_is_what_a_model_is_asked(tmp_path: Path) -> None:
    """Places are counted over the same questions, in the same order, without those that are asked again."""
    locked = a_locked(tmp_path, plan=PLAN + "\n[decoding]\ntemperature = 0.7\nanswer_count = 3\n")
    registration = registration_in(locked.registration, public_key=locked.author_key, source="it")
    for bank in locked.banks.values():
        asked = [ask.key for ask in asks_of(bank, registration.plan)]
        assert list(scored_keys(bank, answer_count=3)) == [key[:2] for key in asked if not key[2]]
        assert len(asked) > len([key for key in asked if not key[2]])


def piece_orders(bench: Bench, locked: Locked) -> list[PieceOrder]:
    """What the API process asks of each piece of a deposit."""
    pieces = locked.pieces(bench.scorer.deposit_key("vault").public_key)
    return [PieceOrder(order_of(locked), index, piece.is_last, piece.sealed) for index, piece in enumerate(pieces)]


def test_a_handle_tells_nothing_of_its_piece(bench: Bench, tmp_path: Path) -> None:
    """The API process sees handles; a plain digest would confirm a guess of the golds."""
    locked = a_locked(tmp_path)
    handles, again = ([bench.scorer.keep(order) for order in piece_orders(bench, locked)] for _ in range(2))
    (tmp_path / "other").mkdir()
    with a_bench(tmp_path / "other") as other:
        elsewhere = [other.scorer.keep(order) for order in piece_orders(other, locked)]
    digests = {hashlib.sha256(content).hexdigest() for content in deposit_pieces(locked.banks, locked.nonce)}

    assert handles == again
    assert len(set(handles)) == len(digests) == 3
    assert digests.isdisjoint(handles)
    assert set(handles).isdisjoint(elsewhere)


def row_sizes(folder: Path, kind: str, audit_key: str) -> list[int]:
    """How long the rows of an audit are in the vault."""
    with closing(sqlite3.connect(folder / "vault.db")) as vault:
        query = "SELECT length(sealed) FROM audits WHERE kind = ? AND audit = ? ORDER BY rowid"
        return [size for (size,) in vault.execute(query, (kind, audit_key))]


def test_rows_of_the_vault_are_as_long_whatever_is_right(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who copies the file learns how many forms there are and how long, and nothing of the golds."""
    monkeypatch.setattr(Deposit, "require_matches", lambda _deposit, _registration: None)
    sizes = []
    for number, gold in enumerate(("7", "7" * 300)):
        locked = with_golds(a_locked(tmp_path / str(number), f"demo-{number}"), lambda _, gold=gold: gold)  # type: ignore[misc]
        handles = tuple(bench.scorer.keep(order) for order in piece_orders(bench, locked))
        bench.scorer.deposit(DepositOrder(order_of(locked), handles))
        marked(bench, locked, say=(right, wrong)[number])
        sizes.append([row_sizes(tmp_path / "data", kind, f"demo-{number}@vault") for kind in ("piece", "marks")])
    pieces, marks = sizes[0]

    assert sizes[0] == sizes[1]
    assert (len(pieces), len(marks)) == (3, 4)


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_a_deposit_that_is_refused_leaves_nothing(is_cut_off: bool, bench: Bench, tmp_path: Path) -> None:
    """The vault is for good: what was never judged would fill it, and nobody could take it out."""
    locked = with_golds(a_locked(tmp_path), lambda _: "1")
    if is_cut_off:
        for order in piece_orders(bench, locked)[:2]:
            bench.scorer.keep(order)
    else:
        with pytest.raises(InvalidRequest, match="gold-changed"):
            bench.deposit(locked)

    assert row_sizes(tmp_path / "data", "piece", "demo@vault") == []


def test_pieces_make_room_for_others() -> None:
    """Memory is bounded; whose pieces are gone sends them again."""
    staging = Staging(bytes_max=10)
    for name, content in (("a", b"1234"), ("b", b"1234"), ("b", b"12345"), ("c", b"12")):
        staging.put(name, content)
    there = {name: staging.get(name) for name in "abc"}
    staging.drop("b")
    staging.put("d", b"12345678")

    assert there == {"a": None, "b": b"12345", "c": b"12"}
    assert {name: staging.get(name) for name in "abcd"} == {"a": None, "b": None, "c": b"12", "d": b"12345678"}


def signed(locked: Locked, kind: AuditStatement, facts: dict[str, Any], *, digest: bytes = bytes(32)) -> bytes:
    """Sign what no tool of ours writes, with the author's key."""
    payload = json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "registration.json", "digest": {"sha256": digest.hex()}}],
            "predicateType": str(kind),
            "predicate": facts,
        }
    ).encode()
    key = Ed25519PrivateKey.from_private_bytes(locked.directory.key.read_bytes())
    return envelope_bytes(payload, signature=key.sign(signed_bytes(payload)), public_key=locked.author_key)


REGISTRATION_CHANGES: dict[str, Any] = {
    "half a surrogate pair": {"plan.title": "\ud800"},
    "half a pair in a key": {"plan.\ud800": 1},
    "no plan": {"plan": None},
    "a list": {"bank": []},
    "counts that are none": {"bank.parent_count": "4"},
    "more than there may be": {"bank.parent_count": 10**400},
    "not a number": {"bank.parent_count": float("nan")},
    "a digest that is none": {"bank.digest": 5},
    "another field": {"bank.more": 1},
    "no models": {"plan.models": []},
}


@pytest.mark.parametrize("what", REGISTRATION_CHANGES)
def test_a_registration_that_no_tool_of_ours_wrote_is_refused(what: str, bench: Bench, tmp_path: Path) -> None:
    """Whoever has a key can sign anything; it is the author's mistake, and no fault of the server."""
    locked = a_locked(tmp_path)
    facts = registration_in(locked.registration, public_key=locked.author_key, source="it").to_json()
    for path, value in REGISTRATION_CHANGES[what].items():
        *tables, name = path.split(".")
        table = facts
        for each in tables:
            table = table[each]
        table[name] = value
    changed = replace(locked, registration=signed(locked, AuditStatement.REGISTRATION, facts))

    with pytest.raises(InvalidRequest) as refused:
        bench.deposit(changed)
    assert refused.value.to_status().message


@pytest.mark.parametrize(
    "change",
    [
        {"number": True},
        {"number": 1.0},
        {"number": "1"},
        {"number": -1},
        {"changes": None},
        {"changes": [["decoding.token_count_max", 9]]},
        {"changes": {"prompt.few_shot.x": 1}},
        {"changes": {"\ud800": 1}},
        {"changes": {"decoding.token_count_max": "many"}},
        {"changes": {"models.tiny": 1}},
        {"files_seen": 5},
        {"more": 1},
    ],
    ids=str,
)
def test_an_amendment_that_no_tool_of_ours_wrote_is_refused(
    change: dict[str, Any], bench: Bench, tmp_path: Path
) -> None:
    """Before it has a place among the audit's variants."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    amendment = {"number": 1, "reason": "r", "changes": {"decoding.token_count_max": 9}, "amended_at": "now"}
    facts = {**amendment, "files_seen": [], **change}
    entry = {"number": 3, "kind": "amendment", "at": "now", "previous": "00", "public_key": "00", "facts": facts}
    digest = bytes(32)
    with suppress(TypeError, ValueError):
        digest = json_digest(Amendment.from_json(facts).to_json())

    with pytest.raises(InvalidRequest) as refused:
        bench.auditing.amend("demo", signed(locked, AuditStatement.ENTRY, entry, digest=digest), ADA)
    assert refused.value.to_status().message
    assert bench.auditing.get("demo", ADA).amendments == ()
