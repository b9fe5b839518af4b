"""CSV that is data wherever it is opened: no cell of text is a formula to a spreadsheet.

A spreadsheet computes a cell that begins with `=`, `+`, `-` or `@`, and a formula may send what stands beside it to an
address. Labels, sources and reasons are other people's words, so an apostrophe goes before such a text, as OWASP
advises (CSV injection); quotes of CSV itself guard against nothing. Numbers stay as they are, and `text_of` takes the
apostrophe off again, of every text and of no other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

__all__ = ["csv_text", "text_of"]

_GUARD: Final = "'"
_LINE_END: Final = "\r\n"
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV with a line feed after each; the first one are the names of the columns."""
    return "".join(f"{_line(row)}\n" for row in rows)


def text_of(cell: str) -> str:
    """Return the text that a cell was made of."""
    return cell[1:] if cell.startswith(_GUARD) and _begins_a_formula(cell) else cell


def _line(row: Sequence[Any]) -> str:
    text = io.StringIO()
    # It quotes a carriage return only where its own lines end in one.
    csv.writer(text, lineterminator=_LINE_END).writerow([_cell(value) for value in row])
    return text.getvalue().removesuffix(_LINE_END)


def _cell(value: Any) -> Any:
    return f"{_GUARD}{value}" if isinstance(value, str) and _begins_a_formula(value) else value


def _begins_a_formula(text: str) -> bool:
    """Tell whether a text begins a formula, under guards or not: one that had a guard of its own gets another."""
    bare = text.lstrip(_GUARD)
    return bare.startswith(_FORMULA_STARTS) and not (bare == text and _is_number(text))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
