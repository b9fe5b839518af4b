"""Rules of tables, columns and fields."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from leakscale.models import Domain
from leakscale_server.core.columns import ChoiceColumn, Column, ReferenceColumn, TextColumn
from leakscale_server.core.locations import Path
from leakscale_server.core.problems import Problem, all_columns, all_names, check_grid
from leakscale_server.core.rendering import find_column
from leakscale_server.core.schema import Shape
from leakscale_server.core.sizes import FIXTURE_BYTES_MAX, fixture_bytes_max
from leakscale_server.core.text import PLAIN_TEXT_RULE, is_plain_text, stays_composed

__all__ = ["check_columns"]


def check_columns(shape: Shape) -> Iterator[Problem]:
    """Check row counts, and each column by itself and against what it refers to."""
    yield from _check_rows(shape)
    yield from _check_size(shape)
    yield from _check_taken(shape)
    for path, column in all_columns(shape):
        yield from check_grid(column, path)
        yield from _check_near(shape, column, path)
        match column:
            case ChoiceColumn(values=values):
                yield from _check_choice(shape, values, path)
            case TextColumn():
                yield from _check_text(column, path)
            case ReferenceColumn():
                yield from _check_reference(shape, column, path)


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


def _check_near(shape: Shape, column: Column, path: Path) -> Iterator[Problem]:
    if getattr(column, "near_candidates", Decimal(0)) == 0:
        return
    generator = column.generator
    if isinstance(column, ChoiceColumn):
        kind = {str: "string", int: "integer", Decimal: "decimal"}.get(type(column.values[0]), "boolean")
    else:
        kind = "string" if generator == "text" else generator
    if kind != shape.candidates.type:
        rule = f"must have candidates of its column's type, {kind}"
        yield Problem((*path, "near_candidates"), rule, shape.candidates.type)


def _check_choice(shape: Shape, values: tuple[object, ...], path: Path) -> Iterator[Problem]:
    if len({type(value) for value in values}) > 1:
        yield Problem((*path, "values"), "must all have one type", list(values))
    if shape.language is Domain.SQL and isinstance(values[0], bool):
        yield Problem((*path, "values"), "must be no booleans, which SQLite lacks; write 0 and 1", list(values))
    for index, value in enumerate(values):
        if isinstance(value, str) and not is_plain_text(value):
            yield Problem((*path, "values", index), PLAIN_TEXT_RULE, value)


def _check_text(column: TextColumn, path: Path) -> Iterator[Problem]:
    fewest, most = column.length
    if most < fewest:
        yield Problem((*path, "length"), f"must be [fewest, most], with most at least {fewest}", most)
    if not is_plain_text(column.alphabet):
        yield Problem((*path, "alphabet"), PLAIN_TEXT_RULE, column.alphabet)
    elif not stays_composed(column.alphabet):
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
