"""Types of columns and fields, as Python annotations and as SQL declarations, under a family's own names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

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
    SerialColumn,
    TextColumn,
    TokensColumn,
)

__all__ = ["Words", "annotation", "named", "sql_type"]

Words = Mapping[str, str]
"""The word of each vocabulary slot in one family and ring."""

_TYPES: Final[Mapping[type, str]] = {
    bool: "bool",
    int: "int",
    float: "float",
    Decimal: "float",
    str: "str",
    date: "str",
    list: "list",
    dict: "dict",
}
_GIVEN_TYPES: Final = {"integer": "int", "decimal": "float", "text": "str", "boolean": "bool", "json": "Any"}
_SQL_TYPES: Final = {"int": "INTEGER", "float": "REAL", "str": "TEXT"}


def named(name: str, words: Words) -> str:
    """Return the word that stands for a table, a column or a field; a name without a slot stays."""
    return words.get(name, name)


def annotation(column: Column, words: Words) -> str:
    """Return a field's type as a prompt shows it, e.g. `list[int] | None`."""
    kinds = set(_types(column, words))
    if getattr(column, "null_share", 0) > 0 or getattr(column, "nullable", False):
        kinds.add("None")
    return " | ".join(sorted(kinds, key=lambda kind: (kind == "None", kind)))


def sql_type(column: Column, *, target: Column | None = None) -> str:
    """Return how a table declares a column.

    Args:
        column: Any column of a table.
        target: The column that a reference takes its values from.
    """
    (kind,) = _types(target or column, {})
    return _SQL_TYPES[kind]


def _types(column: Column, words: Words) -> Sequence[str]:  # noqa: PLR0911 - one line a type
    """Return the types that a column's values may have, leaving out the null that any may be."""
    match column:
        case SerialColumn() | IntegerColumn() | ParentColumn():
            return ("int",)
        case DecimalColumn():
            return ("float",)
        case BooleanColumn():
            return ("bool",)
        case DateColumn() | TextColumn() | TokensColumn():
            return ("str",)
        case ChoiceColumn():
            return (_TYPES[type(column.values[0])],)
        case JsonColumn():
            values = [json.loads(text) for text in column.values]
            return ["None" if value is None else _TYPES[type(value)] for value in values]
        case GivenColumn():
            return (_GIVEN_TYPES[column.type],)
        case ListColumn():
            return (f"list[{annotation(column.item, words)}]",)
        case RecordColumn():
            inner = (f"{named(field.name, words)}: {annotation(field, words)}" for field in column.fields)
            return (f"{{{', '.join(inner)}}}",)
    raise AssertionError(f"no type for {column.generator}")
