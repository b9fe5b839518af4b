"""Add the files that a shape names to its text, so that one text holds all of it.

A shape with explicit fixtures may keep them in files beside it: `sql = "orders.sql"`. The server opens no file of an
author's, so the client reads them and appends a table `[files]`; no line of the author's text moves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.reading import parse_toml

__all__ = ["with_files_beside"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}\.(sql|csv|json)")
"""No folder: a shape file from somebody else must not read what lies elsewhere."""
_BYTES_MAX: Final = 256 * 1024
_CHUNK_CHARACTERS: Final = 160
"""An escaped character takes up to six, and a line of the format has at most 1,000."""


def with_files_beside(toml: str, path: Path, *, source: str) -> str:
    """Return a shape's text with the files that its fixtures name.

    A text that is no TOML, or has its `[files]` already, is returned as it is: what is wrong with it is the server's
    to say.

    Args:
        toml: Text of the shape file.
        path: Where it lies; files are looked for in its folder.
        source: Its name, for messages.

    Raises:
        NotFoundError: If a file that it names is not there.
        InvalidRequestError: If one is no regular file of UTF-8 text in that folder, or too large.
    """
    try:
        data = parse_toml(toml)
    except ValueError:
        return toml
    fields = {name: field for field, name in _named_files(data.get("fixtures"), "fixtures")}
    if not fields or "files" in data:
        return toml
    texts = {
        name: _read(path.parent / name, f"{source}:{_line_of(toml, name)}: {fields[name]}") for name in sorted(fields)
    }
    files = "".join(f"{json.dumps(name)} = {_quote(text)}\n" for name, text in texts.items())
    return f"{toml.rstrip()}\n\n[files]\n{files}"


def _line_of(toml: str, name: str) -> int:
    """Return the 1-based line on which a text names a file, comments aside."""
    numbered = [(number, line.partition("#")[0]) for number, line in enumerate(toml.split("\n"), start=1)]
    return next((number for number, line in numbered if f'"{name}"' in line or f"'{name}'" in line), 1)


def _named_files(fixtures: object, field: str) -> Iterator[tuple[str, str]]:
    """Yield the field and the text of whatever under `fixtures` looks like the name of a file."""
    match fixtures:
        case str() if _NAME.fullmatch(fixtures):
            yield field, fixtures
        case list():
            for index, item in enumerate(fixtures):
                yield from _named_files(item, f"{field}[{index}]")
        case dict():
            for key, item in fixtures.items():
                yield from _named_files(item, f"{field}.{key}")


def _read(path: Path, subject: str) -> str:
    if not path.exists():
        if path.is_symlink():
            raise InvalidRequestError(f"{subject}: '{path.name}' is a link to nothing; put a copy in its place")
        raise NotFoundError(f"{subject}: file '{path.name}' does not exist beside it; put it there or correct its name")
    if not path.is_file():
        raise InvalidRequestError(f"{subject}: '{path.name}' is not a regular file; put one in its place")
    # A shape and its files may come from somebody else, links included: what lies elsewhere is not theirs to read.
    if path.resolve().parent != path.parent.resolve():
        raise InvalidRequestError(
            f"{subject}: '{path.name}' is a link that leads out of the shape's folder; put a copy in its place"
        )
    try:
        with path.open("rb") as file:
            content = file.read(_BYTES_MAX + 1)
    except OSError as error:
        said = error.strerror or str(error)
        raise InvalidRequestError(f"{subject}: '{path.name}' cannot be read: {said}; check its permissions") from error
    if len(content) > _BYTES_MAX:
        rule = f"is larger than {_BYTES_MAX:,} bytes; shorten it"
        raise InvalidRequestError(f"{subject}: '{path.name}' {rule}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequestError(
            f"{subject}: '{path.name}': byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from error


def _quote(text: str) -> str:
    """Write a text as a multi-line basic string of TOML, in short lines.

    A backslash at the end of a line swallows the white space that follows, so that of the text is escaped.
    """
    chunks = (text[start : start + _CHUNK_CHARACTERS] for start in range(0, len(text), _CHUNK_CHARACTERS))
    return '"""\\\n' + "".join(f"{_escape(chunk)}\\\n" for chunk in chunks) + '"""'


def _escape(chunk: str) -> str:
    """Escape what TOML reads as more than itself: what JSON escapes, DEL, and white space that begins a line."""
    escaped = json.dumps(chunk, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")
    lead = len(escaped) - len(escaped.lstrip(" "))
    return "\\u0020" * lead + escaped[lead:]
