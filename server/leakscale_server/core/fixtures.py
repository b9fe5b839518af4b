"""Hidden inputs of a family, as the sandbox takes them: serialized SQLite databases, or JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from leakscale_server.core.columns import Cell, Column, ReferenceColumn, cell_type, draw_column
from leakscale_server.core.literals import Value, plain_value
from leakscale_server.core.rendering import Words, find_column, named
from leakscale_server.core.schema import Records, Shape, Table
from leakscale_server.core.streams import Stream

__all__ = ["draw_fixture"]

_SQL_TYPES = {"int": "INTEGER", "bool": "INTEGER", "float": "REAL", "str": "TEXT"}

Drawn = dict[tuple[str, str], list[Cell]]
"""Values of each column, by the names that the shape gives table and column."""


def draw_fixture(
    shape: Shape, words: Words, candidates: Sequence[Value], *, seed: bytes, labels: tuple[str | int | bytes, ...]
) -> bytes:
    """Draw one hidden input.

    It depends on the candidates but not on which of them is right.

    Args:
        shape: Where the values come from.
        words: Names that tables, columns and fields have in this family.
        candidates: The four values, ascending.
        seed: Private seed.
        labels: What tells this fixture from every other one.
    """
    if shape.records is not None:
        return _draw_records(shape.records, words, candidates, seed=seed, labels=labels)
    return _draw_database(shape, words, candidates, seed=seed, labels=labels)


def _draw_records(
    records: Records,
    words: Words,
    candidates: Sequence[Value],
    *,
    seed: bytes,
    labels: tuple[str | int | bytes, ...],
) -> bytes:
    row_count = Stream(seed, *labels, "rows").between(*records.rows)
    columns = {
        named(field.name, words): draw_column(
            field, row_count, candidates=candidates, parent=(), stream=Stream(seed, *labels, "field", field.name)
        )
        for field in records.fields
    }
    rows = [
        {name: plain_value(cell) for name, cell in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _draw_database(
    shape: Shape,
    words: Words,
    candidates: Sequence[Value],
    *,
    seed: bytes,
    labels: tuple[str | int | bytes, ...],
) -> bytes:
    """Draw every table and write the database; rows lie in random order, so that no program leans on it."""
    drawn: Drawn = {}
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.execute("PRAGMA page_size = 512")
        connection.execute("BEGIN")
        for table in shape.tables:
            stream = Stream(seed, *labels, "rows", table.name)
            row_count = stream.between(*table.rows)
            for column in table.columns:
                drawn[table.name, column.name] = draw_column(
                    column,
                    row_count,
                    candidates=candidates,
                    parent=_parent_cells(column, drawn),
                    stream=Stream(seed, *labels, "column", table.name, column.name),
                )
            cells = [[plain_value(cell) for cell in drawn[table.name, column.name]] for column in table.columns]
            _write_table(connection, shape, table, words, stream.shuffled(list(zip(*cells, strict=True))))
        connection.execute("COMMIT")
        return connection.serialize()
    finally:
        connection.close()


def _parent_cells(column: Column, drawn: Drawn) -> Sequence[Cell]:
    return drawn[column.table, column.column] if isinstance(column, ReferenceColumn) else ()


def _write_table(
    connection: sqlite3.Connection, shape: Shape, table: Table, words: Words, rows: Sequence[Sequence[object]]
) -> None:
    """Create and fill one table. Names are checked words and never an author's text, so they need no quotes."""
    definitions = ", ".join(
        f"{named(column.name, words)} {_SQL_TYPES[_column_type(shape, column)]}" for column in table.columns
    )
    marks = ", ".join("?" for _ in table.columns)
    name = named(table.name, words)
    connection.execute(f"CREATE TABLE {name} ({definitions})")
    connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)  # noqa: S608


def _column_type(shape: Shape, column: Column) -> str:
    parent = find_column(shape, column) if isinstance(column, ReferenceColumn) else None
    return cell_type(column, parent=parent)
