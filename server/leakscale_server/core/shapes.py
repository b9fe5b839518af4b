"""Read a shape file, or say which line of it is wrong and why."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from leakscale_server.core.checks import find_problems
from leakscale_server.core.locations import Path, find_lines, line_of
from leakscale_server.core.schema import Shape

__all__ = ["Shape", "ShapeError", "parse_shape"]

FILE_BYTES_MAX = 65_536
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
        value: What stands there instead, shortened; empty if nothing does.
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
        text: TOML, at most 64 KiB.
        source: Name of the file, for error messages.

    Raises:
        ShapeError: For the first broken rule: syntax first, then single fields, then rules between fields.
    """
    _require_size(text, source)
    data = _load(text, source)
    lines = find_lines(text)
    try:
        shape = Shape.model_validate(data)
    except ValidationError as error:
        found = [(_resolve(detail["loc"], data), detail) for detail in error.errors()]
        path, detail = min(found, key=lambda each: line_of(each[0], lines))
        raise _error(source, lines, path, rule=_rule(detail), value=_shorten(detail)) from None
    problem = min(find_problems(shape), key=lambda each: line_of(each.path, lines), default=None)
    if problem is not None:
        shown = "" if problem.value is None else _clip(problem.value)
        raise _error(source, lines, problem.path, rule=problem.rule, value=shown)
    return shape


def _require_size(text: str, source: str) -> None:
    if len(text.encode(errors="replace")) > FILE_BYTES_MAX:
        raise ShapeError(file=source, line=1, field="", rule=f"a shape has at most {FILE_BYTES_MAX} bytes", value="")
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LINE_CHARACTERS_MAX:
            rule = f"a line has at most {LINE_CHARACTERS_MAX} characters"
            raise ShapeError(file=source, line=number, field="", rule=rule, value=str(len(line)))


def _load(text: str, source: str) -> Toml:
    """Parse TOML, keeping decimals exact."""
    try:
        return _freeze(tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line = int(place[1]) if place else max(1, text.count("\n"))
        raise ShapeError(file=source, line=line, field="", rule=f"not TOML: {error}", value="") from None
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise ShapeError(file=source, line=1, field="", rule=f"not TOML: {type(error).__name__}", value="") from None


def _freeze(value: Toml) -> Toml:
    """Turn arrays into tuples: the strict types of the format take no list."""
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    return value


def _resolve(location: tuple[str | int, ...], data: object) -> Path:
    """Keep the parts of a validation location that are keys or indices of the file; drop the tags of unions."""
    path: Path = ()
    here = data
    for place, part in enumerate(location):
        if isinstance(here, dict):
            is_found = part in here
        else:
            is_found = isinstance(here, tuple) and isinstance(part, int) and part < len(here)
        if is_found:
            here = here[part]  # type: ignore[index]
        if is_found or (isinstance(here, dict) and place == len(location) - 1):
            path = (*path, part)
    return path


def _rule(detail: ErrorDetails) -> str:
    """Say what must hold, in the words of the format rather than of the validator."""
    match detail["type"]:
        case "missing":
            return "has too few values" if isinstance(detail["loc"][-1], int) else "is required"
        case "extra_forbidden":
            return "is not a field of the format"
        case "union_tag_not_found":
            return f"needs {detail['ctx']['discriminator']}"
        case "union_tag_invalid":
            return f"{detail['ctx']['discriminator']} must be one of {detail['ctx']['expected_tags']}"
        case _:
            return re.sub(r"^[A-Z][a-z]*( input)? should ", "must ", detail["msg"]).replace(" after validation", "")


def _shorten(detail: ErrorDetails) -> str:
    return "" if detail["type"] == "missing" else _clip(detail["input"])


def _clip(value: object) -> str:
    shown = str(value) if isinstance(value, Decimal) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _error(source: str, lines: dict[Path, int], path: Path, *, rule: str, value: str) -> ShapeError:
    return ShapeError(file=source, line=line_of(path, lines), field=_dotted(path), rule=rule, value=value)


def _dotted(path: Path) -> str:
    """Write a path as an author would; a quoted key is shown quoted, so that it cannot break the message's line."""
    parts = (part if isinstance(part, int) or re.fullmatch(r"[A-Za-z0-9_-]+", part) else repr(part) for part in path)
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")
