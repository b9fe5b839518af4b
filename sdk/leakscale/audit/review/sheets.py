"""The sheet of a review: the forms that nobody decided on, in a table that a spreadsheet program fills in.

Whoever reads two hundred forms does it in a spreadsheet, and spreadsheets differ in how they save: with commas,
semicolons or tabs, in UTF-8 with a mark, or in UTF-16. What cannot be read for sure is refused; a sheet that holds
decisions which nobody logged is never overwritten.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from leakscale.audit.review.decisions import Decision, Verdict
from leakscale.audit.review.queue import ReviewItem
from leakscale.csv_text import csv_text, text_of
from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.whole_files import write_whole

__all__ = ["has_unlogged", "read_sheet", "write_sheet"]

_COLUMNS: Final = ("form", "verdict", "note")
_DELIMITERS: Final = ",;\t"


def read_sheet(path: Path) -> dict[str, tuple[Verdict, str]]:
    """Read verdicts and notes from a filled-in review sheet; rows without a verdict are left out.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is no table, lacks a column, or a row has another verdict or a form that came before.
    """
    if not path.is_file():
        raise NotFoundError(f"sheet '{path}' does not exist; `leakscale audit review` writes one")
    found: dict[str, tuple[Verdict, str]] = {}
    for number, row in _rows(path):
        word = row["verdict"].strip().lower()
        if not word:
            continue
        if word not in list(Verdict):
            raise InvalidRequestError(
                f"sheet '{path}', row {number}: verdict {row['verdict']!r}; write accept or reject"
            )
        form = text_of(row["form"])
        if form in found:
            raise InvalidRequestError(f"sheet '{path}', row {number}: form '{form}' comes twice; keep one")
        found[form] = (Verdict(word), text_of(row["note"]))
    return found


def has_unlogged(path: Path, standing: Mapping[str, Decision]) -> bool:
    """Tell whether a sheet holds a verdict that does not stand in the log, or anything that cannot be read."""
    try:
        verdicts = read_sheet(path)
    except NotFoundError:
        return False
    except InvalidRequestError:
        return True
    logged = {form: (decision.verdict, decision.note) for form, decision in standing.items()}
    return any(logged.get(form) != (verdict, note.strip()) for form, (verdict, note) in verdicts.items())


def write_sheet(path: Path, items: Sequence[ReviewItem], standing: Mapping[str, Decision]) -> None:
    """Write the forms that are not decided yet, riskiest first, with columns for verdict and note."""
    rows = [
        (str(item.name), "", "", item.bank, f"{item.risk:.2f}", "; ".join(item.reasons))
        for item in items
        if str(item.name) not in standing
    ]
    write_whole(path, csv_text([(*_COLUMNS, "bank", "risk", "reasons"), *rows]).encode())


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    text = _text(path)
    first, *_ = text.splitlines() or [""]
    delimiter = max(_DELIMITERS, key=first.count)
    rows = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        if missing := [column for column in _COLUMNS if column not in (rows.fieldnames or ())]:
            raise InvalidRequestError(
                f"sheet '{path}': column '{missing[0]}' is missing; keep the first line, and save as CSV"
            )
        for number, row in enumerate(rows, start=2):
            if None in row or None in row.values():
                raise InvalidRequestError(
                    f"sheet '{path}', row {number}: has another number of cells than the first line; save it as CSV"
                )
            yield number, row
    except csv.Error as error:
        raise InvalidRequestError(f"sheet '{path}', line {rows.line_num}: no CSV: {error}; save it again") from error


def _text(path: Path) -> str:
    content = path.read_bytes()
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequestError(
            f"sheet '{path}': byte {error.start} is not UTF-8; save it as CSV in UTF-8"
        ) from error
