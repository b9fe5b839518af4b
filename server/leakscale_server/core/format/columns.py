"""Columns of a table or fields of a record: what their hidden values are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from leakscale_server.core.format.grids import Amount, DateGrid, DecimalGrid, Integer, IntegerGrid, Strict

__all__ = [
    "BooleanColumn",
    "ChoiceColumn",
    "Column",
    "DateColumn",
    "DecimalColumn",
    "GivenColumn",
    "IntegerColumn",
    "JsonColumn",
    "ListColumn",
    "Name",
    "ParentColumn",
    "RecordColumn",
    "ReferenceColumn",
    "SerialColumn",
    "TextColumn",
    "TokensColumn",
    "inner_columns",
]

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
"""A word of the vocabulary's keys, or a name that stays as it is."""

Share = Annotated[Amount, Field(ge=0, le=1)]
"""A probability with at most four decimal places."""

Word = Annotated[str, Field(min_length=1, max_length=64)]
LengthMin = Annotated[int, Field(ge=0, le=64)]
LengthMax = Annotated[int, Field(ge=1, le=64)]
Length: TypeAlias = tuple[LengthMin, LengthMax]


class _Named(Strict):
    """What has a place in a row."""

    name: Name = ""
    """Left out of the item of a list, and of nothing else."""


class _Drawn(_Named):
    """What every drawn column may have."""

    null_share: Share = Decimal(0)
    """Probability of a null."""
    duplicate_share: Share = Decimal(0)
    """Probability of repeating a value from an earlier row, which makes ties."""


class SerialColumn(_Named):
    """Consecutive integers in row order."""

    generator: Literal["serial"]
    start: Integer = 1


class ChoiceColumn(_Drawn):
    """One of a list of values; near means equal to a candidate."""

    generator: Literal["choice"]
    values: Annotated[tuple[str | Integer | Amount | bool, ...], Field(min_length=1, max_length=64)]
    near_candidates: Share = Decimal(0)


class BooleanColumn(_Drawn):
    """True or false, in Python only."""

    generator: Literal["boolean"]
    true_share: Share = Decimal("0.5")


class JsonColumn(_Drawn):
    """One of a list of JSON texts of any types, in Python only; near means equal to a candidate."""

    generator: Literal["json"]
    values: Annotated[tuple[Word, ...], Field(min_length=1, max_length=64)]
    near_candidates: Share = Decimal(0)


class IntegerColumn(_Drawn, IntegerGrid):
    """Integers; near means a candidate, or one step to either side of it."""

    generator: Literal["integer"]
    near_candidates: Share = Decimal(0)


class DecimalColumn(_Drawn, DecimalGrid):
    """Decimals; near means a candidate, or one step to either side of it."""

    generator: Literal["decimal"]
    near_candidates: Share = Decimal(0)


class DateColumn(_Drawn, DateGrid):
    """Dates, as ISO strings; near means a candidate, or one step to either side of it."""

    generator: Literal["date"]
    near_candidates: Share = Decimal(0)


class TextColumn(_Drawn):
    """Letters of an alphabet; near means beginning with a candidate."""

    generator: Literal["text"]
    alphabet: Annotated[str, Field(min_length=1, max_length=64)]
    length: Length
    """Fewest and most letters, those of a candidate not counted."""
    near_candidates: Share = Decimal(0)


class TokensColumn(_Drawn):
    """Words joined by separators; near means that a word is a candidate."""

    generator: Literal["tokens"]
    words: Annotated[tuple[Word, ...], Field(min_length=1, max_length=64)]
    separators: Annotated[tuple[Word, ...], Field(min_length=1, max_length=16)] = (" ",)
    """Each gap between two words is one of them."""
    length: Length
    """Fewest and most words."""
    near_candidates: Share = Decimal(0)


class ReferenceColumn(_Drawn):
    """Values of a column of an earlier table: a foreign key."""

    generator: Literal["reference"]
    table: Name
    column: Name


class ParentColumn(_Named):
    """A serial column's value in an earlier row of the same table, or null: a hierarchy without cycles."""

    generator: Literal["parent"]
    column: Name
    null_share: Share = Decimal(0)
    """Probability of a root; the first row is always one."""
    reach: Annotated[int, Field(ge=1, le=200)] = 200
    """How many rows back a parent may lie; few make a deep hierarchy."""


class GivenColumn(_Named):
    """Values that stand in the explicit fixtures of a shape."""

    generator: Literal["given"]
    type: Literal["integer", "decimal", "text", "boolean", "json"]
    nullable: bool = False
    """Whether a value may be null."""


class ListColumn(_Drawn):
    """A list of values of one generator, in Python only."""

    generator: Literal["list"]
    item: Column
    length: Length
    """Fewest and most items."""


class RecordColumn(_Drawn):
    """A dictionary of named values, in Python only."""

    generator: Literal["record"]
    fields: Annotated[tuple[Column, ...], Field(min_length=1, max_length=12)]


Column = Annotated[
    SerialColumn
    | ChoiceColumn
    | BooleanColumn
    | JsonColumn
    | IntegerColumn
    | DecimalColumn
    | DateColumn
    | TextColumn
    | TokensColumn
    | ReferenceColumn
    | ParentColumn
    | GivenColumn
    | ListColumn
    | RecordColumn,
    Field(discriminator="generator"),
]

ListColumn.model_rebuild()
RecordColumn.model_rebuild()


def inner_columns(column: Column) -> Iterator[tuple[tuple[str | int, ...], Column]]:
    """Yield what a column is made of, each with its path inside the column."""
    match column:
        case ListColumn(item=item):
            yield ("item",), item
        case RecordColumn(fields=fields):
            yield from ((("fields", place), field) for place, field in enumerate(fields))
