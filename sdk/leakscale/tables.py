"""Tables of results: typed rows, written as JSON, as CSV and as plain text.

Rows are frozen dataclasses. A float field is a difference of accuracies and is read as percentage points, unless its
metadata says otherwise; an `Interval` is one cell for people and five columns for programs, a mapping of numbers one
cell and a column a name, or none where no row has any; of a tuple of words, people see how many there are.
"""

from __future__ import annotations

import dataclasses
import enum
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints

from leakscale.csv_text import csv_text
from leakscale.plain_text import one_line
from leakscale.stats import Interval

__all__ = [
    "DIGEST",
    "NUMBER",
    "PERCENT",
    "Row",
    "Table",
    "TableHead",
]

Row = TypeVar("Row")


_STYLE: Final = "style"
PERCENT: Final = {_STYLE: "percent"}
"""Metadata of a field that is a share and that people read in percent, e.g. an accuracy."""
NUMBER: Final = {_STYLE: "number"}
"""Of a float that people read as it is, e.g. a ratio."""
DIGEST: Final = {_STYLE: "digest"}
"""Of a hex digest, of which people see the beginning."""
_DIGEST_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class TableHead:
    """What a table is called, whether or not it has rows."""

    number: str
    """Of the paper's table, e.g. `11`; empty where the paper has none."""
    name: str
    """For files and options, e.g. `integer-totals`."""
    title: str

    def filled(self, rows: Iterable[Row], note: str = "") -> Table[Row]:
        """Return the table with its rows."""
        return Table(self, tuple(rows), note)

    def withheld(self, reason: str) -> Table[Any]:
        """Return the table without rows, and why."""
        return Table(self, (), withheld=reason)


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """A table of the results section, or the reason why there is none."""

    head: TableHead
    rows: tuple[Row, ...]
    note: str = ""
    """What a reader must know to read it."""
    withheld: str | None = None
    """Why there is no row; None where there are."""

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"Table {self.head.number}. {self.head.title}" if self.head.number else self.head.title

    @property
    def number(self) -> str:
        """Of the paper's table; empty where the paper has none."""
        return self.head.number

    @property
    def name(self) -> str:
        """For files and options."""
        return self.head.name

    @property
    def file_stem(self) -> str:
        """Name of its files without an ending, e.g. `11-integer-totals`."""
        return "-".join(filter(None, (self.number, self.name)))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON-ready values; shares stay shares of 1, in full precision."""
        return {
            "number": self.number,
            "name": self.name,
            "title": self.head.title,
            "note": self.note,
            "withheld": self.withheld,
            "rows": [_plain(row) for row in self.rows],
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat record a row, all of the same fields, in full precision.

        An interval that a row lacks is None in each of its columns. A withheld table has one record, `withheld`, with
        the reason.
        """
        if self.withheld is not None:
            return [{"withheld": self.withheld}]
        records = [_flat(row) for row in self.rows]
        names = dict.fromkeys(name for record in sorted(records, key=len, reverse=True) for name in record)
        return [{name: record.get(name) for name in names} for record in records]

    def to_csv(self) -> str:
        """Return the table as CSV, in full precision; see `to_records`, and of texts `leakscale.csv_text`."""
        records = self.to_records()
        return csv_text([list(records[0]) if records else ["empty"], *(list(each.values()) for each in records)])

    def to_text(self) -> str:
        """Return the table in plain characters."""
        lines = [self.heading]
        if self.withheld is not None:
            return "\n".join([*lines, *_wrapped(f"withheld: {self.withheld}")])
        if self.rows:
            headings, rows = self.cells
            lines += _aligned(list(headings), [list(row) for row in rows])
        return "\n".join([*lines, *_wrapped(self.note)])

    @property
    def cells(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Headings, and the words of each row, as people read them; both empty where there is no row."""
        if not self.rows:
            return (), ()
        fields = [one for one in _fields(self.rows[0]) if any(getattr(row, one.name) != {} for row in self.rows)]
        return tuple(_heading(one.name) for one in fields), tuple(tuple(_shown(row, fields)) for row in self.rows)

    def __str__(self) -> str:
        return self.to_text()


def table_from_dict(head: TableHead, row: type[Any], fields: Mapping[str, Any]) -> Table[Any]:
    """Read what `Table.to_dict` wrote.

    Args:
        head: Of the table.
        row: Class of its rows.
        fields: What was written.

    Raises:
        ValueError, KeyError, TypeError: If it is no such table.
    """
    if fields["name"] != head.name:
        raise ValueError(f"it is table {fields['name']!r}, not {head.name!r}")
    types = get_type_hints(row)
    rows = tuple(row(**{name: _value(kind, each[name]) for name, kind in types.items()}) for each in fields["rows"])
    return Table(head, rows, str(fields["note"]), fields["withheld"])


def _value(kind: Any, written: Any) -> Any:
    """Read one cell: text, number, enumeration, interval, or a tuple of texts."""
    if written is None:
        return None
    if kind in (int, float, str):
        return kind(written)
    if get_origin(kind) is tuple:
        return tuple(map(str, written))
    options = [one for one in get_args(kind) if one is not type(None)] or [kind]
    if options != [kind]:
        return _value(options[0], written)
    return Interval.from_dict(written) if kind is Interval else kind(written)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 80, initial_indent="  ", subsequent_indent="  ")


def _fields(row: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(row)


def _plain(row: Any) -> dict[str, Any]:
    return {one.name: _json_ready(getattr(row, one.name)) for one in _fields(row)}


def _json_ready(value: Any) -> Any:
    if isinstance(value, Interval):
        return value.to_dict()
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _flat(row: Any) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for one in _fields(row):
        value = getattr(row, one.name)
        if isinstance(value, Interval):
            known = value.to_dict()
            record[one.name] = known["estimate"]
            record |= {f"{one.name}_{part}": known[part] for part in ("low", "high", "method", "state")}
        elif isinstance(value, Mapping):
            record |= {f"{one.name}_{name}": each for name, each in value.items()}
        else:
            ready = _json_ready(value)
            record[one.name] = "; ".join(map(str, ready)) if isinstance(ready, list) else ready
    return record


def _shown(row: Any, fields: Iterable[dataclasses.Field[Any]]) -> Iterator[str]:
    for one in fields:
        yield _words(getattr(row, one.name), one.metadata.get(_STYLE, "points"))


def _words(value: Any, style: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, Interval):
        bounds = value.bounds_text.removeprefix("no interval: ")
        return f"{_points(value.estimate)} ({bounds})"
    if isinstance(value, (Fraction, float)):
        share = float(value)
        return {"percent": f"{100 * share:.2f}", "number": f"{share:.4g}"}.get(style) or _points(share)
    if isinstance(value, tuple):
        return str(len(value)) if value else "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{one_line(name)} {_words(each, style)}" for name, each in value.items()) or "-"
    text = one_line(value.value if isinstance(value, enum.Enum) else str(value))
    return text[:_DIGEST_SHOWN] if style == "digest" else text


def _points(share: float) -> str:
    text = f"{100 * share:+.2f}"
    return text[1:] if float(text) == 0 else text


def _heading(name: str) -> str:
    return name.replace("_", " ")


def _aligned(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [list(headings), *map(list, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    is_number = [all(_reads_as_number(row[column]) for row in cells[1:]) for column in range(len(headings))]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ).rstrip()
        for row in cells
    ]


def _reads_as_number(text: str) -> bool:
    return text[:1] in "+-0123456789" and not text[1:2].isalpha()
