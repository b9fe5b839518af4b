"""Scan a corpus for an edition: files one after the other, each place looked at once."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from leakscale.freshness.scan.markers import MARKER_FORMS, marker_at
from leakscale.freshness.scan.matching import Match, Matcher
from leakscale.freshness.scan.needles import Kind, Needle, Needles
from leakscale.freshness.scan.reading import CorpusFile
from leakscale.freshness.scan.tally import Encounter, Tally
from leakscale.freshness.scan.windows import Window, windows_of_batch, windows_of_stream

__all__ = ["REACH_BYTES", "Scanned", "Unread", "encounters", "matcher_of", "scan_corpus"]

REACH_BYTES: Final = 512
"""Of folded text on each side: what counts as beside."""
_UNREADABLE: Final = (OSError, EOFError, ValueError, OverflowError, RecursionError, lzma.LZMAError, zlib.error)
"""What a damaged or missing file raises; pyarrow's errors are among them."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was not read to its end."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a corpus holds of an edition."""

    tally: Tally
    file_count: int
    byte_count: int
    """Read, after unpacking."""
    unread: tuple[Unread, ...]


def scan_corpus(
    files: Iterable[CorpusFile],
    needles: Needles,
    *,
    on_encounter: Callable[[Encounter], None] = lambda _: None,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Scanned:
    """Look for an edition in files.

    Args:
        files: Of the corpus.
        needles: What to look for.
        on_encounter: Is told of each place as it is met.
        on_bytes: Is told now and then how many bytes were read so far.

    A file that cannot be read to its end is named in the result, and counts with what was read of it.
    """
    tally, matcher, read, unread = Tally(), matcher_of(needles), _Read(on_bytes), []
    reach, file_count = max(REACH_BYTES, matcher.length_max), 0
    for file in files:
        file_count += 1
        try:
            for one in encounters(_windows(file, read, reach=reach), needles, matcher):
                tally.add(one)
                on_encounter(one)
        except _UNREADABLE as error:
            unread.append(Unread(file.name, " ".join(str(error).split()) or type(error).__name__))
    return Scanned(tally, file_count, read.byte_count, tuple(unread))


def encounters(windows: Iterable[Window], needles: Needles, matcher: Matcher) -> Iterator[Encounter]:
    """Yield what a file holds of an edition, in order."""
    for window in windows:
        for match in matcher.matches(window.content):
            if window.first <= match.start < window.last:
                found = _marker if match.form in MARKER_FORMS else _edition
                if (one := found(window, match, needles)) is not None:
                    yield one


def matcher_of(needles: Needles) -> Matcher:
    """Build what finds an edition's needles, and the beginnings of markers."""
    return Matcher((*needles.by_form, *MARKER_FORMS))


class _Read:
    """Counts what was read."""

    def __init__(self, on_bytes: Callable[[int], None]) -> None:
        self.byte_count = 0
        self._on_bytes = on_bytes

    def add(self, content: bytes) -> bytes:
        self.byte_count += len(content)
        self._on_bytes(self.byte_count)
        return content


def _windows(file: CorpusFile, read: _Read, *, reach: int) -> Iterator[Window]:
    if not file.has_records:
        yield from windows_of_stream(map(read.add, file.stream()), file=file.name, reach=reach)
        return
    for batch in file.batches():
        read.add(batch.raw)
        yield from windows_of_batch(batch, file=file.name, reach=reach)


def _edition(window: Window, match: Match, needles: Needles) -> Encounter | None:
    needle = needles.by_form[match.form]
    is_evidence = True
    values: tuple[str, ...] = ()
    if needle.kind is Kind.HANDLE:
        is_evidence = _is_in_company(window, match, needle, needles)
    elif needle.kind is Kind.KEY:
        values = _values(window, match, needle, needles)
    # The form starts with a space, which may stand for none.
    place = window.place(match.start + 1)
    return Encounter(needle.kind, needle.text, needle.families, place, is_evidence, values)


def _is_in_company(window: Window, match: Match, needle: Needle, needles: Needles) -> bool:
    """Tell whether a handle stands beside its family's key or another handle of it."""
    around = window.around(match.start, match.end)
    companions = {form for family in needle.families for form in (needles.keys[family], *needles.handles[family])} - {
        match.form
    }
    return any(form in around for form in companions)


def _values(window: Window, match: Match, needle: Needle, needles: Needles) -> tuple[str, ...]:
    around = window.around(match.start, match.end)
    found = {text for family in needle.families for text, form in needles.values[family] if form in around}
    return tuple(sorted(found))


def _marker(window: Window, match: Match, needles: Needles) -> Encounter | None:
    found = marker_at(window.content, match.end, match.form)
    if found is None:
        return None
    kind, text, form = found
    if form in needles.by_form:
        return None  # a key of the edition, which is met as such
    return Encounter(kind, text, (), window.place(match.start + 1), is_evidence=False)
