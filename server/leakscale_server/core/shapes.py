"""Read a shape file, or say which line of it is wrong and why."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from pydantic import ValidationError

from leakscale_server.core.checks.shape_checks import find_problems
from leakscale_server.core.format.locations import Lines, Path, find_lines
from leakscale_server.core.format.problems import Phrase, Problem
from leakscale_server.core.format.rules import broken_rules, show
from leakscale_server.core.format.schema import Shape

__all__ = ["Shape", "ShapeError", "parse_shape"]

FILE_BYTES_MAX = 262_144
LINE_CHARACTERS_MAX = 1_000
"""`tomllib` takes time in the square of a dotted key's length: seconds for one of 40,000 characters."""

Toml: TypeAlias = "Mapping[str, Toml] | Sequence[Toml] | object"


class ShapeError(ValueError):
    """A shape file breaks a rule of the format.

    Args:
        file: Where the text came from, as the author named it.
        line: 1-based.
        field: Dotted path of the field, e.g. `tables[0].columns[1].high`; empty for the file as a whole.
        rule: What must hold.
        value: What stands there instead, shortened; empty of an empty file.
    """

    def __init__(self, *, file: str, line: int, field: str, rule: str, value: str) -> None:
        subject = f"{field}: " if field else ""
        found = f"; got {value}" if value else ""
        super().__init__(f"{file}:{line}: {subject}{rule}{found}")
        self.file = file
        self.line = line
        self.field = field
        self.rule = rule
        self.value = value


def parse_shape(text: str, *, source: str) -> Shape:
    """Read one shape; nothing in it is executed.

    Args:
        text: TOML, at most 256 KiB with the files that it names. A byte order mark in front is no part of it.
        source: Name of the file, for error messages.

    Raises:
        ShapeError: For the first broken rule: syntax first, then single fields, then rules between fields.
    """
    text = text.removeprefix("\ufeff")
    _require_size(text, source)
    data = _load(text, source)
    lines = find_lines(text)
    if not data:
        raise ShapeError(file=source, line=1, field="", rule="must hold a shape; the file is empty", value="")
    try:
        shape = Shape.model_validate(data)
    except ValidationError as error:
        found = broken_rules(error.errors(), data)
        raise _error(source, lines, min(found, key=lambda each: _line(each, lines))) from None
    problem = min(find_problems(shape), key=lambda each: _line(each, lines), default=None)
    if problem is not None:
        raise _error(source, lines, problem)
    return shape


def _require_size(text: str, source: str) -> None:
    byte_count = len(text.encode(errors="replace"))
    if byte_count > FILE_BYTES_MAX:
        rule = f"must have at most {FILE_BYTES_MAX} bytes"
        raise ShapeError(file=source, line=1, field="", rule=rule, value=str(byte_count))
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LINE_CHARACTERS_MAX:
            rule = f"must have at most {LINE_CHARACTERS_MAX} characters in a line"
            raise ShapeError(file=source, line=number, field="", rule=rule, value=str(len(line)))


def _load(text: str, source: str) -> Toml:
    """Parse TOML, keeping decimals exact."""
    try:
        return _freeze(tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        written = text.split("\n")
        line = int(place[1]) if place else max(1, len(written) - 1)
        found = show(Phrase(written[line - 1].strip() or "an empty line"))
        raise ShapeError(
            file=source, line=line, field="", rule=f"must be TOML: {_syntax(error)}", value=found
        ) from None
    except (ValueError, ArithmeticError, RecursionError):
        raise ShapeError(file=source, line=1, field="", rule="must be TOML: it cannot be parsed", value="") from None


def _freeze(value: Toml) -> Toml:
    """Turn arrays into tuples: the strict types of the format take no list."""
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    return value


def _syntax(error: tomllib.TOMLDecodeError) -> str:
    """Return what the parser says, in this format's style; the line is said already."""
    said = re.sub(r"\(at line \d+, column (\d+)\)", r"(at column \1)", str(error))
    return said[:1].lower() + said[1:]


def _line(problem: Problem, lines: Lines) -> int:
    return lines.of(problem.path, text_line=problem.text_line)


def _error(source: str, lines: Lines, problem: Problem) -> ShapeError:
    shown = "nothing" if problem.value is None else show(problem.value)
    return ShapeError(
        file=source, line=_line(problem, lines), field=_dotted(problem.path), rule=problem.rule, value=shown
    )


def _dotted(path: Path) -> str:
    """Write a path as an author would; a quoted key is shown quoted, so that it cannot break the message's line."""
    parts = (part if isinstance(part, int) or re.fullmatch(r"[A-Za-z0-9_-]+", part) else show(part) for part in path)
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")
