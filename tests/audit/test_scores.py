"""The table of scores: its shape, its order, and that a file cannot be changed unseen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.audit.builders import bank, line

from leakscale.audit.forms import FormKind, FormName
from leakscale.audit.scores import ScoreKind, ScoreSource, ScoreTable
from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.stats import paired_gap, randomization_test

NAN = float("nan")


def a_table(**fields: Any) -> ScoreTable:
    """Return three parents with two fresh forms, one of them missing."""
    whole: dict[str, Any] = {
        "model": "tiny@1",
        "kind": ScoreKind.CORRECT,
        "metric": "numeric",
        "parent_ids": ("p1", "p2", "p3"),
        "scores": np.array([[1, 1, 0], [1, 0, 0], [0, 1, NAN]]),
        "fresh_count": 2,
    }
    return ScoreTable(**whole | fields)


def written(folder: Path, table: ScoreTable) -> Path:
    """Write a table's file."""
    path = folder / "scores.jsonl"
    table.to_jsonl(path)
    return path


def test_columns_are_the_original_the_fresh_and_the_deep_forms() -> None:
    """Every estimator takes one of these slices."""
    table = a_table(fresh_count=1)

    assert table.original.tolist() == [1, 1, 0]
    assert table.fresh.tolist() == [[1], [0], [1]]
    assert table.deep_count == 1
    assert table.deep.tolist()[:2] == [[0], [0]]
    assert table.exchangeable.shape == (3, 2)


def test_the_estimators_take_a_table_as_it_is() -> None:
    """A missing form is NaN in the table and in the statistics alike."""
    table = a_table()
    gaps = paired_gap(table.original, table.fresh)

    assert gaps.missing_form_count == 1
    assert gaps.mean == pytest.approx((0.5 + 1 - 1) / 3)
    assert randomization_test(table.exchangeable).p_value <= 1


def test_scores_of_forms_stand_in_draw_order_with_gaps_where_none_is(tmp_path: Path) -> None:
    """Betting intervals read the draw order, so a table must not depend on the order of answers."""
    forms = bank(tmp_path, line("p2", stratum="easy"), line("p1", stratum="hard", deep=["Deep down, how many?"]))
    scores = {
        FormName("p1", FormKind.FRESH, 2): 1.0,
        FormName("p2", FormKind.ORIGINAL): 0.0,
        FormName("p1", FormKind.DEEP, 1): 1.0,
    }
    table = ScoreTable.of(forms, scores, model="m", kind=ScoreKind.CORRECT, metric="numeric")

    assert table.parent_ids == ("p2", "p1")
    assert table.strata == ("easy", "hard")
    assert table.bank_digest == forms.digest
    np.testing.assert_array_equal(table.scores, [[0, NAN, NAN, NAN], [NAN, NAN, 1, 1]])
    assert [str(name) for name in table.missing()][:2] == ["p2/fresh-1", "p2/fresh-2"]


def test_a_score_without_a_place_in_the_bank_is_named(tmp_path: Path) -> None:
    """Scores of another bank must not be dropped in silence."""
    forms = bank(tmp_path, line("p1"))
    with pytest.raises(InvalidRequestError, match="form 'p1/fresh-3' has a score and no place in the bank"):
        ScoreTable.of(
            forms, {FormName("p1", FormKind.FRESH, 3): 1.0}, model="m", kind=ScoreKind.CORRECT, metric="numeric"
        )


@given(
    scores=arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 4)), elements=st.floats(0, 1) | st.just(NAN)),
    model=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
)
def test_a_table_written_and_read_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, scores: np.ndarray[Any, np.dtype[np.float64]], model: str
) -> None:
    """Analysis reads files; every bit of a score counts, and so does every character of a name."""
    table = a_table(
        model=model,
        kind="graded",
        scores=scores,
        parent_ids=tuple(f"p{row}" for row in range(len(scores))),
        fresh_count=1,
        sources=(ScoreSource("a.eval", "00"),),
    )
    again = ScoreTable.from_jsonl(written(tmp_path_factory.mktemp("table"), table))

    assert again == table
    np.testing.assert_array_equal(again.scores, table.scores)
    assert (again.model, again.sources, again.kind) == (model, table.sources, ScoreKind.GRADED)


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "tiny@2"},
        {"state": "adapted"},
        {"metric": "exact"},
        {"kind": "graded"},
        {"fresh_count": 1},
        {"parent_ids": ("p1", "p3", "p2")},
        {"strata": ("a", "a", "b")},
        {"bank_digest": "00"},
        {"sources": (ScoreSource("a.eval", "00"),)},
        {"scores": np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]])},
    ],
)
def test_the_digest_sees_every_field(fields: dict[str, Any]) -> None:
    """It is what a report binds its numbers to."""
    assert a_table(**fields) != a_table()


def test_a_zero_has_one_sign() -> None:
    """Minus zero equals zero, and would hash apart."""
    assert a_table(scores=np.full((3, 3), -0.0)) == a_table(scores=np.zeros((3, 3)))


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    """One score, turned from wrong to right by hand."""
    path = written(tmp_path, a_table())
    path.write_text(path.read_text().replace('"fresh":[0.0,0.0]', '"fresh":[1.0,0.0]'))
    with pytest.raises(IntegrityError, match="were changed after they were written"):
        ScoreTable.from_jsonl(path)


def test_no_byte_of_a_file_can_change_unseen(tmp_path: Path) -> None:
    """Each bit of each byte, in turn; a line end or a space says nothing and was not written by us."""
    path = written(tmp_path, a_table(strata=("a", "b", "c")))
    before = path.read_bytes()
    for place in range(len(before)):
        for bit in range(8):
            after = bytearray(before)
            after[place] ^= 1 << bit
            path.write_bytes(after)
            with pytest.raises((IntegrityError, InvalidRequestError)):
                ScoreTable.from_jsonl(path)
    path.write_bytes(before.replace(b"\n", b"\r\n"))
    with pytest.raises(IntegrityError):
        ScoreTable.from_jsonl(path)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"format":"other"}', '{"id":"p1"}\n', "[" * 100_000])
def test_a_file_that_holds_no_scores_is_refused(tmp_path: Path, content: str) -> None:
    """Never a traceback, whatever is in the file."""
    (tmp_path / "x.jsonl").write_text(content)
    with pytest.raises(InvalidRequestError, match="is no file of scores"):
        ScoreTable.from_jsonl(tmp_path / "x.jsonl")


def test_scores_that_do_not_exist_say_what_makes_them(tmp_path: Path) -> None:
    """The next step stands in the message."""
    with pytest.raises(NotFoundError, match="import a log first"):
        ScoreTable.from_jsonl(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": " "}, "model is ' '"),
        ({"parent_ids": ()}, "no parent"),
        ({"parent_ids": ("p1", "p2", "p1")}, "parent 'p1' comes 2 times"),
        ({"strata": ("a",)}, "1 strata for 3 parents"),
        ({"scores": np.zeros((2, 3))}, r"have shape \(2, 3\)"),
        ({"fresh_count": 3}, "3 fresh forms in 3 columns"),
        ({"fresh_count": 0}, "0 fresh forms in 3 columns"),
        ({"scores": np.full((3, 3), 0.5)}, "form 'p1/original' has the score 0.5 .* out of range for 'correct'"),
        ({"scores": np.full((3, 3), 1.5), "kind": "graded"}, "out of range for 'graded'"),
        ({"scores": np.full((3, 3), 0.1), "kind": "confidence"}, "out of range for 'confidence'"),
        ({"scores": np.full((3, 3), -np.inf), "kind": "confidence"}, "out of range for 'confidence'"),
    ],
)
def test_a_table_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    """An accuracy in percent, or a log-probability taken for one, would pass every later step."""
    with pytest.raises(InvalidRequestError, match=message):
        a_table(**fields)


def test_parents_are_taken_in_the_order_named() -> None:
    """Exposed and untouched halves, or the parents without a near-copy, are tables of their own."""
    part = a_table(strata=("a", "b", "c")).take(["p3", "p1"])

    assert part.parent_ids == ("p3", "p1")
    assert part.strata == ("c", "a")
    np.testing.assert_array_equal(part.scores, [[0, 1, NAN], [1, 1, 0]])
    with pytest.raises(InvalidRequestError, match="parent 'p9' is not in the scores"):
        part.take(["p9"])


def test_scores_cannot_be_written_to() -> None:
    """A table that changed after its digest was taken would say something else than its name."""
    with pytest.raises(ValueError, match="read-only"):
        a_table().scores[0, 0] = 0


def test_the_file_can_be_read_without_us(tmp_path: Path) -> None:
    """A reader with any JSON library sees who scored what."""
    header, *rows = [json.loads(each) for each in written(tmp_path, a_table()).read_text().splitlines()]

    assert header["model"] == "tiny@1"
    assert rows[2] == {"id": "p3", "original": 0.0, "fresh": [1.0, None], "deep": []}
