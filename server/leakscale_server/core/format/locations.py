"""Which line of a TOML text a value stands on.

`tomllib` gives lines for syntax errors only. This finds table headers and keys by their lines, which is all that an
error message needs: a place in a multi-line string is reported on the line of the file where it stands, also where the
string is one of an inline table or of an array with one string after the other; any other value inside an inline table
or array on the line where that one begins.
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
_OPENING_ALONE = re.compile(r"(?:([A-Za-z0-9_\-\"']+)\s*=\s*)?(\"{3}|'{3})\s*$")
"""A multi-line string that begins on the next line, for the line end right after the quotes is no part of it."""


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
    array: Path | None = None
    for first, written in _statements(text):
        if header := _HEADER.match(written[0]):
            table, array = _open_table(header[2], array_lengths, is_array=header[1] == "[["), None
            for length in range(1, len(table) + 1):
                lines.starts.setdefault(table[:length], first)
        elif key := _KEY.match(written[0]):
            path = (*table, *_split(key[1]))
            lines.starts.setdefault(path, first)
            _find_texts(lines, path, first, written)
            array = (*path, 0) if key[2].strip() == "[" else None
        elif array is not None and written[0].lstrip().startswith(_FENCES):
            lines.starts[array] = first
            _find_texts(lines, array, first, written)
            array = (*array[:-1], int(array[-1]) + 1)
    return lines


def _find_texts(lines: Lines, path: Path, first: int, written: list[str]) -> None:
    """Find the lines of the multi-line strings in a value: the value itself, or those of an inline table."""
    if len(written) == 1:
        return
    lines.texts.setdefault(path, range(first + (_OPENING_ALONE.search(written[0]) is not None), first + len(written)))
    for number, line in enumerate(written[:-1]):
        opened = _OPENING_ALONE.search(line)
        if opened and opened[1] and (number > 0 or "{" in line):
            closing = next((at for at in range(number + 1, len(written)) if opened[2] in written[at]), len(written) - 1)
            inner = (*path, opened[1].strip("\"'"))
            lines.starts.setdefault(inner, first + number)
            lines.texts.setdefault(inner, range(first + number + 1, first + closing + 1))


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines outside multi-line strings, each with its number and those that strings begun on it take."""
    fence = ""
    held: list[str] = []
    number = 0
    for number, line in enumerate(text.splitlines(), start=1):
        held.append(line)
        fence = _fence_behind(line, fence)
        if not fence:
            yield number - len(held) + 1, held
            held = []
    if held:
        yield number - len(held) + 1, held


def _fence_behind(line: str, fence: str) -> str:
    """Return the quotes of the multi-line string that is open at the end of a line; none if there is none.

    Args:
        line: One line of a TOML text.
        fence: The quotes of the one that is open at its beginning.
    """
    if not fence and line.lstrip().startswith("#"):
        return ""
    while True:
        places = [(place, each) for each in ((fence,) if fence else _FENCES) if (place := line.find(each)) >= 0]
        if not places:
            return fence
        place, found = min(places)
        line, fence = line[place + len(found) :], "" if fence else found


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
