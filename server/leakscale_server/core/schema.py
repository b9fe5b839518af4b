"""The shape file as types: one program structure, read as data and never executed by the server.

`docs/catalog-format.md` describes the same fields for authors. What one field alone can tell is checked here; what
takes two fields to tell is in `checks`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from leakscale.models import Domain, Ring
from leakscale_server.core.candidates import Candidates
from leakscale_server.core.columns import Column, Name
from leakscale_server.core.grids import Strict

__all__ = ["FIXTURE_COUNTS", "RESERVED_SLOT", "Records", "Result", "RingText", "Rings", "Shape", "Table"]

FIXTURE_COUNTS = {Domain.SQL: 8, Domain.PYTHON: 16}
"""Hidden fixtures of a family. Source: LeakScale C.2 (SQL) and C.3 (Python)."""

RESERVED_SLOT = "policy"
"""The placeholder of the masked value; no vocabulary word may have this slot."""

RowCount = Annotated[int, Field(ge=1, le=200)]
Rows = tuple[RowCount, RowCount]
Columns = Annotated[tuple[Column, ...], Field(min_length=1, max_length=12)]
ProgramText = Annotated[str, Field(min_length=1, max_length=4000)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=400)]


class Table(Strict):
    """A table of the hidden databases."""

    name: Name
    rows: Rows
    """Fewest and most rows of a fixture."""
    columns: Columns


class Records(Strict):
    """The list of records that a Python program gets as its argument."""

    rows: Rows
    fields: Columns


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

    @property
    def is_ordered(self) -> bool:
        """Return whether the order of the result's rows counts; always in Python."""
        return self.result is None or self.result.order == "ordered"
