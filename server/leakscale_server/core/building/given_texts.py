"""Read the texts of explicit fixtures as rows by table: SQL scripts, CSV and JSON. No engine sees an author's script.

What each form allows and another does not is refused, so that no author's mistake is read as something else: a column
named twice, a key that stands twice in an object, a quote that is not closed.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from leakscale_server.core.building.fixtures import RECORDS
from leakscale_server.core.building.sql_script import Insert, ScriptError, read_inserts
from leakscale_server.core.format.columns import Column, GivenColumn
from leakscale_server.core.format.problems import Phrase

__all__ = ["GivenError", "GivenRow", "Tables", "read_csv", "read_json", "read_json_text", "read_sql"]

_CSV_WORDS: Final = {"true": True, "false": False}
_CSV_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_CSV_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]')

Columns = Mapping[str, Sequence[Column]]
"""What the shape declares, by table."""


class GivenError(ValueError):
    """A text of an explicit fixture breaks a rule.

    Args:
        rule: What must hold.
        value: What stands there instead; None if nothing does.
        line: 0-based line within the text.
        place: Keys and indices from the fixture to the text.
    """

    def __init__(self, rule: str, value: object, *, line: int = 0, place: tuple[str | int, ...] = ()) -> None:
        super().__init__(rule)
        self.rule = rule
        self.value = value
        self.line = line
        self.place = place

    def within(self, *place: str | int, line: int = 0) -> GivenError:
        """Return the fault as seen from outside: where its text stands, and on which line it begins."""
        return GivenError(self.rule, self.value, line=self.line + line, place=(*place, *self.place))


@dataclass(frozen=True, slots=True)
class GivenRow:
    """One row, by column."""

    cells: Mapping[str, object]
    line: int
    """0-based line of its text on which it begins."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Cells as the text has them, where that is not how they would be shown."""


Tables = Mapping[str, Sequence[GivenRow]]
"""Rows of each table that a text names, under the shape's own names."""


def read_sql(text: str, columns: Columns) -> Tables:
    """Read a script of INSERT statements.

    Raises:
        GivenError: If it holds anything else, or names what the shape does not declare.
    """
    tables: dict[str, list[GivenRow]] = {name: [] for name in columns}
    try:
        for insert in read_inserts(text):
            _require_table(insert.table, columns, line=insert.line)
            tables[insert.table] += _inserted(insert, columns[insert.table])
    except ScriptError as error:
        value = None if error.value is None else Phrase(error.value)
        raise GivenError(error.rule, value, line=error.line) from None
    return tables


def _inserted(insert: Insert, columns: Sequence[Column]) -> Iterator[GivenRow]:
    names = insert.columns or [column.name for column in columns]
    _require_columns(names, columns, where=f"the statement for {insert.table}", line=insert.line)
    for row in insert.rows:
        if len(row.values) != len(names):
            rule = f"must have {len(names)} values in a row of {insert.table}"
            raise GivenError(rule, Phrase(f"({', '.join(row.written)})"), line=row.line)
        cells, written = (dict(zip(names, each, strict=True)) for each in (row.values, row.written))
        yield GivenRow(cells, row.line, written)  # type: ignore[arg-type]


def read_csv(texts: Mapping[str, str], columns: Columns) -> Tables:
    """Read a text of each table, with the names of columns in its first line.

    Raises:
        GivenError: If one is no CSV, or does not name the columns that the shape declares, each once.
    """
    tables: dict[str, Sequence[GivenRow]] = {}
    for name, text in texts.items():
        try:
            _require_table(name, columns)
            tables[name] = list(_csv_rows(name, text, columns[name]))
        except GivenError as error:
            raise error.within(name) from None
    return tables


def _csv_rows(name: str, text: str, columns: Sequence[Column]) -> Iterator[GivenRow]:
    (_, header), *lines = _csv_lines(text) or [(0, [])]
    _require_columns(header, columns, where=f"the first line of {name}", line=0)
    declared = {column.name: column for column in columns}
    for line, texts in lines:
        if len(texts) != len(header):
            raise GivenError(
                f"must have {len(header)} values in each line of {name}", Phrase(",".join(texts)), line=line
            )
        try:
            cells = {key: _csv_cell(cell, declared[key]) for key, cell in zip(header, texts, strict=True)}
        except GivenError as error:
            raise error.within(line=line) from None
        yield GivenRow(cells, line)


def _csv_lines(text: str) -> list[tuple[int, list[str]]]:
    """Return the lines of a CSV text, each with the number of the one on which it begins: a quoted text may have more.

    Raises:
        GivenError: If a quote is not closed, or stands where none may.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines: list[tuple[int, list[str]]] = []
    first = 0
    try:
        for line in reader:
            lines.append((first, line))
            first = reader.line_num
    except csv.Error:
        written = text.split("\n")[first : first + 1]
        rule = "must be CSV: quotes are closed, stand around a whole value, and are doubled inside it"
        raise GivenError(rule, Phrase(written[0].strip()) if written else None, line=first) from None
    return lines


def _csv_cell(text: str, column: Column) -> object:
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


def read_json(text: str, columns: Columns) -> Tables:
    """Read an object with the rows of each table, or the list of records.

    Raises:
        GivenError: If the text is none, or a row does not have the columns that the shape declares.
    """
    value = read_json_text(text)
    is_bare = RECORDS in columns
    tables = {RECORDS: value} if is_bare else value
    if not isinstance(tables, dict):
        raise GivenError("must be an object with the rows of each table", value)
    lines = iter(_lines_of_objects(text, depth=1 if is_bare else 2))
    read: dict[str, Sequence[GivenRow]] = {}
    for name, rows in tables.items():
        _require_table(name, columns)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise GivenError(f"must be an array of objects for {name}", rows)
        read[name] = [GivenRow(row, next(lines)) for row in rows]
        for number, row in enumerate(read[name], start=1):
            _require_columns(list(row.cells), columns[name], where=f"row {number} of {name}", line=row.line)
    return read


def read_json_text(text: str) -> Any:
    """Read JSON without what only Python takes for it, and without a key that stands twice in one object.

    Raises:
        GivenError: If it is none.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        rule = f"must be JSON: {error.msg[:1].lower()}{error.msg[1:]} (at column {error.colno})"
        line = error.lineno - 1
        raise GivenError(rule, Phrase(text.split("\n")[line].strip()) if text.strip() else None, line=line) from None
    except RecursionError:
        raise GivenError("must be JSON that is nested less deeply", Phrase("a value inside too many others")) from None
    except ValueError as error:
        raise GivenError("must be JSON with finite numbers of at most 4,300 digits", Phrase(str(error))) from None
    _lines_of_objects(text, depth=0)
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _lines_of_objects(text: str, *, depth: int) -> list[int]:
    """Return the 0-based line of every object that has so many lists and objects around it.

    Args:
        text: JSON that parses.

    Raises:
        GivenError: If an object has a key twice; most readers keep the last one and say nothing.
    """
    lines: list[int] = []
    keys: list[set[str] | None] = []
    line, is_key_next = 0, False
    for written in _JSON_TOKEN.findall(text):
        if written == "\n":
            line += 1
        elif written in "{[":
            if written == "{" and len(keys) == depth:
                lines.append(line)
            is_key_next = written == "{"
            keys.append(set() if is_key_next else None)
        elif written in "}]":
            keys.pop()
        elif written == ",":
            is_key_next = keys[-1] is not None
        elif written == ":":
            is_key_next = False
        elif is_key_next and (names := keys[-1]) is not None:
            name = json.loads(written)
            if name in names:
                raise GivenError("must have each key once in an object", name, line=line)
            names.add(name)
    return lines


def _require_table(name: str, columns: Columns, *, line: int = 0) -> None:
    if name not in columns:
        raise GivenError(f"must be for one of the tables {', '.join(columns)}", name, line=line)


def _require_columns(names: Sequence[str], columns: Sequence[Column], *, where: str, line: int) -> None:
    """Check that names are those of the columns, in any order and each once."""
    if sorted(names) != sorted(column.name for column in columns):
        declared = ", ".join(column.name for column in columns)
        raise GivenError(f"must have the columns {declared}, each once, in {where}", list(names), line=line)
