"""Read explicit fixtures: SQL scripts, CSV and JSON, as data. No engine sees an author's script.

Whatever the text, a fixture becomes rows by table, as drawn ones are, so renaming and writing are the same for both.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from leakscale_server.core.building.fixtures import RECORDS, Cell, Data, Row
from leakscale_server.core.building.sql_script import ScriptError, read_inserts
from leakscale_server.core.format.columns import Column, GivenColumn
from leakscale_server.core.format.schema import GivenFixture, Shape
from leakscale_server.core.format.text import is_plain_text

__all__ = ["GivenError", "read_given", "read_json_text"]

ROWS_MAX: Final = 200
_NUMBER_MAX: Final = 10**12
_DEPTH_MAX: Final = 16
"""Lists and objects around a value of type json."""
_CSV_WORDS: Final = {"true": True, "false": False}
_CSV_INTEGER: Final = re.compile(r"[+-]?\d{1,18}")
_CSV_DECIMAL: Final = re.compile(r"[+-]?\d{1,18}(\.\d{1,18})?")

Tables = Mapping[str, Sequence[Mapping[str, object]]]
"""Rows of each table by column, under the shape's own names."""


class GivenError(ValueError):
    """An explicit fixture breaks a rule.

    Args:
        rule: What must hold.
        value: What stands there instead.
        line: 0-based line within the text.
    """

    def __init__(self, rule: str, value: object, *, line: int = 0) -> None:
        super().__init__(rule)
        self.rule = rule
        self.value = value
        self.line = line


def read_given(shape: Shape, fixture: GivenFixture) -> Data:
    """Read one explicit fixture.

    Raises:
        GivenError: If its text does not parse, or does not hold what the shape declares.
    """
    columns = _columns(shape)
    if fixture.sql is not None:
        tables = _from_sql(shape.given_text(fixture.sql), columns)
    elif fixture.csv is not None:
        tables = _from_csv({name: shape.given_text(text) for name, text in fixture.csv.items()}, columns)
    else:
        tables = _from_json(shape.given_text(fixture.json_text or ""), columns)
    return {name: _rows(name, tables.get(name, ()), declared) for name, declared in columns.items()}


def read_json_text(text: str) -> Any:
    """Read JSON without what only Python takes for it.

    Raises:
        GivenError: If it is none.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise GivenError(f"must be JSON: {error.msg[:1].lower()}{error.msg[1:]}", None, line=error.lineno - 1) from None
    except (ValueError, RecursionError):
        raise GivenError("must be JSON with finite numbers", None) from None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _columns(shape: Shape) -> dict[str, tuple[Column, ...]]:
    if shape.records is not None:
        return {RECORDS: shape.records.fields}
    return {table.name: table.columns for table in shape.tables}


def _from_sql(text: str, columns: Mapping[str, Sequence[Column]]) -> Tables:
    tables: dict[str, list[dict[str, object]]] = {name: [] for name in columns}
    try:
        for insert in read_inserts(text):
            _require_table(insert.table, columns, line=insert.line)
            names = insert.columns or [column.name for column in columns[insert.table]]
            for row in insert.rows:
                if len(row) != len(names):
                    raise GivenError(f"must have {len(names)} values in a row of {insert.table}", row, line=insert.line)
                tables[insert.table].append(dict(zip(names, row, strict=True)))
    except ScriptError as error:
        raise GivenError(error.rule, error.value, line=error.line) from None
    return tables


def _from_csv(texts: Mapping[str, str], columns: Mapping[str, Sequence[Column]]) -> Tables:
    tables: dict[str, list[dict[str, object]]] = {}
    for name, text in texts.items():
        _require_table(name, columns)
        declared = {column.name: column for column in columns[name]}
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=False))
        header = lines[0] if lines else []
        tables[name] = []
        for number, line in enumerate(lines[1:], start=1):
            if len(line) != len(header):
                raise GivenError(f"must have {len(header)} values in each line", line, line=number)
            row = dict(zip(header, line, strict=True))
            tables[name].append({key: _from_csv_text(text, declared.get(key)) for key, text in row.items()})
    return tables


def _from_csv_text(text: str, column: Column | None) -> object:
    """Read a text of a CSV file as its column's type says; what does not fit stays a text and is refused later."""
    if not isinstance(column, GivenColumn) or (text == "" and column.nullable):
        return None
    match column.type:
        case "integer" if _CSV_INTEGER.fullmatch(text):
            return int(text)
        case "decimal" if _CSV_DECIMAL.fullmatch(text):
            return Decimal(text)
        case "boolean":
            return _CSV_WORDS.get(text, text)
        case "json":
            return read_json_text(text)
        case _:
            return text


def _from_json(text: str, columns: Mapping[str, Sequence[Column]]) -> Tables:
    value = read_json_text(text)
    tables = {RECORDS: value} if RECORDS in columns else value
    if not isinstance(tables, dict):
        raise GivenError("must be an object with the rows of each table", value)
    for name, rows in tables.items():
        _require_table(name, columns)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise GivenError("must be an array of objects", rows)
    return tables


def _require_table(name: str, columns: Mapping[str, object], *, line: int = 0) -> None:
    if name not in columns:
        raise GivenError(f"must be for one of the tables {', '.join(columns)}", name, line=line)


def _rows(name: str, rows: Sequence[Mapping[str, object]], columns: Sequence[Column]) -> list[Row]:
    if len(rows) > ROWS_MAX:
        raise GivenError(f"must have at most {ROWS_MAX} rows", len(rows))
    names = [column.name for column in columns]
    for row in rows:
        if set(row) != set(names):
            raise GivenError(f"must have the columns {', '.join(names)} in every row of {name}", list(row))
    return [tuple(_cell(column, row[column.name]) for column in columns) for row in rows]


def _cell(column: Column, value: object) -> Cell:
    if not isinstance(column, GivenColumn):
        raise GivenError("must have columns with the generator 'given'", column.generator)
    if value is None and (column.nullable or column.type == "json"):
        return None
    if not _fits(column.type, value):
        null = " or null" if column.nullable else ""
        raise GivenError(f"must have a value of type {column.type}{null} in {column.name}", value)
    if column.type == "decimal":
        return float(value)  # type: ignore[arg-type]
    return value  # type: ignore[return-value]


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
