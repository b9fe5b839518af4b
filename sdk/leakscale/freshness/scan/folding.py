"""One form for all spellings of a text, so that layout, case and markup hide no copy.

A text is folded to its words with one space between: NFKC, case folded, characters that nobody sees taken out, and
every run of anything but letters, digits, marks and `_` made one space. `K-7F3A91C2` and `k 7f3a91c2` are one.

Boundaries before an ASCII character are safe: no such character joins what stands before it, so a text that is cut
there and folded in parts gives what it gives as a whole. Plain ASCII takes a shorter way to the same bytes.
It does not see through look-alikes of other scripts, other encodings than UTF-8, or words torn by hyphens.
"""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["RECORD_END", "Folded", "fold", "fold_text", "safe_pieces"]

RECORD_END: Final = "\0"
"""Between two records that are folded together; stays, so that no match reaches over it."""
_SPACE: Final = 0x20
_WORD, _SEPARATOR, _UNSEEN = 1, 0, 2
_SEGMENT: Final = re.compile("[\0-\x7f]?[^\0-\x7f]+")
"""What is normalized as one: characters past ASCII, and the one before, which they may join."""
_UNSEEN_MARKS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x034F, 0x0350))
"""Variation selectors and the grapheme joiner: category M, and nothing to see."""
_ASSIGNED: Final = (range(0x80, 0x34000), range(0xE0000, 0xE1000))
"""All that is a letter, a digit, a mark or unseen; what Unicode assigns nothing to separates words."""
_TAIL_BYTES: Final = 4096
_RUN_BYTES_MAX: Final = 4 << 20
_RUN_BYTES: Final = 64
"""With fewer bytes than this a run past ASCII, a text is folded as a whole; else run by run."""
_SPACES: Final = "leakscale-spaces"
"""Name of what decodes bytes that are no text."""


def _ascii_table(*, with_records: bool) -> bytes:
    table = bytearray(b" " * 128 + bytes(range(128, 256)))
    for code in range(128):
        if chr(code).isalnum() or chr(code) == "_":
            table[code] = ord(chr(code).lower())
    if with_records:
        table[0] = 0
    return bytes(table)


_STREAM_TABLE: Final = _ascii_table(with_records=False)
_RECORD_TABLE: Final = _ascii_table(with_records=True)


@dataclass(slots=True, eq=False)
class Folded:
    """A piece of text in its folded form, and where each byte of that came from."""

    raw: bytes
    content: bytes
    """Folded; no two spaces in a row."""
    _kept: NDArray[np.bool_]
    """Which bytes of the form before spaces were joined are in `content`."""
    _origins: NDArray[np.int64] | None = None
    _lines: list[int] | None = None

    def origin(self, index: int) -> int:
        """Return the byte of `raw` from which a byte of `content` came."""
        if self._origins is None:
            self._origins = _origins(self.raw)[self._kept]
        return int(self._origins[index])

    def line(self, origin: int) -> int:
        """Return how many line feeds of `raw` stand before a byte of it."""
        if self._lines is None:
            self._lines = np.flatnonzero(np.frombuffer(self.raw, np.uint8) == ord("\n")).tolist()
        return bisect_left(self._lines, origin)


def fold(raw: bytes, *, after_space: bool, with_records: bool = False) -> Folded:
    """Fold a piece of a text in UTF-8; bytes that are none separate words.

    Args:
        raw: Starts at a safe boundary.
        after_space: Whether what was folded before ends in a space.
        with_records: Whether `RECORD_END` stands for the end of a record; else it separates words.
    """
    spread = np.frombuffer(_spread(raw, _RECORD_TABLE if with_records else _STREAM_TABLE), np.uint8)
    spaces = spread == _SPACE
    kept = np.empty(spread.size, np.bool_)
    if spread.size:
        kept[0] = not (after_space and spaces[0])
        np.logical_not(spaces[1:] & spaces[:-1], out=kept[1:])
    return Folded(raw, spread[kept].tobytes(), kept)


def fold_text(text: str) -> bytes:
    """Return the words of a short text with a space before, between and after them."""
    return b" " + fold(text.encode("utf-8", "surrogatepass"), after_space=True).content.rstrip() + b" "


def safe_pieces(reads: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a text that comes in reads of any size at safe boundaries.

    A run of 4 MiB without any ASCII is cut between two characters; a mark that joins the one before then stands alone.
    """
    rest = b""
    for read in reads:
        rest += read
        cut = _safe_cut(rest)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    yield rest


def _safe_cut(raw: bytes) -> int:
    """Return the place before the last ASCII character; 0 where nothing stands before it."""
    view = np.frombuffer(raw, np.uint8)
    for part in (view[-_TAIL_BYTES:], view):
        plain = np.flatnonzero(part < 0x80)
        if plain.size and (cut := view.size - part.size + int(plain[-1])):
            return cut
    if view.size < _RUN_BYTES_MAX:
        return 0
    return int(np.flatnonzero((view & 0xC0) != 0x80)[-1]) or view.size


def _spread(raw: bytes, table: bytes) -> bytes:
    """Fold without joining spaces."""
    plain = raw.translate(table)
    if raw.isascii():
        return plain
    starts, ends = _runs(raw)
    if starts.size * _RUN_BYTES > len(raw):
        return _spread_characters(_decoded(raw)).translate(table)
    parts: list[bytes] = []
    at = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        parts += (plain[at:start], _spread_run(raw[start:end], table))
        at = end
    return b"".join((*parts, plain[at:]))


def _runs(raw: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where runs past ASCII start and end, each with the one byte of ASCII before, which it may join."""
    places = np.flatnonzero(np.frombuffer(raw, np.uint8) >= 0x80)
    breaks = np.flatnonzero(np.diff(places) > 1)
    starts = places[np.concatenate(([0], breaks + 1))]
    return np.maximum(starts - 1, 0), places[np.concatenate((breaks, [places.size - 1]))] + 1


@functools.lru_cache(maxsize=1 << 14)
def _spread_run(raw: bytes, table: bytes) -> bytes:
    return _spread_characters(_decoded(raw)).translate(table)


def _spread_characters(text: str) -> bytes:
    """Fold characters past ASCII, and leave ASCII but for its case as it is."""
    normal = text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)
    folded = normal.casefold()
    codes = np.frombuffer(folded.encode("utf-32-le"), np.uint32)
    classes = _classes()[codes]
    if not (classes == _WORD).all():
        codes = np.where(classes == _SEPARATOR, np.uint32(_SPACE), codes)[classes != _UNSEEN]
    return codes.tobytes().decode("utf-32-le").encode()


def _origins(raw: bytes) -> NDArray[np.int64]:
    """Return the byte of `raw` from which each byte of its form came, before spaces were joined."""
    if raw.isascii():
        return np.arange(len(raw))
    text = _decoded(raw)
    starts = np.concatenate(([0], np.cumsum(_raw_lengths(text))))
    places: list[int] = []
    lengths: list[int] = []
    at = 0
    for segment in _SEGMENT.finditer(text):
        places += range(at, segment.start())
        lengths += [1] * (segment.start() - at)
        places.append(segment.start())
        lengths.append(len(_spread_characters(segment[0])))
        at = segment.end()
    places += range(at, len(text))
    lengths += [1] * (len(text) - at)
    return np.asarray(np.repeat(starts[np.array(places, np.int64)], lengths), np.int64)


def _raw_lengths(text: str) -> NDArray[np.int64]:
    """Return how many bytes of UTF-8 each character was made of."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    return 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)


def _decoded(raw: bytes) -> str:
    """Decode, with a space for each byte that is no UTF-8."""
    return raw.decode("utf-8", _SPACES)


def _spaces(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return " " * (error.end - error.start), error.end


codecs.register_error(_SPACES, _spaces)


@functools.cache
def _classes() -> NDArray[np.uint8]:
    """Return for each code point whether it is part of a word, separates words, or is not seen."""
    of_category = {"L": _WORD, "N": _WORD, "M": _WORD, "Cf": _UNSEEN}
    classes = np.full(0x110000, _SEPARATOR, np.uint8)
    for block in _ASSIGNED:
        for code, category in zip(block, map(unicodedata.category, map(chr, block)), strict=True):
            classes[code] = of_category.get(category, of_category.get(category[0], _SEPARATOR))
    for marks in _UNSEEN_MARKS:
        classes[marks.start : marks.stop] = _UNSEEN
    classes[:128] = _WORD  # ASCII is the table's
    return classes
