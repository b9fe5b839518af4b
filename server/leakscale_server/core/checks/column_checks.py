"""Rules of tables, columns and fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from leakscale.models import Domain
from leakscale_server.core.building.rendering import find_column
from leakscale_server.core.checks.letter_checks import check_plain
from leakscale_server.core.checks.sizes import FIXTURE_BYTES_MAX, fixture_bytes_max
from leakscale_server.core.format.columns import (
    BooleanColumn,
    ChoiceColumn,
    Column,
    JsonColumn,
    ListColumn,
    ParentColumn,
    RecordColumn,
    ReferenceColumn,
    SerialColumn,
    TextColumn,
    TokensColumn,
)
from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Phrase, Problem, all_columns, all_names, check_grid
from leakscale_server.core.format.schema import Shape
from leakscale_server.core.format.text import stays_composed

__all__ = ["check_columns"]

_DEPTH_MAX: Final = 3
"""Lists and records around a value."""


def check_columns(shape: Shape) -> Iterator[Problem]:
    """Check row counts, and each column by itself and against what it refers to."""
    yield from _check_rows(shape)
    yield from _check_size(shape)
    yield from _check_taken(shape)
    for path, column in all_columns(shape):
        yield from check_grid(column, path)
        yield from _check_name(column, path)
        yield from _check_near(shape, column, path)
        match column:
            case ChoiceColumn(values=values):
                yield from _check_choice(shape, values, path)
            case TextColumn():
                yield from _check_text(column, path)
            case TokensColumn():
                yield from _check_tokens(column, path)
            case JsonColumn():
                yield from _check_json(column, path)
            case ReferenceColumn():
                yield from _check_reference(shape, column, path)
            case ParentColumn():
                yield from _check_parent(shape, column, path)
            case ListColumn():
                yield from _check_length(column, path)
        yield from _check_language(shape, column, path)


def _check_rows(shape: Shape) -> Iterator[Problem]:
    holders: list[tuple[Path, tuple[int, int]]] = [
        (("tables", index), table.rows) for index, table in enumerate(shape.tables)
    ]
    if shape.records:
        holders.append((("records",), shape.records.rows))
    for holder, (fewest, most) in holders:
        if most < fewest:
            yield Problem((*holder, "rows"), f"must be [fewest, most], with most at least {fewest}", most)


def _check_size(shape: Shape) -> Iterator[Problem]:
    byte_count = fixture_bytes_max(shape)
    if byte_count > FIXTURE_BYTES_MAX:
        path: Path = ("records", "rows") if shape.records else ("tables",)
        yield Problem(
            path, f"must leave a fixture at most {FIXTURE_BYTES_MAX} bytes when texts are longest", byte_count
        )


def _check_taken(shape: Shape) -> Iterator[Problem]:
    seen: set[Path] = set()
    for path, name in all_names(shape):
        scope = (*path[:-2], name)
        if scope in seen:
            yield Problem(path, "must differ from the names before it", name)
        seen.add(scope)


def _check_name(column: Column, path: Path) -> Iterator[Problem]:
    is_item = path[-1] == "item"
    if is_item and column.name:
        yield Problem((*path, "name"), "must be left out of the item of a list", column.name)
    if not is_item and not column.name:
        yield Problem((*path, "name"), "must be given", None)


def _check_language(shape: Shape, column: Column, path: Path) -> Iterator[Problem]:
    """Keep apart what only one domain has; nesting is for values, so what refers to rows has no place in it."""
    place = (*path, "generator")
    if shape.language is Domain.SQL and isinstance(column, BooleanColumn | JsonColumn | ListColumn | RecordColumn):
        yield Problem(place, "must be a generator that SQL has", column.generator)
    if shape.language is Domain.PYTHON and isinstance(column, ReferenceColumn | ParentColumn):
        yield Problem(place, "must be a generator that Python has", column.generator)
    if sum(part in {"item", "fields"} for part in path[2:]) > _DEPTH_MAX:
        yield Problem(path, f"must be nested at most {_DEPTH_MAX} deep", Phrase("more"))


def _check_near(shape: Shape, column: Column, path: Path) -> Iterator[Problem]:
    if getattr(column, "near_candidates", Decimal(0)) == 0:
        return
    generator = column.generator
    if isinstance(column, ChoiceColumn):
        kind = {str: "string", int: "integer", Decimal: "decimal"}.get(type(column.values[0]), "boolean")
    else:
        kind = "string" if generator in {"text", "tokens"} else generator
    if kind != shape.candidates.type:
        rule = f"must have candidates of its column's type, {kind}"
        yield Problem((*path, "near_candidates"), rule, shape.candidates.type)


def _check_choice(shape: Shape, values: tuple[object, ...], path: Path) -> Iterator[Problem]:
    if len({type(value) for value in values}) > 1:
        yield Problem((*path, "values"), "must all have one type", list(values))
    if shape.language is Domain.SQL and isinstance(values[0], bool):
        yield Problem((*path, "values"), "must be no booleans, which SQLite lacks; write 0 and 1", list(values))
    for index, value in enumerate(values):
        if isinstance(value, str):
            yield from check_plain(value, (*path, "values", index))


def _check_length(column: TextColumn | TokensColumn | ListColumn, path: Path) -> Iterator[Problem]:
    fewest, most = column.length
    if most < fewest:
        yield Problem((*path, "length"), f"must be [fewest, most], with most at least {fewest}", most)


def _check_tokens(column: TokensColumn, path: Path) -> Iterator[Problem]:
    yield from _check_length(column, path)
    for field, texts in (("words", column.words), ("separators", column.separators)):
        for index, text in enumerate(texts):
            yield from check_plain(text, (*path, field, index))


def _check_json(column: JsonColumn, path: Path) -> Iterator[Problem]:
    for index, text in enumerate(column.values):
        try:
            value = json.loads(text)
            is_canonical = json.dumps(value, ensure_ascii=False, allow_nan=False) == text
        except (ValueError, RecursionError):
            is_canonical = False
        if not is_canonical:
            yield Problem((*path, "values", index), "must be a JSON text, as JSON writes it", text)
        else:
            yield from check_plain(text, (*path, "values", index))


def _check_text(column: TextColumn, path: Path) -> Iterator[Problem]:
    yield from _check_length(column, path)
    unplain = list(check_plain(column.alphabet, (*path, "alphabet")))
    yield from unplain
    if not unplain and not stays_composed(column.alphabet):
        yield Problem((*path, "alphabet"), "must hold no two letters that compose to one", column.alphabet)


def _check_reference(shape: Shape, column: ReferenceColumn, path: Path) -> Iterator[Problem]:
    earlier = {table.name for table in shape.tables[: int(path[1])]} if path[0] == "tables" else set()
    if column.table not in earlier:
        yield Problem((*path, "table"), "must name an earlier table", column.table)
    else:
        target = find_column(shape, column)
        if target is None or isinstance(target, ReferenceColumn):
            rule = f"must name a column of {column.table} with values of its own"
            yield Problem((*path, "column"), rule, column.column)


def _check_parent(shape: Shape, column: ParentColumn, path: Path) -> Iterator[Problem]:
    if path[0] != "tables":
        return
    earlier = shape.tables[int(path[1])].columns[: int(path[3])]
    if not any(isinstance(each, SerialColumn) and each.name == column.column for each in earlier):
        yield Problem((*path, "column"), "must name an earlier serial column of the same table", column.column)
