"""Which line of a TOML text a value stands on.

`tomllib` gives lines for syntax errors only. This finds table headers and keys by their lines, which is all that an
error message needs: a value inside an inline table or array is reported on the line where that one begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["Path", "find_lines", "line_of"]

Path = tuple[str | int, ...]
"""Keys and array indices from the top of the file to a value."""

_HEADER = re.compile(r"\s*(\[\[|\[)\s*([A-Za-z0-9_.\- \"']+?)\s*(\]\]|\])")
_KEY = re.compile(r"\s*([A-Za-z0-9_\-\"'.]+)\s*=\s*(.*)")
_FENCES = ('"""', "'''")


def find_lines(text: str) -> dict[Path, int]:
    """Map the path of every table and key to its 1-based line."""
    lines: dict[Path, int] = {(): 1}
    array_lengths: dict[Path, int] = {}
    table: Path = ()
    for number, line in _statements(text):
        if header := _HEADER.match(line):
            table = _open_table(header[2], array_lengths, is_array=header[1] == "[[")
            for length in range(1, len(table) + 1):
                lines.setdefault(table[:length], number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_split(key[1])), number)
    return lines


def line_of(path: Path, lines: dict[Path, int]) -> int:
    """Return the line of the value at `path`, or of the nearest thing that holds it."""
    while path not in lines:
        path = path[:-1]
    return lines[path]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside multi-line strings, so that a program's text is not read as TOML."""
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if fence:
            if fence in line:
                fence = ""
            continue
        yield number, line
        fence = next((each for each in _FENCES if line.count(each) == 1), "")


def _open_table(name: str, array_lengths: dict[Path, int], *, is_array: bool) -> Path:
    """Resolve a header to a path; a dotted name goes through the latest element of each array on its way."""
    path: Path = ()
    parts = _split(name)
    for place, part in enumerate(parts):
        path = (*path, part)
        if is_array and place == len(parts) - 1:
            array_lengths[path] = array_lengths.get(path, 0) + 1
        if path in array_lengths:
            path = (*path, array_lengths[path] - 1)
    return path


def _split(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in name.split("."))
