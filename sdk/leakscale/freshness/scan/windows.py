"""Folded text as it passes: each place is looked at once, with enough of what stands around it.

Of each piece the end is held back until the next one came, and as much of what was looked at before is kept, so that
neither a match nor the words beside it are cut. That is all that is kept of a stream.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from leakscale.freshness.scan.folding import Folded, fold
from leakscale.freshness.scan.reading import Batch
from leakscale.freshness.scan.tally import Place

__all__ = ["Window", "windows_of_batch", "windows_of_stream"]

_RECORD_END = b"\0"


@dataclass(frozen=True, slots=True)
class Window:
    """Folded text, and which part of it is to be looked at."""

    content: bytes
    first: int
    """A match is taken if it starts here or later, ..."""
    last: int
    """... and before this."""
    _place: Callable[[int], Place]
    _reach: int

    def place(self, index: int) -> Place:
        """Tell where a byte of the content stands in the corpus."""
        return self._place(index)

    def around(self, start: int, end: int) -> bytes:
        """Return what stands within reach of a match, in its own record."""
        low = max(0, start - self._reach, self.content.rfind(_RECORD_END, max(0, start - self._reach), start) + 1)
        high = self.content.find(_RECORD_END, end, end + self._reach)
        return self.content[low : end + self._reach if high < 0 else high]


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a stream as it stands in a window."""

    folded: Folded
    start: int
    """Of its first byte in the window; negative where its beginning is no longer kept."""
    offset: int
    """Bytes of the file before it."""
    lines: int
    """Line feeds before it."""


def windows_of_stream(pieces: Iterable[bytes], *, file: str, reach: int) -> Iterator[Window]:
    """Yield a text that comes in pieces.

    Args:
        pieces: Cut at safe places.
        file: Name of it.
        reach: Bytes of folded text on both sides of a match that are looked at; at least the longest match.
    """
    parts: list[_Part] = []
    content, first, offset, lines = b" ", 0, 0, 0
    for raw in pieces:
        folded = fold(raw, after_space=content.endswith(b" "))
        parts.append(_Part(folded, len(content), offset, lines))
        content += folded.content
        offset, lines = offset + len(raw), lines + raw.count(b"\n")
        last = max(first, len(content) - reach)
        yield Window(content, first, last, _in_stream(tuple(parts), file), reach)
        gone = max(0, last - reach)
        content, first = content[gone:], last - gone
        parts = [
            _Part(part.folded, part.start - gone, part.offset, part.lines)
            for part in parts
            if part.start - gone + len(part.folded.content) > 0
        ]
    yield Window(content + b" ", first, len(content), _in_stream(tuple(parts), file), reach)


def windows_of_batch(batch: Batch, *, file: str, reach: int) -> Iterator[Window]:
    """Yield records that come together."""
    content = fold(batch.raw, after_space=False, with_records=True).content
    ends: list[int] = np.flatnonzero(np.frombuffer(content, np.uint8) == 0).tolist()

    def place(index: int) -> Place:
        which = bisect_left(ends, index)
        return Place(file, batch.numbers[which], batch.offsets[which] if batch.offsets is not None else None)

    yield Window(content, 0, len(content), place, reach)


def _in_stream(parts: tuple[_Part, ...], file: str) -> Callable[[int], Place]:
    def place(index: int) -> Place:
        part = next(part for part in reversed(parts) if part.start <= index)
        origin = part.folded.origin(index - part.start)
        return Place(file, part.lines + part.folded.line(origin) + 1, part.offset + origin)

    return place
