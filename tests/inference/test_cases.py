"""A frozen bank fixes every question and seed before the first answer, and costs the memory of an index."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import random
import tracemalloc
from pathlib import Path

import pytest

from leakscale.adaptation.loading import open_model_folder
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, NotFoundError
from leakscale.inference import FrozenBank
from leakscale.inference.freezing import encode_question, freeze_bank
from leakscale.models import Domain, Family, Ring

from .builders import a_question, write_bank


def test_bank_does_not_depend_on_the_order_of_the_families(
    base_model: Path, families: list[Family], bank: FrozenBank, tmp_path: Path
) -> None:
    """A server lists families in an order of its own; the bank's digest is what a study registers."""
    shuffled = random.Random(1).sample(families, len(families))

    other = freeze_bank(tmp_path / "plan", shuffled, model=base_model, bank_seed=3, draw_count=8)

    assert other.digest == bank.digest == hashlib.sha256(bank.path.read_bytes()).hexdigest()


def test_cases_are_questions_times_draws_in_order(bank: FrozenBank) -> None:
    """The index of a case says everything about it, so that shards and logs need nothing else."""
    cases = list(bank.cases())

    assert bank.case_count == len(cases) == 32 * 8
    assert [case.index for case in cases] == list(range(256))
    assert [(case.question.index, case.draw) for case in cases] == [(q, d) for q in range(32) for d in range(8)]
    assert [question.family_id for question in bank.questions()] == sorted(q.family_id for q in bank.questions())


def test_seed_is_a_hash_of_what_the_case_is(tmp_path: Path) -> None:
    """Written out once more, independently: SHA-256 of bank seed, family, domain, ring, draw."""
    bank = write_bank(tmp_path / "plan", [a_question(0, family_id="f-01", ring=Ring.R1)], draw_count=2, bank_seed=7)
    text = "\x1f".join(["leakscale-draw-v1", "7", "f-01", "sql", "R1", "1"])

    assert bank.case(1).seed == hashlib.sha256(text.encode()).digest()


def test_seeds_differ_in_every_part_of_the_identity(tmp_path: Path) -> None:
    """Two draws with one seed would be one draw counted twice."""
    questions = [
        a_question(place, family_id=family, domain=domain, ring=ring)
        for place, (family, domain, ring) in enumerate(
            (family, domain, ring) for family in ("f-01", "f-02") for domain in Domain for ring in Ring
        )
    ]
    banks = [write_bank(tmp_path / str(seed), questions, draw_count=8, bank_seed=seed) for seed in (0, 1)]

    seeds = [case.seed for bank in banks for case in bank.cases()]

    assert len(set(seeds)) == len(seeds) == 2 * 12 * 8


def test_frozen_bank_is_opened_and_not_made_again(base_model: Path, families: list[Family], bank: FrozenBank) -> None:
    """A resumed run finds its bank by what it asks, without rendering a prompt."""
    before = bank.path.stat().st_mtime_ns

    again = freeze_bank(bank.path, families, model=base_model, bank_seed=3, draw_count=8)

    assert again.digest == bank.digest
    assert bank.path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("asked", "named"), [((4, 8), "bank_seed"), ((3, 9), "draw_count"), ((4, 9), "bank_seed, draw_count")]
)
def test_bank_that_asks_something_else_is_refused(
    base_model: Path, families: list[Family], bank: FrozenBank, asked: tuple[int, int], named: str
) -> None:
    """Frozen means that the second run cannot ask otherwise under the same name."""
    with pytest.raises(ConflictError, match=f"was frozen with another {named} "):
        freeze_bank(bank.path, families, model=base_model, bank_seed=asked[0], draw_count=asked[1])


def test_bank_cut_short_is_refused(bank: FrozenBank, tmp_path: Path) -> None:
    """A copy that broke off has fewer questions than it says."""
    path = tmp_path / "plan"
    path.write_bytes(b"".join(bank.path.read_bytes().splitlines(keepends=True)[:-1]))

    with pytest.raises(IntegrityError, match="has 31 of 32 questions; it was changed since it was frozen"):
        FrozenBank(path)


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"format":"leakscale-bank-v0"}\n', b"\xff\n"])
def test_file_that_is_no_bank_is_refused(content: bytes, tmp_path: Path) -> None:
    """The message says so, whatever the bytes are."""
    path = tmp_path / "plan"
    path.write_bytes(content)

    with pytest.raises(IntegrityError, match="is no frozen bank"):
        FrozenBank(path)
    with pytest.raises(NotFoundError, match="freeze it first"):
        FrozenBank(tmp_path / "absent")


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"bank_seed":"3"', b'"bank_seed":"4"'), (b"Return", b"Retain"), (b"K-", b"K_"), (b'"stamp":"', b'"stamp":"0')],
)
def test_plan_changed_by_one_byte_is_never_asked(bank: FrozenBank, tmp_path: Path, old: bytes, new: bytes) -> None:
    """A question that nobody asked, answered and sealed, would look like any other."""
    content = bank.path.read_bytes()
    path = tmp_path / "plan"
    path.write_bytes(content.replace(old, new, 1))
    assert path.read_bytes() != content  # the attack happened
    found = content[: content.index(old)].count(b"\n") + 1

    with pytest.raises(IntegrityError, match=rf"plan' line {found} (has digest \w+ and was written with|carries no)"):
        FrozenBank(path)


def test_plan_whose_questions_changed_places_is_refused(bank: FrozenBank, tmp_path: Path) -> None:
    """Each line is whole, and the cases would belong to other families."""
    first, *lines = bank.path.read_bytes().splitlines(keepends=True)
    path = tmp_path / "plan"
    path.write_bytes(b"".join([first, lines[1], lines[0], *lines[2:]]))

    with pytest.raises(IntegrityError, match="line 2 has digest"):
        FrozenBank(path)


def test_bank_of_no_draws_is_refused(base_model: Path, families: list[Family], tmp_path: Path) -> None:
    """It would be complete at once, with nothing in it."""
    with pytest.raises(InvalidRequestError, match="draw_count is 0"):
        freeze_bank(tmp_path / "plan", families, model=base_model, bank_seed=0, draw_count=0)


def test_question_that_cannot_be_asked_leaves_no_bank(base_model: Path, families: list[Family], tmp_path: Path) -> None:
    """Half a bank under the final name would be taken for a whole one."""
    last = max(families, key=lambda family: family.family_id)
    doubled = dataclasses.replace(last, candidates=(last.candidates[0],) * 4)
    asked = [family for family in families if family is not last] + [doubled]

    with pytest.raises(InvalidRequestError, match="two candidates with one answer string"):
        freeze_bank(tmp_path / "plan", asked, model=base_model, bank_seed=0, draw_count=1)
    assert not (tmp_path / "plan").exists()


def test_bank_travels_as_its_path(bank: FrozenBank) -> None:
    """Worker processes open it themselves."""
    assert pickle.loads(pickle.dumps(bank)).digest == bank.digest


def test_schema_admits_the_four_values_with_their_types(base_model: Path, families: list[Family]) -> None:
    """`true`, `1` and `"1"` are three candidates."""
    tokenizer = open_model_folder(base_model).tokenizer

    question = encode_question(tokenizer, families[0])

    values = question.schema["properties"]["choice"]["enum"]
    assert [json.dumps({"choice": value}, separators=(",", ":")) for value in values] == list(question.answers)
    assert question.schema["additionalProperties"] is False


def test_a_bank_of_a_quarter_million_cases_is_read_in_little_memory(tmp_path: Path) -> None:
    """8,192 questions times 32 draws, walked through; what is held at any time is an index of the file."""
    bank = write_bank(tmp_path / "plan", (a_question(place) for place in range(8192)), draw_count=32)
    tracemalloc.start()

    opened = FrozenBank(bank.path)
    count = sum(1 for _ in opened.cases(range(0, opened.case_count, 7)))

    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert opened.case_count == 262_144
    assert count == len(range(0, 262_144, 7))
    assert peak_bytes < 4 << 20
