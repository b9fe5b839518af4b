"""A training corpus as pieces of memory: text in streams, JSON lines and Parquet in batches of records.

| name ends in | read as | a record is |
|---|---|---|
| `.jsonl`, `.ndjson` | JSON values, one a line: their strings, names and numbers | a line |
| `.parquet` | rows likewise | a row |
| `.json` | text in which an escape separates words | a line |
| anything else | text in UTF-8 | a line |

`.gz`, `.zst`, `.bz2`, `.xz` after any of these but Parquet, which compresses itself. Archives such as `.tar` are text
with their headers in between; `.zip` and `.7z` are not opened.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from leakscale.errors import NotFoundError
from leakscale.freshness.scan.folding import RECORD_END, safe_pieces

__all__ = ["Batch", "CorpusFile", "corpus_files"]

_PIECE_BYTES: Final = 1 << 20
_BATCH_RECORDS: Final = 4096
_ROWS: Final = 512
_LINE_BYTES_MAX: Final = 64 << 20
_LINES: Final = frozenset({".jsonl", ".ndjson"})
_CLOSED: Final = frozenset({".zip", ".7z", ".rar"})
_ESCAPES: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that are folded together, each closed by `RECORD_END`."""

    raw: bytes
    numbers: tuple[int, ...]
    """Line or row of each, from 1."""
    offsets: tuple[int, ...] | None
    """Byte of the uncompressed file at which each line starts; None where records are rows."""


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus."""

    path: Path
    name: str
    """As messages name it: below the folder that was given."""

    @property
    def has_records(self) -> bool:
        """Tell whether it comes in batches of records, not as a stream of text."""
        return self._kind in _LINES or self._kind == ".parquet"

    def stream(self) -> Iterator[bytes]:
        """Yield a text in pieces that are cut at safe places.

        Raises:
            OSError, EOFError, lzma.LZMAError: If it cannot be read to its end.
        """
        with self._opened() as file:
            for piece in safe_pieces(iter(lambda: file.read(_PIECE_BYTES), b"")):
                yield self._readable(piece)

    def batches(self) -> Iterator[Batch]:
        """Yield records in batches.

        Raises:
            OSError, EOFError, lzma.LZMAError, ValueError: If it cannot be read to its end.
        """
        yield from _rows(self.path) if self._kind == ".parquet" else self._lines()

    @property
    def _kind(self) -> str:
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        if suffixes and suffixes[-1] in _OPENERS:
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    def _opened(self) -> BinaryIO:
        ending = self.path.suffix.lower()
        if ending in _CLOSED:
            raise ValueError("archives of this kind are not opened; unpack it")
        return _OPENERS.get(ending, _plain)(self.path)

    def _readable(self, raw: bytes) -> bytes:
        """Blank the escapes of JSON, so that every other byte keeps its place."""
        return _ESCAPES.sub(lambda match: b" " * len(match[0]), raw) if self._kind == ".json" and b"\\" in raw else raw

    def _lines(self) -> Iterator[Batch]:
        gathered = _Gathered(with_offsets=True)
        with self._opened() as file:
            offset = number = 0
            while line := file.readline(_LINE_BYTES_MAX + 1):
                if len(line) > _LINE_BYTES_MAX:
                    raise ValueError(f"line {number + 1} is longer than {_LINE_BYTES_MAX >> 20} MiB")
                number += 1
                gathered.add(_text_of_line(line), number, offset)
                offset += len(line)
                if gathered.is_full:
                    yield gathered.taken()
        yield gathered.taken()


def corpus_files(paths: Iterable[Path]) -> tuple[CorpusFile, ...]:
    """Return every regular file of a corpus; folders are walked in the order of names, links to folders left alone.

    Raises:
        NotFoundError: If a path does not exist.
    """
    found: list[CorpusFile] = []
    for path in paths:
        if path.is_file():
            found.append(CorpusFile(path, path.name))
        elif path.is_dir():
            found += (CorpusFile(each, each.relative_to(path).as_posix()) for each in _walked(path))
        else:
            raise NotFoundError(f"corpus '{path}' does not exist; pass files or folders")
    return tuple(found)


def _walked(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(folder) / name).is_file())


class _Gathered:
    """Records on their way into a batch."""

    def __init__(self, *, with_offsets: bool) -> None:
        self._with_offsets = with_offsets
        self._clear()

    def _clear(self) -> None:
        self._texts: list[str] = []
        self._numbers: list[int] = []
        self._offsets: list[int] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        return self._size >= _PIECE_BYTES or len(self._texts) >= _BATCH_RECORDS

    def add(self, text: str, number: int, offset: int = 0) -> None:
        self._texts.append(text.replace(RECORD_END, " ") if RECORD_END in text else text)
        self._numbers.append(number)
        self._offsets.append(offset)
        self._size += len(text)

    def taken(self) -> Batch:
        raw = "".join(f"\n{text}\n{RECORD_END}" for text in self._texts).encode("utf-8", "surrogatepass")
        batch = Batch(raw, tuple(self._numbers), tuple(self._offsets) if self._with_offsets else None)
        self._clear()
        return batch


def _text_of_line(line: bytes) -> str:
    """Return the strings of a line of JSON; a line that is none as it stands."""
    try:
        value = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
        return "\n".join(_strings(value))
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")


def _rows(path: Path) -> Iterator[Batch]:
    from pyarrow import parquet  # noqa: PLC0415 - an extra, and slow to load

    gathered, number = _Gathered(with_offsets=False), 0
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS):
            for row in batch.to_pylist():
                number += 1
                gathered.add("\n".join(_strings(row)), number)
                if gathered.is_full:
                    yield gathered.taken()
    yield gathered.taken()


def _strings(value: Any) -> Iterator[str]:
    """Yield all that a value says, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif value is not None:
        yield str(value)


def _plain(path: Path) -> BinaryIO:
    return path.open("rb", buffering=_PIECE_BYTES)


def _zstandard(path: Path) -> BinaryIO:
    import pyarrow  # noqa: PLC0415 - an extra

    stream: Any = pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")
    return cast(BinaryIO, io.BufferedReader(stream, _PIECE_BYTES))


def _gzip(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(path, "rb"))


def _bzip2(path: Path) -> BinaryIO:
    return cast(BinaryIO, bz2.BZ2File(path))


def _xz(path: Path) -> BinaryIO:
    return cast(BinaryIO, lzma.LZMAFile(path))


_OPENERS: Final[dict[str, Callable[[Path], BinaryIO]]] = {
    ".gz": _gzip,
    ".bz2": _bzip2,
    ".xz": _xz,
    ".zst": _zstandard,
}
