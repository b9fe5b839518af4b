"""Which line of a TOML text a value stands on.

`tomllib` gives lines for syntax errors only. This finds table headers and keys by their lines, which is all that an
error message needs: a value inside an inline table or array is reported on the line where that one begins, and a place
in a multi-line string on the line of the file where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Lines", "Path", "find_lines"]

Path = tuple[str | int, ...]
"""Keys and array indices from the top of the file to a value."""

_HEADER = re.compile(r"\s*(\[\[|\[)\s*([A-Za-z0-9_.\- \"']+?)\s*(\]\]|\])")
_KEY = re.compile(r"\s*([A-Za-z0-9_\-\"'.]+)\s*=\s*(.*)")
_FENCES = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file, 1-based."""

    starts: dict[Path, int] = field(default_factory=lambda: {(): 1})
    """Where each table and key begins."""
    texts: dict[Path, range] = field(default_factory=dict)
    """Which lines the text of each multi-line string takes."""

    def of(self, path: Path, *, text_line: int = 0) -> int:
        """Return the line of the value at `path`, or of the nearest thing that holds it.

        Args:
            path: Keys and indices; what lies in an inline table or array has no line of its own.
            text_line: 0-based line within a multi-line string. Escapes of a line's end in the string shift it; it stays
                among the string's lines.
        """
        while path not in self.starts:
            path = path[:-1]
        text = self.texts.get(path)
        return text[min(text_line, len(text) - 1)] if text else self.starts[path]


def find_lines(text: str) -> Lines:
    """Find the line of every table and key."""
    lines = Lines()
    array_lengths: dict[Path, int] = {}
    table: Path = ()
    for taken, line in _statements(text):
        if header := _HEADER.match(line):
            table = _open_table(header[2], array_lengths, is_array=header[1] == "[[")
            for length in range(1, len(table) + 1):
                lines.starts.setdefault(table[:length], taken.start)
        elif key := _KEY.match(line):
            path = (*table, *_split(key[1]))
            lines.starts.setdefault(path, taken.start)
            if len(taken) > 1:
                # The line end right after the opening quotes is no part of the string.
                is_opening_alone = key[2].strip() in _FENCES
                lines.texts.setdefault(path, taken[is_opening_alone:])
    return lines


def _statements(text: str) -> Iterator[tuple[range, str]]:
    """Yield the lines outside multi-line strings, each with all the lines that a string begun on it takes."""
    fence, first, opening = "", 0, ""
    number = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if fence:
            if fence not in line:
                continue
            fence = ""
            yield range(first, number + 1), opening
            continue
        fence = next((each for each in _FENCES if line.count(each) == 1), "")
        if fence:
            first, opening = number, line
        else:
            yield range(number, number + 1), line
    if fence:
        yield range(first, number + 1), opening


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
