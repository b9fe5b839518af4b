"""Answers come in chunks: whatever is sent, repeated or refused, each case has one answer, the first one accepted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscale.answers import ANSWERS_PER_CHUNK_MAX, CHUNK_BYTES_MAX, answer_line, chunks_of, lines_digest, read_lines
from leakscale.digests import canonical_json
from leakscale.models import Answer
from leakscale_server.errors import (
    AnswerTooLong,
    BankSealed,
    CaseDuplicate,
    CaseUnknown,
    DigestConflict,
    InvalidRequest,
    ServerFault,
)
from leakscale_server.registry.experiments.chunks import AnswerChunk, BankCases, BankKey, ChunkStore, PlacedChunk
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.registry_tables import open_registry

KEY = BankKey("north", "first", "sql-base")
CASES = BankCases({"f-1": 0, "f-2": 1, "f-3": 2}, draw_count=4)
ALL = [Answer(family, draw, f"{family}-{draw}") for family in CASES.places for draw in range(4)]


def a_chunk(number: int, answers: list[Answer]) -> AnswerChunk:
    return AnswerChunk(number, lines_digest(map(answer_line, answers)), answers)


def add(store: ChunkStore, registry: InsertOnlyDatabase, chunk: AnswerChunk, *, is_closed: bool = False) -> None:
    with registry.transaction():
        store.add(KEY, PlacedChunk.of(chunk, CASES), cases=CASES, principal="ada", is_closed=is_closed)


@pytest.fixture
def registry(tmp_path: Path) -> InsertOnlyDatabase:
    return open_registry(tmp_path)


texts = st.text(max_size=20)


@given(texts, texts, st.integers(0, 1023))
def test_a_line_is_the_canonical_json_of_its_answer(family_id: str, text: str, draw: int) -> None:
    """Digests of banks stand in ledger and disclosures, so anybody must be able to compute them by the standard."""
    line = answer_line(Answer(family_id, draw, text))

    assert line == canonical_json([family_id, draw, text]) + b"\n"
    assert read_lines(line + line) == [Answer(family_id, draw, text)] * 2


def test_chunks_are_as_large_as_a_server_takes_them() -> None:
    """Neither bound is passed, and no chunk could have had the next answer too."""
    answers = [Answer("f-1", number, "x" * (number % 7 == 0) * 4096) for number in range(5000)]
    chunks = list(chunks_of(answers))

    assert [answer for chunk, _ in chunks for answer in chunk] == answers
    sizes = [sum(len(answer_line(answer)) for answer in chunk) for chunk, _ in chunks]
    assert max(sizes) <= CHUNK_BYTES_MAX
    assert max(len(chunk) for chunk, _ in chunks) <= ANSWERS_PER_CHUNK_MAX
    for size, (chunk, _), (following, _) in zip(sizes, chunks, chunks[1:], strict=False):
        assert len(chunk) == ANSWERS_PER_CHUNK_MAX or size + len(answer_line(following[0])) > CHUNK_BYTES_MAX


@given(
    order=st.permutations(range(4)),
    repeats=st.lists(st.integers(0, 3), max_size=4),
    restarts=st.sets(st.integers(0, 7)),
    cut=st.permutations(ALL),
)
@settings(deadline=None, max_examples=40)
def test_a_bank_is_the_same_whatever_the_order_of_its_chunks(
    tmp_path_factory: pytest.TempPathFactory,
    order: list[int],
    repeats: list[int],
    restarts: set[int],
    cut: list[Answer],
) -> None:
    """Chunks in any order, some of them twice, and restarts in between: the sealed bytes are those of the cases."""
    registry = open_registry(tmp_path_factory.mktemp("bank"))
    store = ChunkStore(registry)
    chunks = [a_chunk(number, cut[number * 3 : number * 3 + 3]) for number in range(4)]
    for step, number in enumerate([*order, *repeats]):
        if step in restarts:
            store = ChunkStore(registry)
        add(store, registry, chunks[number])

    assert store.answered_count(KEY) == CASES.count == 12
    assert store.first_missing(KEY, CASES) is None
    assert store.lines(KEY, CASES) == b"".join(map(answer_line, ALL))
    assert [(each.number, each.digest) for each in store.listed(KEY, start=0, limit=9)] == [
        (number, chunks[number].digest) for number in range(4)
    ]


class _Model:
    """What a bank must hold, told in the simplest way."""

    def __init__(self) -> None:
        self.chunks: dict[int, list[Answer]] = {}

    def refusal(self, number: int, answers: list[Answer]) -> type[ServerFault] | None:
        cases = [(answer.family_id, answer.draw) for answer in answers]
        if any(family not in CASES.places or not 0 <= draw < CASES.draw_count for family, draw in cases):
            return CaseUnknown
        if len(set(cases)) < len(cases):
            return CaseDuplicate
        if number in self.chunks:
            return None if self.chunks[number] == answers else DigestConflict
        taken = {(answer.family_id, answer.draw) for chunk in self.chunks.values() for answer in chunk}
        return CaseDuplicate if taken & set(cases) else None


answers_strategy = st.builds(
    Answer, st.sampled_from(["f-1", "f-2", "f-3", "f-4"]), st.integers(-1, 4), st.sampled_from(["a", "b"])
)


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(answers_strategy, min_size=1, max_size=4)), max_size=12))
@settings(deadline=None, max_examples=80)
def test_any_history_of_chunks_leaves_what_was_accepted_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[int, list[Answer]]]
) -> None:
    """Each refusal by its own name, and none of them loses or changes an answer that is there."""
    registry = open_registry(tmp_path_factory.mktemp("bank"))
    store, model = ChunkStore(registry), _Model()
    for number, answers in history:
        refusal = model.refusal(number, answers)
        if refusal is None:
            add(store, registry, a_chunk(number, answers))
            model.chunks[number] = answers
        else:
            with pytest.raises(refusal) as caught:
                add(store, registry, a_chunk(number, answers))
            assert type(caught.value) is refusal

    stored = {each.number: each.digest for each in store.listed(KEY, start=0, limit=99)}
    assert stored == {number: a_chunk(number, answers).digest for number, answers in model.chunks.items()}
    assert store.answered_count(KEY) == sum(map(len, model.chunks.values()))
    lines = [line for row in registry.rows("SELECT lines FROM chunks") for line in row["lines"].splitlines()]
    assert sorted(json.loads(line) for line in lines) == sorted(
        [answer.family_id, answer.draw, answer.text] for answers in model.chunks.values() for answer in answers
    )


def test_a_closed_bank_knows_its_chunks_and_takes_no_other(registry: InsertOnlyDatabase) -> None:
    """A repeated upload of a sealed bank is harmless."""
    store = ChunkStore(registry)
    add(store, registry, a_chunk(0, ALL[:3]))

    add(store, registry, a_chunk(0, ALL[:3]), is_closed=True)
    with pytest.raises(BankSealed, match="chunk 1 is not among those"):
        add(store, registry, a_chunk(1, ALL[3:]), is_closed=True)
    with pytest.raises(DigestConflict):
        add(store, registry, a_chunk(0, ALL[:2]), is_closed=True)


@pytest.mark.parametrize(
    ("chunk", "kind", "words"),
    [
        (a_chunk(0, []), InvalidRequest, "carries 0 answers"),
        (a_chunk(-1, ALL), InvalidRequest, "chunk number -1"),
        (a_chunk(2**20, ALL), InvalidRequest, "chunk number"),
        (a_chunk(0, [ALL[0]] * 1025), InvalidRequest, "carries 1025 answers; use 1 to 1024"),
        (dataclasses.replace(a_chunk(0, ALL), digest=b""), InvalidRequest, "not what its digest says"),
        (dataclasses.replace(a_chunk(0, ALL), digest=hashlib.sha256().digest()), InvalidRequest, "its digest"),
        (a_chunk(0, [Answer("f-1", 0, "ä" * 2049)]), AnswerTooLong, "longer than 4096 bytes"),
        (a_chunk(0, [ALL[0], ALL[0]]), CaseDuplicate, "case (f-1, draw 0) occurs twice"),
    ],
)
def test_a_chunk_that_breaks_a_rule_is_refused_by_name(chunk: AnswerChunk, kind: type[ServerFault], words: str) -> None:
    """Before anything of it is stored."""
    with pytest.raises(kind, match=words.replace("(", r"\(").replace(")", r"\)")) as caught:
        PlacedChunk.of(chunk, CASES)
    assert type(caught.value) is kind


def test_a_chunk_is_bounded_in_bytes_too() -> None:
    """A thousand answers of the longest kind would not fit in a message."""
    cases = BankCases({"f-1": 0}, draw_count=1024)
    answers = [Answer("f-1", draw, "\x00" * 4096) for draw in range(64)]

    with pytest.raises(InvalidRequest, match=r"has 15\d{5} bytes; at most 1048576"):
        PlacedChunk.of(a_chunk(0, answers), cases)


def test_banks_of_two_projects_share_nothing(registry: InsertOnlyDatabase) -> None:
    """One id, one chunk number, two projects."""
    store = ChunkStore(registry)
    add(store, registry, a_chunk(0, ALL[:3]))

    assert store.answered_count(dataclasses.replace(KEY, project="south")) == 0
    assert store.listed(dataclasses.replace(KEY, project="south"), start=0, limit=9) == []
