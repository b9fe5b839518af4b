"""Draw the hidden values of columns and fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

from leakscale_server.core.format.columns import (
    BooleanColumn,
    ChoiceColumn,
    Column,
    DateColumn,
    DecimalColumn,
    GivenColumn,
    IntegerColumn,
    JsonColumn,
    ListColumn,
    ParentColumn,
    RecordColumn,
    ReferenceColumn,
    SerialColumn,
    TextColumn,
    TokensColumn,
)
from leakscale_server.core.literals import Value
from leakscale_server.core.streams import Stream

__all__ = ["Cell", "draw_column"]

Cell: TypeAlias = Value | float | list[Any] | dict[str, Any]
"""One drawn value of a row; lists and records hold cells."""

_NEAR_OFFSETS: Final = (-1, 0, 1)


def draw_column(
    column: Column, row_count: int, *, candidates: Sequence[Value], related: Sequence[Cell], stream: Stream
) -> list[Cell]:
    """Draw the values of one column for every row of a fixture.

    Args:
        column: What to draw.
        row_count: Rows of the table in this fixture.
        candidates: The family's four values, which `near_candidates` aims at, right and wrong ones alike.
        related: Values of the column that a reference or a parent points to; empty otherwise.
        stream: Bytes for this column of this fixture alone.
    """
    match column:
        case SerialColumn():
            return list(range(column.start, column.start + row_count))
        case ParentColumn():
            return _draw_parents(column, related[:row_count], stream)
        case GivenColumn():
            raise AssertionError("explicit values are not drawn")
    draw = _drawer(column, candidates=candidates, related=related, stream=stream)
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


def _draw_parents(column: ParentColumn, ids: Sequence[Cell], stream: Stream) -> list[Cell]:
    """Draw for each row one of the rows before it, so that no chain of parents comes back."""
    roots = _per_myriad(column.null_share)
    parents: list[Cell] = []
    for row in range(len(ids)):
        is_root = row == 0 or (roots > 0 and stream.chance(roots))
        parents.append(None if is_root else stream.choice(ids[max(0, row - column.reach) : row]))
    return parents


def _drawer(  # noqa: PLR0911 - one line a generator
    column: Column, *, candidates: Sequence[Value], related: Sequence[Cell], stream: Stream
) -> Callable[[], Cell]:
    """Return a function that draws one value of the column."""
    match column:
        case ReferenceColumn():
            return lambda: stream.choice(related)
        case ChoiceColumn():
            return _picker(column.values, column.near_candidates, candidates, stream)
        case JsonColumn():
            return _picker([json.loads(text) for text in column.values], column.near_candidates, candidates, stream)
        case BooleanColumn():
            true_share = _per_myriad(column.true_share)
            return lambda: stream.chance(true_share)
        case TextColumn():
            return lambda: _draw_text(column, candidates, stream)
        case TokensColumn():
            return lambda: _draw_tokens(column, candidates, stream)
        case IntegerColumn() | DecimalColumn() | DateColumn():
            return lambda: _draw_on_grid(column, candidates, stream)
        case ListColumn():
            return lambda: draw_column(
                column.item, stream.between(*column.length), candidates=candidates, related=(), stream=stream
            )
        case RecordColumn():
            return lambda: {
                field.name: draw_column(field, 1, candidates=candidates, related=(), stream=stream)[0]
                for field in column.fields
            }
    raise AssertionError(f"no drawer for {column.generator}")


def _picker(
    values: Sequence[Cell], near_share: Decimal, candidates: Sequence[Value], stream: Stream
) -> Callable[[], Cell]:
    near = _per_myriad(near_share)
    return lambda: stream.choice(candidates) if near and stream.chance(near) else stream.choice(values)


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


def _draw_tokens(column: TokensColumn, candidates: Sequence[Value], stream: Stream) -> str:
    draw = _picker(column.words, column.near_candidates, candidates, stream)
    text = ""
    for place in range(stream.between(*column.length)):
        text += (stream.choice(column.separators) if place else "") + str(draw())
    return text


def _per_myriad(share: Decimal) -> int:
    return int(share * 10_000)
