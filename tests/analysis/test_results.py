"""Results as columns and in files: what is read back, and what is refused by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from tests.analysis.cases import a_plan, a_small_experiment, a_table, rows_of

from leakscale.analysis import ResultTable, analyze_results, read_results, write_results
from leakscale.errors import InvalidRequestError, LeakScaleError, NotFoundError, PreconditionError


def a_line(**fields: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "domain": "sql",
        "shape": "a",
        "condition": "C0",
        "family": "f",
        "ring": "R0",
        "state": "base",
        "truth_rank": 0,
        "display_position": 0,
        "draw": 0,
        "correct": 1,
        "valid": 1,
        **fields,
    }


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_files_give_back_what_was_written(suffix: str, tmp_path: Path) -> None:
    """Two formats, one experiment: no number may depend on how it was stored."""
    table = a_small_experiment(with_probabilities=True).table

    write_results(table, tmp_path / f"results.{suffix}")
    found = read_results(tmp_path / f"results.{suffix}")

    assert analyze_results(found, a_plan()).to_dict() == analyze_results(table, a_plan()).to_dict()
    assert found.family.texts == table.family.texts


def test_pandas_opens_the_file_and_its_file_is_read(tmp_path: Path) -> None:
    """People bring results of their own, from the tool that they have."""
    pandas = pytest.importorskip("pandas")
    write_results(a_table(), tmp_path / "ours.parquet")

    frame = pandas.read_parquet(tmp_path / "ours.parquet").astype({"family": "str", "correct": "bool"})
    frame["of their own"] = 1
    frame.to_parquet(tmp_path / "theirs.parquet")

    found = read_results(tmp_path / "theirs.parquet")
    assert found.correct.tolist() == a_table().correct.tolist()
    assert found.family.texts == a_table().family.texts


def test_one_line_a_draw_is_enough(tmp_path: Path) -> None:
    """`draw_count`, `strength` and `probability` are for those who need them."""
    found = read_results(written(tmp_path, a_line(), a_line(draw=1, correct=0)))

    assert found.draw_count.tolist() == [1, 1]
    assert found.strength is None
    assert found.probability is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"domain": "ruby"}, "domain 'ruby' is not one of sql, python"),
        ({"condition": "C1"}, "condition 'C1' is not one of C0, C2"),
        ({"truth_rank": 4}, "truth_rank of row 1 is 4, outside 0 to 3"),
        ({"correct": 2}, "correct of row 1 is 2, outside 0 to 1"),
        ({"correct": 1, "valid": 0}, "correct of row 1 is 1, more than the valid draws of its row"),
        ({"correct": -1}, "correct of row 1 is -1"),
        ({"correct": 0.5}, "column correct is of type double; write it as whole numbers"),
        ({"family": 7}, "cannot be read"),
        ({"family": None}, "1 rows have no family"),
        ({"draw": None}, "1 rows have no draw"),
    ],
)
def test_bad_value_is_named_with_its_row(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    """In a quarter of a million rows nobody finds it otherwise."""
    path = written(tmp_path, a_line(), a_line(draw=1) | fields)

    with pytest.raises(InvalidRequestError, match=message):
        read_results(path)


def test_missing_column_is_named(tmp_path: Path) -> None:
    """The list of columns is in the documentation; the message says which one to write."""
    line = a_line()
    del line["ring"]

    with pytest.raises(InvalidRequestError, match="no column 'ring'"):
        read_results(written(tmp_path, line))


def test_probability_that_is_none_is_refused() -> None:
    """NaN compares as neither too small nor too large."""
    with pytest.raises(InvalidRequestError, match="probability of row 2 is nan"):
        a_table(probability=[0.5, 0.5, float("nan")] + [0.5] * 5)


@pytest.mark.parametrize("name", ["results.csv", "results"])
def test_other_kinds_of_files_are_refused(name: str, tmp_path: Path) -> None:
    """CSV has no types, so `C0` and `1` and `true` would be guesses."""
    with pytest.raises(InvalidRequestError, match=r"use \.parquet or \.jsonl"):
        read_results(tmp_path / name)


def test_missing_and_damaged_files_are_told_apart(tmp_path: Path) -> None:
    """One is a wrong path, the other a broken file."""
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")

    with pytest.raises(NotFoundError, match="do not exist"):
        read_results(tmp_path / "none.parquet")
    with pytest.raises(InvalidRequestError, match="cannot be read"):
        read_results(tmp_path / "broken.parquet")


def test_without_pyarrow_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(PreconditionError, match=r"leakscale\[analysis\]"):
        read_results(tmp_path / "results.parquet")


def test_table_without_rows_is_refused() -> None:
    """An effect of nothing is undefined, not zero."""
    with pytest.raises(InvalidRequestError, match="there is no row"):
        rows_of(a_table(), np.array([], np.int64))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (rows_of(a_table(), np.array([0, *range(8)])), "draw 0 of family 'a0' in state base occurs twice"),
        (rows_of(a_table(), np.arange(7)), "family 'b2' .* has 0 of 1 results in state adapted"),
        (a_table(shape=["a"] * 7 + ["b"]), "family 'b2' has two values of shape"),
        (a_table(truth_rank=[0] * 7 + [1]), "family 'b2' has two values of truth_rank"),
        (rows_of(a_table(), np.arange(4)), "no adapted state"),
        (rows_of(a_table(), np.array([0, 2, 4, 6])), "has no family of C2"),
        (a_table(strength=[1.0] * 8), "state base has a strength"),
        (a_table(ring=["R1"] * 8), "nothing in ring R0"),
    ],
)
def test_incomplete_or_contradicting_rows_are_refused_by_name(table: ResultTable, message: str) -> None:
    """An experiment is analyzed when every case has its one result, and no family is two things."""
    with pytest.raises(LeakScaleError, match=message):
        analyze_results(table, a_plan())


def test_a_table_of_something_else_is_refused_by_the_column_that_it_lacks(tmp_path: Path) -> None:
    """Also where it is a column of text, which is read in a way of its own."""
    parquet.write_table(pyarrow.table({"x": [1]}), tmp_path / "other.parquet")

    with pytest.raises(InvalidRequestError, match="have no column 'model'"):
        read_results(tmp_path / "other.parquet")
