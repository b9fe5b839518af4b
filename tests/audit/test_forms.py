"""Banks of forms: what a file may say, and that a draw can be drawn again by anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.audit.builders import FRESH, ORIGINAL, bank, choice, line, write

from leakscale.audit.forms import Criterion, Form, FormBank, Parent, draw_sample, read_bank, write_bank
from leakscale.errors import InvalidRequestError, NotFoundError


def test_a_form_takes_what_it_leaves_out_from_its_parent(tmp_path: Path) -> None:
    """Most forms differ in their text alone; a file that repeats gold and options invites a changed one."""
    fields = choice(fresh=["What melts first?", {"text": "Which turns liquid?", "gold": "B"}])
    parent = bank(tmp_path, fields).parents[0]
    assert [form.gold for form in parent.fresh if form] == ["A", "B"]
    assert [len(form.options) for form in parent.fresh if form] == [4, 4]


def test_a_bank_written_and_read_is_the_same(tmp_path: Path) -> None:
    """The lock binds the digest, so writing must not move it."""
    first = bank(tmp_path, line(stratum="easy"), choice(deep=["What is soon gone, warmed?"]), line("p2", fresh=[None]))
    write_bank(first, tmp_path / "again.jsonl")
    assert read_bank(tmp_path / "again.jsonl") == first
    assert read_bank(tmp_path / "again.jsonl").digest == first.digest


def test_parquet_holds_the_same_bank(tmp_path: Path) -> None:
    """Benchmarks are handed around as Parquet, where a field that a row lacks is null."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [choice(stratum="easy"), line(), line("p2", fresh=None)]  # the first row names the columns
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "bank.parquet")
    assert read_bank(tmp_path / "bank.parquet") == bank(tmp_path, *rows)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (line(gold=None), "parent 'p1': original has no gold answer"),
        (line(gold=42), "field 'gold': input should be a valid string"),
        (line(original="  "), "field 'original"),
        (line(fresh=["a b", {"text": "c d", "golt": "1"}]), "golt"),
        (line(criterion="fuzzy"), "field 'criterion'"),
        (line("a b"), "field 'id'"),
        (line(options=[{"label": "A", "text": "x"}, {"label": "B", "text": "y"}]), "original has options"),
        (choice(options=None), "original has no options"),
        (choice(gold="E"), "the gold answer 'E' of original is no label of its options (A, B, C, D)"),
        (choice(options=[{"label": "A", "text": "x"}, {"label": "A", "text": "y"}]), "two options labelled 'A'"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    """A bank is written by hand, over weeks."""
    with pytest.raises(InvalidRequestError) as caught:
        bank(tmp_path, line("p0"), fields)
    assert "row 2: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no parent item"),
        (b"\n \n", "holds no parent item"),
        (b"{", "row 1: not a JSON object"),
        (b"\xff\n", "row 1: not a JSON object in UTF-8"),
        (b'{"id": "a", "id": "b"}', "field 'id' is there twice"),
        (b'{"id": NaN}', "NaN is no number of JSON"),
        (b"[1]", "row 1: "),
        (b"[" * 100_000, "row 1: not a JSON object"),
        (b'{"id": ' + b"9" * 5_000 + b"}", "it has a number of more than 4,300 digits; write it as text"),
    ],
)
def test_a_file_that_is_no_bank_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """Never a traceback, whatever is in the file."""
    path = tmp_path / "bank.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidRequestError, match=message):
        read_bank(path)


def test_the_mark_that_some_editors_put_first_is_none_of_the_bank(tmp_path: Path) -> None:
    """It says UTF-8, and stands before the first brace."""
    plain = bank(tmp_path, line())
    path = tmp_path / "marked.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(line()).encode() + b"\n")

    assert read_bank(path) == plain


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gold": "5\ufeff"}, "field 'gold': it holds U+FEFF, which no reader sees; take it out"),
        ({"gold": "\u202e5"}, "it holds U+202E"),
        ({"stratum": "easy\x1b"}, "field 'stratum': it holds U+001B"),
        ({"original": "a\0b"}, "field 'original.text': it holds U+0000"),
        ({"original": 5}, "field 'original': it is an object with fields of its own"),
    ],
)
def test_what_no_reader_sees_is_no_part_of_an_answer(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    """No answer would ever be equal to it, and a stratum is a heading."""
    with pytest.raises(InvalidRequestError) as caught:
        bank(tmp_path, line() | fields)
    assert message in str(caught.value)


def test_an_id_stands_for_one_parent(tmp_path: Path) -> None:
    """A parent that comes twice would count twice."""
    with pytest.raises(InvalidRequestError, match="row 2: parent 'p1' is row 1 already"):
        bank(tmp_path, line(), line())


def test_other_files_are_refused(tmp_path: Path) -> None:
    """The ending decides how a file is read."""
    (tmp_path / "bank.parquet").write_bytes(b"not parquet")
    with pytest.raises(InvalidRequestError, match="is no Parquet file"):
        read_bank(tmp_path / "bank.parquet")
    (tmp_path / "bank.csv").write_text("id\n")
    with pytest.raises(InvalidRequestError, match=r"ends in '\.csv'"):
        read_bank(tmp_path / "bank.csv")
    with pytest.raises(NotFoundError, match="does not exist"):
        read_bank(tmp_path / "none.jsonl")


def _frame(size: int, strata: tuple[str, ...] = ("",)) -> FormBank:
    form = Form(ORIGINAL, "31")
    return FormBank(
        tuple(Parent(f"p{i}", Criterion.NUMERIC, form, stratum=strata[i % len(strata)]) for i in range(size))
    )


@given(size=st.integers(1, 40), seed=st.integers(0, 2**53 - 1), data=st.data())
def test_a_draw_depends_on_ids_and_seed_alone(size: int, seed: int, data: st.DataObject) -> None:
    """An auditor who sorts the frame, or fixes a typo in it, must not get another sample."""
    frame = _frame(40)
    shuffled = FormBank(tuple(data.draw(st.permutations(frame.parents))))
    drawn = [parent.parent_id for parent in draw_sample(frame, size=size, seed=seed).bank.parents]
    assert drawn == [parent.parent_id for parent in draw_sample(shuffled, size=size, seed=seed).bank.parents]
    assert drawn == [parent.parent_id for parent in draw_sample(frame, size=40, seed=seed).bank.parents][:size]
    assert len(set(drawn)) == size


def test_every_parent_is_drawn_as_often_as_any_other() -> None:
    """Half of 20 parents, 2,000 times: each about 1,000 times (5 standard deviations are 112)."""
    frame = _frame(20)
    counts = dict.fromkeys((parent.parent_id for parent in frame.parents), 0)
    for seed in range(2000):
        for parent in draw_sample(frame, size=10, seed=seed).bank.parents:
            counts[parent.parent_id] += 1
    assert all(888 < count < 1112 for count in counts.values())


def test_a_drawn_parent_has_places_for_its_forms() -> None:
    """The file that an author fills in says how many forms are asked of them."""
    drawn = draw_sample(_frame(5), size=2, seed=1, fresh_count=3, deep_count=1)
    assert drawn.bank.fresh_count == 3
    assert [parent.deep for parent in drawn.bank.parents] == [(None,), (None,)]
    assert drawn.design.population_size == 5


def test_strata_are_drawn_one_by_one() -> None:
    """Weights come from the frame, counts from the registration."""
    drawn = draw_sample(_frame(30, ("easy", "hard", "hard")), size={"easy": 4, "hard": 5}, seed=1)
    assert drawn.bank.strata() in ({"easy": 4, "hard": 5}, {"hard": 5, "easy": 4})
    assert drawn.design.weights == {"easy": 1 / 3, "hard": 2 / 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "parents of the sample: 0 is out of range; give 1 to 6"),
        ({"size": 7}, "parents of the sample: 7 is out of range; give 1 to 6"),
        ({"size": 1, "seed": -1}, "seed: -1"),
        ({"size": 1, "fresh_count": 0}, "fresh forms a parent: 0"),
        ({"size": {"easy": 2}}, "the sample names strata 'easy', the frame has 'easy', 'hard'"),
        ({"size": {"easy": 2, "hard": 9}}, "parents of stratum 'hard': 9 is out of range; give 1 to 3"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(arguments: dict[str, Any], message: str) -> None:
    """Before weeks of writing go into it."""
    with pytest.raises(InvalidRequestError, match=message):
        draw_sample(_frame(6, ("easy", "hard")), **{"seed": 1, **arguments})


def test_the_digest_sees_order_and_every_form_and_no_gold(tmp_path: Path) -> None:
    """It is published before the forms are: what is asked is bound by it, and no guess of a gold can be tested."""
    banks = [
        bank(tmp_path, line("p1"), line("p2")),
        bank(tmp_path, line("p2"), line("p1")),
        bank(tmp_path, line("p1"), line("p2", fresh=[FRESH[1], FRESH[0]])),
        bank(tmp_path, line("p1"), line("p2", gold="32")),
    ]
    assert len({each.digest for each in banks[:3]}) == 3
    assert banks[3].digest == banks[0].digest
    assert len({each.content_digest for each in banks}) == 4


def test_a_commitment_binds_every_gold_and_tells_none(tmp_path: Path) -> None:
    """Without the nonce it is as good as random; with it, each gold counts, and so does the form that it is of."""
    whole = bank(tmp_path, line("p1"), line("p2", fresh=["a b", {"text": "c d", "gold": "7"}]))
    others = [
        bank(tmp_path, line("p1"), line("p2", fresh=[{"text": "a b", "gold": "7"}, "c d"])),
        bank(tmp_path, line("p1", gold="8"), line("p2", fresh=["a b", {"text": "c d", "gold": "7"}])),
        bank(tmp_path, line("p1"), line("p2", fresh=["a c", {"text": "c d", "gold": "7"}])),
    ]
    nonce = b"1" * 32
    commitments = {each.gold_commitment(nonce) for each in [whole, *others]}

    assert len(commitments | {whole.gold_commitment(b"2" * 32)}) == 5
    with pytest.raises(InvalidRequestError, match="a nonce of golds has 31 bytes; it has 32"):
        whole.gold_commitment(b"1" * 31)
    with pytest.raises(InvalidRequestError, match="golds are withheld"):
        whole.without_golds().gold_commitment(nonce)


def test_a_bank_whose_golds_are_withheld_is_the_same_bank(tmp_path: Path) -> None:
    """Whoever answers it holds what they got against the registration, and nothing of the golds is in the file."""
    whole = bank(tmp_path, line(stratum="easy"), choice(deep=["What is soon gone?", None]), line("p2", fresh=[None]))
    write_bank(whole.without_golds(), tmp_path / "withheld.jsonl")
    withheld = read_bank(tmp_path / "withheld.jsonl", golds="withheld")

    assert "gold" not in (tmp_path / "withheld.jsonl").read_text()
    assert withheld == whole.without_golds()
    assert withheld.digest == whole.digest
    assert (whole.has_golds, withheld.has_golds) == (True, False)
    golds = [parent.golds for parent in whole.parents]
    filled = [parent.with_golds(each) for parent, each in zip(withheld.parents, golds, strict=True)]
    assert FormBank(tuple(filled)) == whole
    with pytest.raises(InvalidRequestError, match="parent 'p1' has 3 forms and 2 golds"):
        withheld.parents[0].with_golds(["1", "2"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (line(), "original has a gold answer, and this bank's are withheld"),
        (line(gold=None, fresh=["a b", {"text": "c d", "gold": "7"}]), "fresh[1] has a gold answer"),
        (choice(gold=None, options=None), "original has no options"),
    ],
)
def test_a_bank_without_golds_obeys_every_other_rule(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    """One with a gold among them is another kind of file, and says so before anything is answered."""
    with pytest.raises(InvalidRequestError) as caught:
        read_bank(write(tmp_path, fields), golds="withheld")
    assert message in str(caught.value)


def test_a_frame_is_a_bank_without_forms(tmp_path: Path) -> None:
    """A benchmark is read by the same rules."""
    frame = read_bank(write(tmp_path, line(fresh=None)))
    assert frame.fresh_count == 0
