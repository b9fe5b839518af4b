"""Columns of a table or fields of a record, and how their hidden values are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from leakscale_server.core.grids import Amount, DateGrid, DecimalGrid, Integer, IntegerGrid, Strict
from leakscale_server.core.literals import Value
from leakscale_server.core.streams import Stream

__all__ = ["Cell", "Column", "Name", "ReferenceColumn", "cell_type", "draw_column"]

Cell = Value | bool | None
"""One drawn value of a row."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
"""A word of the vocabulary's keys, or a name that stays as it is."""

Share = Annotated[Amount, Field(ge=0, le=1)]
"""A probability with at most four decimal places."""


class _Column(Strict):
    """What every column may have."""

    name: Name
    null_share: Share = Decimal(0)
    """Probability of a null."""
    duplicate_share: Share = Decimal(0)
    """Probability of repeating a value from an earlier row, which makes ties."""


class SerialColumn(Strict):
    """Consecutive integers in row order."""

    generator: Literal["serial"]
    name: Name
    start: Integer = 1


class ChoiceColumn(_Column):
    """One of a list of values; near means equal to a candidate."""

    generator: Literal["choice"]
    values: Annotated[tuple[str | Integer | Amount | bool, ...], Field(min_length=1, max_length=64)]
    near_candidates: Share = Decimal(0)


class IntegerColumn(_Column, IntegerGrid):
    """Integers; near means a candidate, or one step to either side of it."""

    generator: Literal["integer"]
    near_candidates: Share = Decimal(0)


class DecimalColumn(_Column, DecimalGrid):
    """Decimals; near means a candidate, or one step to either side of it."""

    generator: Literal["decimal"]
    near_candidates: Share = Decimal(0)


class DateColumn(_Column, DateGrid):
    """Dates, as ISO strings; near means a candidate, or one step to either side of it."""

    generator: Literal["date"]
    near_candidates: Share = Decimal(0)


class TextColumn(_Column):
    """Letters of an alphabet; near means beginning with a candidate."""

    generator: Literal["text"]
    alphabet: Annotated[str, Field(min_length=1, max_length=64)]
    length: Annotated[tuple[Annotated[int, Field(ge=0, le=64)], Annotated[int, Field(ge=1, le=64)]], Field()]
    """Fewest and most letters, those of a candidate not counted."""
    near_candidates: Share = Decimal(0)


class ReferenceColumn(_Column):
    """Values of a column of an earlier table: a foreign key."""

    generator: Literal["reference"]
    table: Name
    column: Name


Column = Annotated[
    SerialColumn | ChoiceColumn | IntegerColumn | DecimalColumn | DateColumn | TextColumn | ReferenceColumn,
    Field(discriminator="generator"),
]

_NEAR_OFFSETS = (-1, 0, 1)
_TYPES: Mapping[type, str] = {bool: "bool", int: "int", Decimal: "float", str: "str", date: "str"}


def cell_type(column: Column, *, parent: Column | None = None) -> str:
    """Return the Python type of a column's values: `int`, `float`, `str` or `bool`.

    Args:
        column: Any column.
        parent: The column that a reference takes its values from.
    """
    match column:
        case SerialColumn() | IntegerColumn():
            return "int"
        case DecimalColumn():
            return "float"
        case DateColumn() | TextColumn():
            return "str"
        case ChoiceColumn():
            return _TYPES[type(column.values[0])]
        case ReferenceColumn():
            return "int" if parent is None else cell_type(parent)


def draw_column(
    column: Column, row_count: int, *, candidates: Sequence[Value], parent: Sequence[Cell], stream: Stream
) -> list[Cell]:
    """Draw the values of one column for every row of a fixture.

    Args:
        column: What to draw.
        row_count: Rows of the table in this fixture.
        candidates: The family's four values, which `near_candidates` aims at, right and wrong ones alike.
        parent: Values of the column that a reference points to; empty otherwise.
        stream: Bytes for this column of this fixture alone.
    """
    if isinstance(column, SerialColumn):
        return list(range(column.start, column.start + row_count))
    draw = _drawer(column, candidates=candidates, parent=parent, stream=stream)
    nulls, duplicates = _per_myriad(column.null_share), _per_myriad(column.duplicate_share)
    cells: list[Cell] = []
    for _ in range(row_count):
        if nulls and stream.chance(nulls):
            cells.append(None)
        elif duplicates and cells and stream.chance(duplicates):
            cells.append(stream.choice(cells))
        else:
            cells.append(draw())
    return cells


def _drawer(
    column: Column, *, candidates: Sequence[Value], parent: Sequence[Cell], stream: Stream
) -> Callable[[], Cell]:
    """Return a function that draws one value of the column."""
    match column:
        case ReferenceColumn():
            return lambda: stream.choice(parent)
        case ChoiceColumn():
            near = _per_myriad(column.near_candidates)
            return lambda: stream.choice(candidates) if near and stream.chance(near) else stream.choice(column.values)
        case TextColumn():
            return lambda: _draw_text(column, candidates, stream)
        case IntegerColumn() | DecimalColumn() | DateColumn():
            return lambda: _draw_on_grid(column, candidates, stream)
    raise AssertionError(f"no drawer for {column.generator}")


def _draw_on_grid(
    column: IntegerColumn | DecimalColumn | DateColumn, candidates: Sequence[Value], stream: Stream
) -> Value:
    near = _per_myriad(column.near_candidates)
    if near and stream.chance(near):
        return column.near(stream.choice(candidates), stream.choice(_NEAR_OFFSETS))
    return column.at(stream.below(column.count))


def _draw_text(column: TextColumn, candidates: Sequence[Value], stream: Stream) -> str:
    near = _per_myriad(column.near_candidates)
    head = str(stream.choice(candidates)) if near and stream.chance(near) else ""
    return head + "".join(stream.choice(column.alphabet) for _ in range(stream.between(*column.length)))


def _per_myriad(share: Decimal) -> int:
    return int(share * 10_000)
