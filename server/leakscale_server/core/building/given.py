"""Build the rows of explicit fixtures out of what their texts hold.

Whatever the text, a fixture becomes rows by table, as drawn ones are, so renaming and writing are the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from leakscale_server.core.building.fixtures import RECORDS, Cell, Data, Row
from leakscale_server.core.building.given_texts import GivenError, GivenRow, Tables, read_csv, read_json, read_sql
from leakscale_server.core.format.columns import Column, GivenColumn
from leakscale_server.core.format.problems import Phrase
from leakscale_server.core.format.schema import GivenFixture, Shape
from leakscale_server.core.format.text import is_plain_text

__all__ = ["read_given"]

ROWS_MAX: Final = 200
_NUMBER_MAX: Final = 10**12
_DEPTH_MAX: Final = 16
"""Lists and objects around a value of type json."""


def read_given(shape: Shape, fixture: GivenFixture) -> Data:
    """Read one explicit fixture.

    Raises:
        GivenError: If its text does not parse, or does not hold what the shape declares.
    """
    columns = _columns(shape)
    if fixture.csv is None:
        kind = "json" if fixture.sql is None else "sql"
        read = read_json if fixture.sql is None else read_sql
        try:
            return _data(read(shape.given_text(fixture.sql or fixture.json_text or ""), columns), columns)
        except GivenError as error:
            raise error.within(kind) from None
    try:
        tables = read_csv({name: shape.given_text(text) for name, text in fixture.csv.items()}, columns)
        return {name: _csv_rows(name, tables.get(name, ()), declared) for name, declared in columns.items()}
    except GivenError as error:
        raise error.within("csv") from None


def _data(tables: Tables, columns: Mapping[str, Sequence[Column]]) -> Data:
    return {name: _rows(name, tables.get(name, ()), declared) for name, declared in columns.items()}


def _csv_rows(name: str, rows: Sequence[GivenRow], columns: Sequence[Column]) -> list[Row]:
    """Build the rows of a table that has a text of its own."""
    try:
        return _rows(name, rows, columns)
    except GivenError as error:
        raise error.within(name) from None


def _columns(shape: Shape) -> dict[str, tuple[Column, ...]]:
    if shape.records is not None:
        return {RECORDS: shape.records.fields}
    return {table.name: table.columns for table in shape.tables}


def _rows(name: str, rows: Sequence[GivenRow], columns: Sequence[Column]) -> list[Row]:
    if len(rows) > ROWS_MAX:
        raise GivenError(f"must have at most {ROWS_MAX} rows of {name}", len(rows), line=rows[ROWS_MAX].line)
    return [
        tuple(_cell(column, row, place=f"row {number} of {name}") for column in columns)
        for number, row in enumerate(rows, start=1)
    ]


def _cell(column: Column, row: GivenRow, *, place: str) -> Cell:
    value = row.cells[column.name]
    if not isinstance(column, GivenColumn):
        raise GivenError("must have columns with the generator 'given'", column.generator)
    if value is None and (column.nullable or column.type == "json"):
        return None
    if not _fits(column.type, value):
        kind = f"{column.type}{' or null' if column.nullable else ''}"
        rule = f"must have a value of type {kind} in {column.name}, {place}{_bounds(value)}"
        written = row.written.get(column.name, "null" if value is None else None)
        raise GivenError(rule, value if written is None else Phrase(written), line=row.line)
    if column.type == "decimal":
        return float(value)  # type: ignore[arg-type]
    return value  # type: ignore[return-value]


def _bounds(value: object) -> str:
    """Return what a number or a text must be, whatever its type: there are more of both than a fixture may hold."""
    match value:
        case bool():
            return ""
        case int() | float() | Decimal() if not _is_sound(value, 0):
            return f", between -{_NUMBER_MAX} and {_NUMBER_MAX}"
        case str() if not is_plain_text(value):
            return ", and printable in one line"
    return ""


def _fits(kind: str, value: object) -> bool:
    if kind == "json":
        return _is_sound(value, _DEPTH_MAX)
    kinds: dict[str, tuple[type, ...]] = {
        "integer": (int,),
        "decimal": (int, float, Decimal),
        "text": (str,),
        "boolean": (bool,),
    }
    return type(value) in kinds[kind] and _is_sound(value, 0)


def _is_sound(value: object, depth_left: int) -> bool:
    """Return whether a value can be written and read back by SQLite, Python and JSON alike."""
    match value:
        case None | bool():
            return True
        case int() | float() | Decimal():
            return -_NUMBER_MAX <= value <= _NUMBER_MAX
        case str():
            return is_plain_text(value)
        case list():
            return depth_left > 0 and all(_is_sound(item, depth_left - 1) for item in value)
        case dict():
            return depth_left > 0 and all(is_plain_text(key) and _is_sound(value[key], depth_left - 1) for key in value)
    return False
