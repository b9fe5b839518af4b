"""The shape file as types: one program structure, read as data and never executed by the server.

`docs/catalog-format.md` describes the same fields for authors. What one field alone can tell is checked here; what
takes two fields to tell is in `checks`.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from leakscale.models import Domain, Ring
from leakscale_server.core.format.candidates import Candidates
from leakscale_server.core.format.columns import Column, Name
from leakscale_server.core.format.grids import Strict

__all__ = [
    "FIXTURE_COUNTS",
    "NO_ROWS",
    "RESERVED_SLOT",
    "GivenFixture",
    "Records",
    "Result",
    "RingText",
    "Rings",
    "Shape",
    "Table",
    "looks_like_path",
    "names_file",
]

FIXTURE_COUNTS = {Domain.SQL: 8, Domain.PYTHON: 16}
"""Hidden fixtures of a family. Source: LeakScale C.2 (SQL) and C.3 (Python)."""

RESERVED_SLOT = "policy"
"""The placeholder of the masked value; no vocabulary word may have this slot."""

FILE_NAME_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}\.(sql|csv|json)"
"""A file beside the shape file. No text of a fixture looks like one: all of them end otherwise."""

_FILE_PATH: Final = re.compile(r"[^\n;(){}\[\]\"']*\.(sql|csv|json)\s*", re.IGNORECASE)
_BARE_PATH: Final = re.compile(r"[A-Za-z_.~/\\][^\s,;(){}\[\]\"']*")
"""A word that begins as no number of JSON does."""

RowCount = Annotated[int, Field(ge=1, le=200)]
Rows = tuple[RowCount, RowCount]
NO_ROWS: Final = (0, 0)
"""Row counts that were left out."""
Columns = Annotated[tuple[Column, ...], Field(min_length=1, max_length=12)]
GivenText = Annotated[str, Field(min_length=1)]
FileName = Annotated[str, Field(pattern=rf"^{FILE_NAME_PATTERN}$")]
ProgramText = Annotated[str, Field(min_length=1, max_length=4000)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=400)]


def names_file(text: str) -> bool:
    """Return whether a text of a fixture is the name of a file that holds it."""
    return re.fullmatch(FILE_NAME_PATTERN, text) is not None


def looks_like_path(text: str) -> bool:
    """Return whether a text of a fixture is the name of a file, or was most likely meant to be the way to one.

    No script, CSV or JSON text that could be read is one line of this kind.
    """
    return _FILE_PATH.fullmatch(text) is not None or (
        _BARE_PATH.fullmatch(text) is not None and not {".", "/", "\\"}.isdisjoint(text)
    )


class Table(Strict):
    """A table of the hidden databases."""

    name: Name
    rows: Rows = NO_ROWS
    """Fewest and most rows of a fixture; left out where fixtures are given."""
    columns: Columns


class Records(Strict):
    """The list of records that a Python program gets as its argument."""

    rows: Rows = NO_ROWS
    """Fewest and most records of a fixture; left out where fixtures are given."""
    fields: Columns


class GivenFixture(Strict):
    """An explicit hidden input: one of three kinds of text, or the name of a file that holds it."""

    sql: GivenText | None = None
    """INSERT statements with literal values, as the `.dump` of a database has them."""
    csv: dict[Name, GivenText] | None = None
    """A text with a header for each table; `records` is the one of a Python shape."""
    json_text: Annotated[GivenText | None, Field(alias="json")] = None
    """Rows by table, or the list of records."""
    outputs: tuple[GivenText, GivenText, GivenText, GivenText] | None = None
    """JSON of what each candidate's program must return, in the order of a pool of four; rows as arrays in SQL."""


class RingText(Strict):
    """One wording of the task and the program that belongs to it."""

    task: Line
    """What the program must do, with the policy value left open."""
    program: ProgramText | None = None
    """The program, with `{{policy}}` where the candidate's literal goes, once."""
    programs: tuple[ProgramText, ProgramText, ProgramText, ProgramText] | None = None
    """In place of `program`: a whole one for each value of a pool of four, in the order of the pool."""

    @property
    def templates(self) -> tuple[str, ...]:
        """Return the one masked program, or the four whole ones."""
        return self.programs or (self.program or "",)


class Rings(Strict):
    """The forms in which a family is asked, as far as they are written: R2 is R0 with other words."""

    R0: RingText
    R1: RingText
    """The same task in another wording, and another program that returns the same."""

    def text(self, ring: Ring) -> RingText:
        """Return the task and program of a ring."""
        return self.R1 if ring is Ring.R1 else self.R0


class Result(Strict):
    """What the rows of an SQL program look like."""

    columns: Annotated[tuple[Name, ...], Field(min_length=1, max_length=16)]
    order: Literal["ordered", "bag"]
    """Whether the order of the rows counts."""


class Shape(Strict):
    """One program structure, from which families are built."""

    format: Annotated[int, Field(ge=1, le=1)]
    id: Annotated[str, Field(pattern=r"^(sql|python)-[a-z0-9]+(-[a-z0-9]+)*$", max_length=48)]
    domain: Literal["sql", "python"]
    title: Line
    candidates: Candidates
    vocabulary: Annotated[
        dict[Name, Annotated[tuple[Name, ...], Field(min_length=2, max_length=32)]], Field(min_length=1, max_length=16)
    ]
    """Words for each slot; a family uses one of each in R0 and R1 and another one in R2, drawn by the public seed."""
    tables: Annotated[tuple[Table, ...], Field(max_length=4)] = ()
    records: Records | None = None
    fixtures: Annotated[tuple[GivenFixture, ...], Field(max_length=16)] = ()
    """In place of generators: every hidden input."""
    files: dict[FileName, str] = Field(default={})
    """Texts of the files that fixtures name; the client reads them beside the shape file and adds them."""
    rings: Rings
    result: Result | None = None

    @property
    def language(self) -> Domain:
        """Return the domain as the SDK's enumeration."""
        return Domain(self.domain)

    @property
    def fixture_count(self) -> int:
        """Return the number of hidden fixtures of a family."""
        return FIXTURE_COUNTS[self.language]

    def given_text(self, text: str) -> str:
        """Return the text of a fixture or an output: itself, or that of the file which it names."""
        return self.files.get(text, "") if names_file(text) else text

    @property
    def is_ordered(self) -> bool:
        """Return whether the order of the result's rows counts; always in Python."""
        return self.result is None or self.result.order == "ordered"
