"""Scores in CSV and Parquet, from tools nobody here has heard of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.audit.builders import bank, line
from tests.audit.log_builders import FORMS, a_csv, rows_of

from leakscale.audit.importers import ImportOptions, LogPaths, Selection, import_scores
from leakscale.audit.scores import ScoreKind
from leakscale.errors import InvalidRequestError

RIGHT = Selection("right", form_key="form")


def together(folder: Path, *rows: dict[str, Any]) -> LogPaths:
    """Write one table of all forms."""
    return LogPaths(together=(a_csv(folder, *rows),))


def test_a_table_with_a_row_an_answer(tmp_path: Path) -> None:
    """Every tool can write one."""
    rows = rows_of("p1") + rows_of("p2", right="no")
    table = import_scores(together(tmp_path, *rows), RIGHT).table

    assert table.scores.tolist() == [[1, 1, 1], [0, 0, 0]]
    assert table.model == "m@1"


def test_a_table_with_a_row_a_parent(tmp_path: Path) -> None:
    """Spreadsheets look like this. Nothing is known of prompts, so that has to be said."""
    rows = [{"id": "p1", "original": 1, "fresh-1": 0, "fresh-2": "", "model": "m"}]
    options = ImportOptions(is_missing_allowed=True, are_prompts_trusted=True)
    table = import_scores(together(tmp_path, *rows), Selection("by hand"), options=options).table

    np.testing.assert_array_equal(table.scores, [[1, 0, np.nan]])
    with pytest.raises(InvalidRequestError, match=r"form 'p1/fresh-2' failed \(no score\)"):
        import_scores(together(tmp_path, *rows), Selection("by hand"))


def test_a_table_a_form(tmp_path: Path) -> None:
    """As with logs: one file a form, ids as keys."""
    rows = rows_of("p1")
    paths = [a_csv(tmp_path, row, name=f"{form}.csv") for form, row in zip(FORMS, rows, strict=True)]

    assert import_scores(LogPaths(paths[0], tuple(paths[1:])), Selection("right")).table.scores.tolist() == [[1, 1, 1]]


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    """Numbers are numbers there, and a missing one is null."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = rows_of("p1", right=0.25) + rows_of("p2", right=True)
    pq.write_table(
        pa.Table.from_pylist([{**row, "right": float(row["right"])} for row in rows]), tmp_path / "s.parquet"
    )
    paths = LogPaths(together=(tmp_path / "s.parquet",))

    assert import_scores(paths, RIGHT, kind=ScoreKind.GRADED).table.scores.tolist() == [[0.25] * 3, [1] * 3]


@given(scores=st.lists(st.tuples(*[st.sampled_from([0, 1])] * 3), min_size=1, max_size=8), data=st.data())
def test_rows_may_stand_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, scores: list[tuple[int, ...]], data: st.DataObject
) -> None:
    """With a bank, the draw order is the bank's, however a tool sorted its answers."""
    folder = tmp_path_factory.mktemp("table")
    forms = bank(folder, *(line(f"p{number}") for number in range(len(scores))))
    rows = [
        row | {"right": score, "text": form.text, "prompt": f"Q: {form.text}"}
        for parent, given_scores in zip(forms.parents, scores, strict=True)
        for row, score, (_, form) in zip(rows_of(parent.parent_id), given_scores, parent.forms(), strict=True)
    ]
    table = import_scores(together(folder, *data.draw(st.permutations(rows))), RIGHT, bank=forms).table

    assert table.scores.tolist() == [list(each) for each in scores]
    assert table.parent_ids == tuple(parent.parent_id for parent in forms.parents)


def test_answers_outside_the_bank_are_counted_and_not_used(tmp_path: Path) -> None:
    """A log of the whole benchmark serves an audit of a sample."""
    forms = bank(tmp_path, line("p1"))
    rows = [
        row | {"text": form.text, "prompt": form.text}
        for row, (_, form) in zip(rows_of("p1"), forms.parents[0].forms(), strict=True)
    ]
    imported = import_scores(together(tmp_path, *rows, *rows_of("p2")[:1]), RIGHT, bank=forms)

    assert imported.table.parent_ids == ("p1",)
    assert imported.unused_count == 1
    assert imported.notes() == ["1 answers are to items outside the sample and were not used"]


def test_more_forms_than_the_bank_has_are_refused(tmp_path: Path) -> None:
    """The third form of somebody's log was never checked."""
    forms = bank(tmp_path, line("p1", fresh=["Ana, 3 boxes of 12, gives 5 away: how many?"]))
    with pytest.raises(InvalidRequestError, match="form fresh-2 has a log, and the bank has 1 fresh forms"):
        import_scores(together(tmp_path, *rows_of("p1")), RIGHT, bank=forms)


def test_an_answer_to_a_form_that_was_never_written_is_refused(tmp_path: Path) -> None:
    """It is an answer to something else."""
    forms = bank(tmp_path, line("p1", fresh=["Ana, 3 boxes of 12, gives 5 away: how many?", None]))
    rows = [
        row | {"prompt": form.text} for row, (_, form) in zip(rows_of("p1"), forms.parents[0].forms(), strict=False)
    ]
    with pytest.raises(InvalidRequestError, match="answers form 'p1/fresh-2', which is not written in the bank"):
        import_scores(together(tmp_path, *rows, rows_of("p1")[2]), RIGHT, bank=forms)


def test_deep_paraphrases_have_columns_of_their_own(tmp_path: Path) -> None:
    """They are never averaged with fresh forms."""
    rows = [*rows_of("p1"), rows_of("p1", right=0, form="deep-1")[0] | {"text": "d", "prompt": "Q: d\nA:"}]
    table = import_scores(together(tmp_path, *rows), RIGHT).table

    assert (table.fresh_count, table.deep_count) == (2, 1)
    assert table.deep.tolist() == [[0]]


def test_forms_are_answered_equally_often(tmp_path: Path) -> None:
    """A mean of two answers is compared with a mean of two."""
    rows = rows_of("p1", epoch=1) + rows_of("p1", epoch=2)[:2]
    with pytest.raises(InvalidRequestError, match="form 'p1/fresh-2' is answered 1 times and its original 2 times"):
        import_scores(together(tmp_path, *rows), RIGHT, kind=ScoreKind.GRADED)


def test_a_form_with_a_failed_epoch_has_no_score(tmp_path: Path) -> None:
    """The mean of the epochs that worked is the mean of the easy ones."""
    rows = rows_of("p1", epoch=1) + rows_of("p1", epoch=2)
    rows[4]["status"] = "error"
    options = ImportOptions(is_missing_allowed=True)
    table = import_scores(together(tmp_path, *rows), RIGHT, kind=ScoreKind.GRADED, options=options).table

    np.testing.assert_array_equal(table.scores, [[1, np.nan, 1]])


def _with(row: int, **fields: Any) -> list[dict[str, Any]]:
    rows = rows_of("p1") + rows_of("p2")
    rows[row] |= fields
    return rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (_with(1, status="error"), r"form 'p1/fresh-1' failed \(status error\)"),
        (_with(1, right="maybe"), "row 2 is 'maybe', which is no score"),
        (_with(1, right=87.5), "form 'p1/fresh-1' has the score 87.5"),
        (_with(1, form="third"), "key 'p1/third' names no form"),
        (_with(1, form="fresh-3"), r"form 'p1/fresh-1' is missing \(1 of 2 are\)"),
        (_with(1, form="fresh-2"), "form 'p1/fresh-2' is answered twice"),
        (rows_of(epoch=1) + rows_of(epoch=2)[:1], "form 'p1/original' is answered 2 times; pass --kind graded"),
        (_with(1, template="Q: {}"), "template' is 'Q: {}\\nA:' for form 'p2/fresh-1' and 'Q: {}' before"),
        (_with(1, prompt="Q: p1 as fresh-1\nThink. A:"), "the prompt of form 'p1/fresh-1' reads"),
        (_with(1, prompt="Q?"), "the prompt of form 'p1/fresh-1' does not hold its words 'p1 as fresh-1'"),
        (_with(1, prompt=""), "holds no prompt of form 'p1/fresh-1'"),
        (_with(1, text=""), "holds no text of form 'p1/fresh-1'"),
        ([row for row in rows_of() if row["form"] != "original"], "form original has no log"),
        ([row for row in rows_of() if row["form"] == "original"], "form fresh-1 has no log"),
        ([row for row in rows_of() if row["form"] != "fresh-1"], "form fresh-1 has no log, and fresh-2 has one"),
        (rows_of(model=""), "names no model, or several"),
        ([{**row, "fewshot_count": n} for n, row in enumerate(rows_of())], "few-shot-count: 'fewshot_count' is \"1\""),
        (
            [{**row, "model": f"m{n}"} for n, row in enumerate(rows_of())],
            'model: \'model\' is "m1" here and "m0" there',
        ),
        ([{"form": "original", "right": 1}], "has no field 'id'"),
        ([{"id": "p1", "form": "original"}], "has no column 'right'"),
        ([{"id": "p1", "form": "original", "right": 1, "epoch": "x"}], "epoch is 'x'"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    """Row, form and rule stand in the message: a table is mended by hand."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with pytest.raises(InvalidRequestError) as caught:
        import_scores(together(tmp_path, *({name: row.get(name, "") for name in names} for row in rows)), RIGHT)
    assert caught.match(message) if "\\(" in message else message in str(caught.value).replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "has no row"),
        ("a.csv", b"id,right\n", "has no row"),
        ("a.csv", b"id,right\np1\n", "row 1: it has not 2 fields"),
        ("a.csv", b"id,right\np1,1,2\n", "row 1: it has not 2 fields"),
        ("a.csv", b"id,id\np1,1\n", "column 'id' comes twice"),
        ("a.csv", b"id,right\n\xff,1\n", "is no CSV in UTF-8"),
        ("a.csv", b'id,right\n"p1,1\n', "is no CSV in UTF-8"),
        ("a.parquet", b"PAR1", "is no Parquet file"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """Never a traceback, whatever is in the file."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidRequestError, match=message):
        import_scores(LogPaths(tmp_path / name, (tmp_path / name,)), Selection("right"))


def test_a_log_passed_as_two_forms_is_refused(tmp_path: Path) -> None:
    """Original and fresh form would have no gap by construction."""
    path = a_csv(tmp_path, rows_of("p1")[0])
    with pytest.raises(InvalidRequestError, match="is passed as form original and as form fresh-1"):
        import_scores(LogPaths(path, (path,)), Selection("right"))


def test_a_form_asked_again_is_no_other_form(tmp_path: Path) -> None:
    """Two runs of the public benchmark are two files with the same words."""
    first = a_csv(tmp_path, rows_of("p1")[0], name="first.csv")
    second = a_csv(tmp_path, rows_of("p1", right=0)[0], name="second.csv")
    with pytest.raises(InvalidRequestError, match="form 'p1/fresh-1' has the very words of form original"):
        import_scores(LogPaths(first, (second,)), Selection("right"))
