"""How large a shape's fixtures can become: known before one is drawn, so that a job always fits its frame."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from leakscale_server.core.building.rendering import find_column
from leakscale_server.core.format.columns import (
    ChoiceColumn,
    Column,
    JsonColumn,
    ListColumn,
    RecordColumn,
    ReferenceColumn,
    TextColumn,
    TokensColumn,
)
from leakscale_server.core.format.schema import Shape

__all__ = ["FIXTURE_BYTES_MAX", "fixture_bytes_max"]

FIXTURE_BYTES_MAX: Final = 480 << 10
"""Sixteen of these and eight programs fit a job of 8 MiB, and so do eight of twice the size: pages of a database are at
least half full."""

_NAME_BYTES = 28  # a word of 24 letters, quotes, a colon and a comma
_NUMBER_BYTES = 24  # or a date, a boolean, a null


def fixture_bytes_max(shape: Shape) -> int:
    """Return the most bytes that one fixture can take as JSON."""
    tables: list[tuple[int, Sequence[Column]]] = [(table.rows[1], table.columns) for table in shape.tables]
    if shape.records is not None:
        tables.append((shape.records.rows[1], shape.records.fields))
    near = _widest(shape.candidates.pool or ())
    return sum(
        row_count * sum(_NAME_BYTES + _cell_bytes(shape, column, near) for column in columns)
        for row_count, columns in tables
    )


def _cell_bytes(shape: Shape, column: Column, near: int) -> int:  # noqa: PLR0911 - one line a generator
    match column:
        case TextColumn():
            return near + column.length[1] * _widest(column.alphabet)
        case ChoiceColumn():
            return max(near, _widest(column.values))
        case JsonColumn():
            return max(near, *(len(text.encode()) for text in column.values))
        case TokensColumn():
            return column.length[1] * (max(near, _widest(column.words)) + _widest(column.separators))
        case ListColumn():
            return 2 + column.length[1] * (_cell_bytes(shape, column.item, near) + 1)
        case RecordColumn():
            return 2 + sum(_NAME_BYTES + _cell_bytes(shape, field, near) for field in column.fields)
        case ReferenceColumn():
            parent = find_column(shape, column)
            # A reference to a reference is refused elsewhere; here it must only not go round in circles.
            if parent is None or isinstance(parent, ReferenceColumn):
                return _NUMBER_BYTES
            return _cell_bytes(shape, parent, near)
        case _:
            return _NUMBER_BYTES


def _widest(values: Sequence[object]) -> int:
    """Return the bytes of the largest value, quotes included."""
    texts = (json.dumps(value, ensure_ascii=False).encode() for value in values if isinstance(value, str))
    return max(map(len, texts), default=_NUMBER_BYTES)
