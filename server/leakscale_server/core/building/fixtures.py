"""Hidden inputs of a family, as the sandbox takes them: serialized SQLite databases, or JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from leakscale_server.core.building.cell_types import Words, named, sql_type
from leakscale_server.core.building.drawing import Cell, draw_column
from leakscale_server.core.building.rendering import find_column
from leakscale_server.core.format.columns import Column, ParentColumn, ReferenceColumn
from leakscale_server.core.format.schema import Records, Shape, Table
from leakscale_server.core.literals import Plain, Value, plain_value
from leakscale_server.core.streams import Stream

__all__ = ["RECORDS", "Cell", "Data", "Fixture", "Row", "draw_data", "rename_fields", "write_fixture"]

Row: TypeAlias = tuple[Cell, ...]
Data: TypeAlias = dict[str, list[Row]]
"""Rows of each table, in the order in which they lie, by the names that the shape gives tables."""

RECORDS: Final = "records"
"""What stands for the table of a shape that has records."""


def draw_data(shape: Shape, candidates: Sequence[Value], *, seed: bytes, labels: tuple[str | int | bytes, ...]) -> Data:
    """Draw what one hidden input holds, whatever its tables and columns are called.

    It depends on the candidates but not on which of them is right.

    Args:
        shape: Where the values come from.
        candidates: The four values, in rank order.
        seed: Private seed.
        labels: What tells this fixture from every other one.
    """
    if shape.records is not None:
        return {RECORDS: _draw_records(shape.records, candidates, seed=seed, labels=labels)}
    return _draw_tables(shape, candidates, seed=seed, labels=labels)


class Fixture(NamedTuple):
    """One hidden input under a family's names."""

    data: bytes
    """As the sandbox takes it: a serialized database, or JSON."""
    content: bytes
    """What it holds, as JSON. It is the same on every machine; how SQLite lays rows out in pages is its version's."""


def write_fixture(shape: Shape, data: Data, words: Words) -> Fixture:
    """Write a hidden input under a family's names."""
    if shape.records is not None:
        written = _write_records(shape.records, data[RECORDS], words)
        return Fixture(written, written)
    tables = [_render_table(shape, table, data[table.name], words) for table in shape.tables]
    return Fixture(_write_database(tables), _to_json(tables))


def _draw_records(
    records: Records, candidates: Sequence[Value], *, seed: bytes, labels: tuple[str | int | bytes, ...]
) -> list[Row]:
    row_count = Stream(seed, *labels, "rows").between(*records.rows)
    columns = (
        draw_column(
            field, row_count, candidates=candidates, related=(), stream=Stream(seed, *labels, "field", field.name)
        )
        for field in records.fields
    )
    return list(zip(*columns, strict=True))


def _draw_tables(
    shape: Shape, candidates: Sequence[Value], *, seed: bytes, labels: tuple[str | int | bytes, ...]
) -> Data:
    """Draw every table; rows lie in random order, so that no program leans on it."""
    drawn: dict[tuple[str, str], list[Cell]] = {}
    data: Data = {}
    for table in shape.tables:
        stream = Stream(seed, *labels, "rows", table.name)
        row_count = stream.between(*table.rows)
        for column in table.columns:
            drawn[table.name, column.name] = draw_column(
                column,
                row_count,
                candidates=candidates,
                related=_related_cells(table, column, drawn),
                stream=Stream(seed, *labels, "column", table.name, column.name),
            )
        columns = (drawn[table.name, column.name] for column in table.columns)
        data[table.name] = stream.shuffled(list(zip(*columns, strict=True)))
    return data


def _related_cells(table: Table, column: Column, drawn: Mapping[tuple[str, str], list[Cell]]) -> Sequence[Cell]:
    match column:
        case ReferenceColumn():
            return drawn[column.table, column.column]
        case ParentColumn():
            return drawn[table.name, column.column]
        case _:
            return ()


def _write_records(records: Records, rows: Sequence[Row], words: Words) -> bytes:
    names = [named(field.name, words) for field in records.fields]
    written = [dict(zip(names, (rename_fields(cell, words) for cell in row), strict=True)) for row in rows]
    return _to_json(written)


def _to_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def rename_fields(cell: Cell, words: Words) -> Plain | list[Any] | dict[str, Any]:
    """Return a value as JSON knows it, records in it under a family's names."""
    match cell:
        case list():
            return [rename_fields(item, words) for item in cell]
        case dict():
            return {named(name, words): rename_fields(value, words) for name, value in cell.items()}
        case float():
            return cell
        case _:
            return plain_value(cell)


class _NamedTable(NamedTuple):
    """A table as a family names it."""

    name: str
    columns: list[str]
    """Name and declared type of each."""
    rows: list[list[Any]]


def _render_table(shape: Shape, table: Table, rows: Sequence[Row], words: Words) -> _NamedTable:
    return _NamedTable(
        name=named(table.name, words),
        columns=[f"{named(column.name, words)} {_declared(shape, column)}" for column in table.columns],
        rows=[[rename_fields(cell, words) for cell in row] for row in rows],
    )


def _write_database(tables: Sequence[_NamedTable]) -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.execute("PRAGMA page_size = 512")
        connection.execute("BEGIN")
        for table in tables:
            _write_table(connection, table)
        connection.execute("COMMIT")
        return connection.serialize()
    finally:
        connection.close()


def _write_table(connection: sqlite3.Connection, table: _NamedTable) -> None:
    """Create and fill one table. Names are checked words and never an author's text, so they need no quotes."""
    marks = ", ".join("?" for _ in table.columns)
    connection.execute(f"CREATE TABLE {table.name} ({', '.join(table.columns)})")
    connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", table.rows)  # noqa: S608


def _declared(shape: Shape, column: Column) -> str:
    return sql_type(column, target=find_column(shape, column) if isinstance(column, ReferenceColumn) else None)
