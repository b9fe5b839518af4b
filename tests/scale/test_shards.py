"""A bank in parts, and the parts as the bank."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.base_model import base_model_folder
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError, NotFoundError
from leakscale.inference import BankFiles, Engine, FrozenBank, answer_bank, open_engine, verify_bank
from leakscale.scale import Shard, merge_shards, parse_shard, shard_files, shard_range

from .conftest import DRAWS


class Sizes:
    """What `shard_range` reads of a bank."""

    path = "a bank"

    def __init__(self, question_count: int, draw_count: int) -> None:
        self.question_count, self.draw_count = question_count, draw_count


def answer_shards(bank: FrozenBank, files: BankFiles, engine: Engine, *, count: int, leave_out: int = 0) -> None:
    for number in reversed(range(1, count + 1)):
        if number != leave_out:
            shard = Shard(number, count)
            answer_bank(bank, engine, shard_files(files, shard), indices=shard_range(bank, shard))


@given(questions=st.integers(1, 3_000), draws=st.integers(1, 64), data=st.data())
def test_shards_hold_every_case_once_in_order_and_whole_questions(
    questions: int, draws: int, data: st.DataObject
) -> None:
    """A case in two shards would be answered twice, one in none never; a split question is computed twice."""
    count = data.draw(st.integers(1, questions))
    bank = Sizes(questions, draws)

    ranges = [shard_range(bank, Shard(number, count)) for number in range(1, count + 1)]  # type: ignore[arg-type]

    assert [case for part in ranges for case in part] == list(range(questions * draws))
    assert all(part.start % draws == 0 and part.stop % draws == 0 for part in ranges)
    assert max(map(len, ranges)) - min(map(len, ranges)) <= draws


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b", " 1/4", "1/4 ", "1.0/4"])
def test_a_shard_that_does_not_exist_is_refused(text: str) -> None:
    """A Slurm script with a wrong variable must stop, not answer another part."""
    with pytest.raises(InvalidRequestError, match="1/"):
        parse_shard(text)


def test_more_shards_than_questions_are_refused(bank: FrozenBank) -> None:
    """An empty shard would have nothing to prove that it was answered."""
    with pytest.raises(InvalidRequestError, match="more than the 16 questions"):
        shard_range(bank, Shard(1, 17))


@pytest.mark.parametrize("count", [1, 3, 16])
def test_merged_shards_are_the_local_run_to_the_byte(
    bank: FrozenBank, files: BankFiles, local: BankFiles, engine: Engine, count: int
) -> None:
    """Whoever reads the files cannot tell how many machines wrote them, nor in which order."""
    answer_shards(bank, files, engine, count=count)

    binding = merge_shards(bank, files, shard_count=count)

    for kind in ("plan", "attempts", "results", "binding"):
        assert getattr(files, kind).read_bytes() == getattr(local, kind).read_bytes(), kind
    assert binding == verify_bank(local)
    assert binding.case_count == 16 * DRAWS


def test_merging_again_changes_nothing(bank: FrozenBank, files: BankFiles, engine: Engine) -> None:
    """The same command goes on, whatever became of the first."""
    answer_shards(bank, files, engine, count=2)

    assert merge_shards(bank, files, shard_count=2) == merge_shards(bank, files, shard_count=2)


def test_missing_shards_are_named(bank: FrozenBank, files: BankFiles, engine: Engine) -> None:
    """Of a Slurm array usually one or two tasks failed; the message is what to submit again."""
    answer_shards(bank, files, engine, count=4, leave_out=3)

    with pytest.raises(NotFoundError, match="lacks shard 3/4"):
        merge_shards(bank, files, shard_count=4)
    assert not files.results.exists()


def test_shards_of_another_count_are_no_shards_of_this_one(bank: FrozenBank, files: BankFiles, engine: Engine) -> None:
    """Halves and quarters of one bank may lie in one folder."""
    answer_shards(bank, files, engine, count=2)

    with pytest.raises(NotFoundError, match="lacks shard 1/4, 2/4, 3/4, 4/4"):
        merge_shards(bank, files, shard_count=4)


def test_shards_of_two_engines_do_not_merge(bank: FrozenBank, files: BankFiles, engine: Engine) -> None:
    """A bank of which a part was answered in another mode is no bank."""
    answer_shards(bank, files, engine, count=2, leave_out=2)
    other = open_engine("exact", model=base_model_folder(), options={"mode": "exact-conditional"})
    answer_bank(bank, other, shard_files(files, Shard(2, 2)), indices=shard_range(bank, Shard(2, 2)))

    with pytest.raises(ConflictError, match="was answered with another mode"):
        merge_shards(bank, files, shard_count=2)


def test_a_changed_shard_does_not_merge(bank: FrozenBank, files: BankFiles, engine: Engine) -> None:
    """Files travel between machines; a changed answer must not travel on."""
    answer_shards(bank, files, engine, count=2)
    path = shard_files(files, Shard(1, 2)).results
    lines = path.read_text().splitlines(keepends=True)
    result = json.loads(lines[3])
    others = [line for line in lines[1:] if json.loads(line)["text"] != result["text"]]
    result["text"] = json.loads(others[0])["text"]
    lines[3] = json.dumps(result, sort_keys=True, separators=(",", ":")) + "\n"
    path.write_text("".join(lines))

    with pytest.raises(
        IntegrityError,
        match="line 4 has a result of case 2 that does not follow",
    ):
        merge_shards(bank, files, shard_count=2)


def test_other_answers_in_place_are_not_overwritten(bank: FrozenBank, files: BankFiles, engine: Engine) -> None:
    """An unfinished local run is somebody's work."""
    answer_shards(bank, files, engine, count=2)
    files.results.write_text("something else\n")

    with pytest.raises(ConflictError, match="holds other answers"):
        merge_shards(bank, files, shard_count=2)
    assert files.results.read_text() == "something else\n"
