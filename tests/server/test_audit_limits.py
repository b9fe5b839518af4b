"""What bounds deposited audits: their number, the size of a message, and what the scorer keeps in mind of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.audit.registration.builders import PLAN

from leakscale.audit.directory import BankRole
from leakscale.audit.remote.chunks import answer_chunks
from leakscale.audit.remote.limits import AMENDMENTS_MAX, DOCUMENT_BYTES_MAX, MODELS_MAX
from leakscale.models import SignedStatement
from leakscale.sealing import SealedPiece
from leakscale.v1 import audit_service_pb2
from leakscale_server.errors import DigestConflict, InvalidRequest
from leakscale_server.identity.scopes import Role
from leakscale_server.limits import MESSAGE_BYTES_MAX, PAGE_SIZE_MAX
from leakscale_server.registry.audits import AuditDraft
from leakscale_server.registry.audits import audit as registry_audit
from leakscale_server.registry.audits import audits as registry_audits
from leakscale_server.registry.audits import chunks as registry_chunks
from leakscale_server.scorer.audits import deposits
from leakscale_server.scorer.audits.banks import KeptBanks, OpenedBank, OpenedDeposit
from leakscale_server.services.audits import AuditService
from leakscale_server.services.call import Call
from leakscale_server.stages import audits as stages_audits
from leakscale_server.stages.audits import AuditDeposit, SentChunk

from .audit_bench import ADA, ROB, Bench, a_bench, a_caller
from .deposited import SALT, a_locked, answers_to, sealed_chunk

RECEIPT_BYTES = 1200


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    (tmp_path / "data").mkdir()
    with a_bench(tmp_path / "data") as made:
        yield made


def a_large_draft(audit_id: str) -> AuditDraft:
    """An audit as large as its bounds let it be."""
    return AuditDraft(
        project="vault",
        audit_id=audit_id,
        depositor="a" * 64,
        title="\U0001f511" * 200,
        author_key=bytes(32),
        registration=bytes(DOCUMENT_BYTES_MAX),
        model_ids=tuple(f"{number:063}" for number in range(MODELS_MAX)),
        banks=("audit", "control"),
    )


def test_a_project_has_no_more_audits_than_its_bound(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each keeps its forms for good. What is there stays reachable, and another project has its own."""
    monkeypatch.setattr(registry_audits, "_AUDITS_MAX", 2)
    first, second, third = (a_locked(tmp_path / str(number), f"demo-{number}") for number in range(3))
    for locked in (first, second):
        bench.deposit(locked)

    with pytest.raises(InvalidRequest, match="the project has 2 audits, which is the most"):
        bench.deposit(third)
    assert bench.deposit(first).name == "audits/demo-0"
    assert bench.deposit(third, caller=a_caller("eve", Role.AUTHOR, "elsewhere")).name == "audits/demo-2"


def test_a_deposit_has_no_more_pieces_than_its_bound(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream without end would fill the vault."""
    monkeypatch.setattr(stages_audits, "_PIECES_MAX", 2)

    with pytest.raises(InvalidRequest, match="more than 2 pieces"):
        bench.deposit(a_locked(tmp_path))


def test_a_bank_has_no_more_forms_than_its_bound(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their places are kept in mind, one by one."""
    monkeypatch.setattr(deposits, "FORMS_MAX", 11)

    with pytest.raises(InvalidRequest, match="bank 'audit' has 12 forms, and a server takes 11"):
        bench.deposit(a_locked(tmp_path))


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        (SentChunk(-1, bytes(32), b""), "number -1 is not in 0 to 65535"),
        (SentChunk(2**16, bytes(32), b""), "number 65536"),
        (SentChunk(0, bytes(31), b""), "digest has 31 bytes, and SHA-256 has 32"),
        (SentChunk(0, bytes(32), bytes(2**20 + 49)), "sealed has 1,048,625 bytes, and at most 1,048,624"),
    ],
)
def test_a_chunk_beyond_a_bound_is_refused(chunk: SentChunk, words: str, bench: Bench, tmp_path: Path) -> None:
    """By field, value and bound, before it is opened."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)

    with pytest.raises(InvalidRequest, match=words):
        bench.auditing.submit(bench.set_key(locked, "audit", "tiny"), [chunk], ROB)


def test_a_number_is_taken_so_often_and_no_more(bench: Bench, tmp_path: Path) -> None:
    """Each is kept; what was sent last counts."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    key, bank = bench.set_key(locked, "audit", "tiny"), locked.banks[BankRole.AUDIT]
    for number in range(8):
        bench.submit(key, answers_to(bank, lambda *_, number=number: f"So {number}."))
    last = bench.auditing.chunks(key, ROB, start=0, limit=9)

    with pytest.raises(DigestConflict, match="sent 8 times"):
        bench.submit(key, answers_to(bank))
    assert bench.auditing.chunks(key, ROB, start=0, limit=9) == last
    assert bench.auditing.seal(key, ROB, chunk_count=1, request_id="seal").chunk_count == 1


def test_a_set_takes_so_many_chunks_of_a_principal_and_no_more(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a chunk replaces stays in the registry; and no honest number is beyond the answers of a set."""
    locked = a_locked(tmp_path)
    bench.deposit(locked)
    key, (answer, *_) = bench.set_key(locked, "audit", "tiny"), answers_to(locked.banks[BankRole.AUDIT])
    deposit_key = bench.auditing.deposit_key(ROB).public_key

    def submit(number: int, salt: bytes = SALT) -> None:
        (chunk,) = answer_chunks([answer], salt=salt)
        sealed = sealed_chunk(key.name, replace(chunk, number=number), deposit_key=deposit_key)
        bench.auditing.submit(key, [SentChunk(number, sealed.digest, sealed.sealed)], ROB)

    with pytest.raises(InvalidRequest, match="number 12 is not below 12"):
        submit(12)
    monkeypatch.setattr(registry_chunks, "_CHUNKS_MIN", 3)
    for number in range(12):
        submit(number)
    with pytest.raises(InvalidRequest, match="has 12 chunks of yours"):
        submit(0, bytes(32))


def test_the_largest_audit_fits_a_message(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be told would be there and out of reach."""
    entry = b'{"predicate": {"facts": {"changes": {"decoding.token_count_max": 1024}}}}'
    asking = SignedStatement(entry, bytes(64), bytes(32))
    monkeypatch.setattr(registry_audit, "statement_in", lambda *_, **__: asking)  # bytes of full length are none
    audit = bench.audits.create(a_large_draft("0" * 63))
    for number in range(1, AMENDMENTS_MAX + 1):
        content = bytes(DOCUMENT_BYTES_MAX - 1) + bytes([number])
        audit = bench.audits.amend(audit, number=number, amendment=content, principal="ada")
    rows = [
        {
            **{name: getattr(key, name) for name in ("project", "audit_id", "variant", "bank", "model_id")},
            "principal": "a" * 64,
            "request_id": "r",
            "chunk_count": 1,
            "ledger_index": 1,
            "payload": bytes(RECEIPT_BYTES),
            "signature": bytes(64),
        }
        for variant in audit.variants
        for key in audit.sets_of(variant)
    ]
    bench.registry.add("form_seals", rows)
    service = AuditService(bench.auditing, public_key=bytes(32))
    answer = service.GetAudit(audit_service_pb2.GetAuditRequest(name=audit.name), Call(ADA, cast(Any, None)))

    assert len(answer.audit.answer_sets) == 2 * MODELS_MAX * (1 + AMENDMENTS_MAX)
    assert answer.ByteSize() < MESSAGE_BYTES_MAX


def test_a_receipt_with_the_longest_names_is_within_what_is_reckoned_with(bench: Bench, tmp_path: Path) -> None:
    """`RECEIPT_BYTES` stands for it above."""
    plan = PLAN.replace('id = "tiny"', f'id = "{"m" * 63}"')
    locked = a_locked(tmp_path, "a" * 63, plan=plan)
    bench.deposit(locked)
    runner = a_caller("r" * 64, Role.AUDITOR)
    key = bench.set_key(locked, "control", "m" * 63, caller=runner)
    count = bench.submit(key, answers_to(locked.banks[BankRole.CONTROL]), caller=runner)
    sealed = bench.auditing.seal(key, runner, chunk_count=count, request_id="seal")

    assert len(sealed.receipt.payload) + len("amendment-8") - len("registered") + 64 < RECEIPT_BYTES


def test_the_longest_page_fits_a_message(bench: Bench) -> None:
    """Without documents, and with what of a title is kept."""
    for number in range(3):
        bench.audits.create(a_large_draft(f"{number:063}"))
    service = AuditService(bench.auditing, public_key=bytes(32))
    answer = service.ListAudits(audit_service_pb2.ListAuditsRequest(page_size=2), Call(ADA, cast(Any, None)))
    rest = service.ListAudits(
        audit_service_pb2.ListAuditsRequest(page_token=answer.next_page_token), Call(ADA, cast(Any, None))
    )

    assert [audit.name[-1] for audit in (*answer.audits, *rest.audits)] == ["2", "1", "0"]
    assert rest.next_page_token == ""
    assert answer.ByteSize() / 2 * PAGE_SIZE_MAX < MESSAGE_BYTES_MAX


def test_a_title_of_any_length_is_listed_by_its_beginning(bench: Bench, tmp_path: Path) -> None:
    """The registration has it whole."""
    locked = a_locked(tmp_path, plan=PLAN.replace('title = "Trial"', f'title = "{"long " * 100}"'))

    assert bench.deposit(locked).draft.title == "long " * 40


def opened(byte_count: int) -> OpenedDeposit:
    return OpenedDeposit(cast(dict[str, OpenedBank], {}), byte_count)


def test_the_scorer_remembers_deposits_up_to_a_size() -> None:
    """Those asked for last; one alone whatever its size, for whoever answers it asks again and again."""
    kept, read = KeptBanks(bytes_max=100), []

    def get(name: str, byte_count: int) -> None:
        kept.get((name, ""), lambda: read.append(name) or opened(byte_count))  # type: ignore[func-returns-value]

    for name, byte_count in (("a", 40), ("b", 40), ("a", 40), ("c", 40), ("a", 40), ("b", 40)):
        get(name, byte_count)
    assert read == ["a", "b", "c", "b"]
    for _ in range(2):
        get("large", 1000)
    assert read == ["a", "b", "c", "b", "large"]


def test_a_deposit_is_read_once_and_keeps_nobody_waiting_for_another() -> None:
    """A large one takes seconds; and what failed is read again."""
    kept, begun, may_end, read = KeptBanks(), threading.Event(), threading.Event(), []

    def slow() -> OpenedDeposit:
        read.append("slow")
        begun.set()
        assert may_end.wait(30)
        return opened(1)

    def failing() -> OpenedDeposit:
        raise ValueError("damaged")

    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(kept.get, ("slow", ""), slow) for _ in range(2)]
        assert begun.wait(30)
        assert kept.get(("quick", ""), lambda: opened(1)) == {}
        may_end.set()
        assert [each.result(30) for each in waiting] == [{}, {}]
    with pytest.raises(ValueError, match="damaged"):
        kept.get(("failing", ""), failing)

    assert read == ["slow"]
    assert kept.get(("failing", ""), lambda: opened(1)) == {}


def test_an_empty_deposit_is_cut_off(bench: Bench, tmp_path: Path) -> None:
    """A stream of no piece is none; one that ends too early neither."""
    locked = a_locked(tmp_path)
    asked = AuditDeposit(locked.audit_id, locked.registration, locked.author_key)
    no_pieces: list[SealedPiece] = []

    with pytest.raises(InvalidRequest, match="cut off before its last piece"):
        bench.auditing.deposit(asked, no_pieces, ADA)
    with pytest.raises(InvalidRequest, match="another key signed it"):
        bench.auditing.deposit(replace(asked, author_key=bytes(32)), no_pieces, ADA)
