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
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.freshness.scan.folding import RECORD_END, safe_pieces

__all__ = ["Batch", "CorpusFile", "corpus_files"]

_PIECE_BYTES: Final = 1 << 20
_BATCH_RECORDS: Final = 4096
_ROWS: Final = 64
"""Of Parquet at once: a small file can hold long texts many times over."""
_LINE_BYTES_MAX: Final = 64 << 20
"""A longer line is read as text, in parts that overlap."""
_SEAM_BYTES: Final = 4096
_STEP_BYTES: Final = 1 << 16
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
        with self._reading() as file:
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

    @contextmanager
    def _reading(self) -> Iterator[BinaryIO]:
        """Give a file; a packed one up to where it is broken, and only at the end of the block raise what broke it."""
        with self._opened() as file:
            if self.path.suffix.lower() not in _OPENERS:
                yield file
                return
            sound = _SoundPart(file)
            yield cast(BinaryIO, io.BufferedReader(sound, _PIECE_BYTES))
        if sound.fault is not None:
            raise sound.fault

    def _readable(self, raw: bytes) -> bytes:
        """Blank the escapes of JSON, so that every other byte keeps its place."""
        return _ESCAPES.sub(lambda match: b" " * len(match[0]), raw) if self._kind == ".json" and b"\\" in raw else raw

    def _lines(self) -> Iterator[Batch]:
        gathered = _Gathered(with_offsets=True)
        with self._reading() as file:
            offset = number = 0
            seam = b""
            while line := file.readline(_LINE_BYTES_MAX):
                number += not seam
                gathered.add(_text_of_line(seam + line), number, offset - len(seam))
                offset += len(line)
                seam = b"" if line.endswith(b"\n") or len(line) < _LINE_BYTES_MAX else line[-_SEAM_BYTES:]
                if gathered.is_full:
                    yield gathered.taken()
            yield gathered.taken()


def corpus_files(paths: Iterable[Path]) -> tuple[CorpusFile, ...]:
    """Return every regular file of a corpus; folders are walked in the order of names, links to folders left alone.

    Raises:
        NotFoundError: If a path does not exist.
        InvalidRequestError: If a folder cannot be listed.
    """
    found: list[CorpusFile] = []
    for path in paths:
        if path.is_file():
            found.append(CorpusFile(path, _shown(path.name)))
        elif path.is_dir():
            found += (CorpusFile(each, _shown(each.relative_to(path).as_posix())) for each in _walked(path))
        else:
            raise NotFoundError(f"corpus '{path}' does not exist; pass files or folders")
    return tuple(found)


def _shown(name: str) -> str:
    """Return a name that can be written, whatever bytes it has."""
    return os.fsencode(name).decode("utf-8", "replace")


def _walked(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root, onerror=_refuse):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(folder) / name).is_file())


def _refuse(error: OSError) -> None:
    """End a scan that would pass over a folder in silence."""
    raise InvalidRequestError(
        f"folder '{error.filename}' of the corpus cannot be listed ({error.strerror}); make it readable or leave it out"
    )


class _SoundPart(io.RawIOBase):
    """A file that ends where it cannot be read on. What was unpacked before counts."""

    def __init__(self, file: BinaryIO) -> None:
        self._file: Any = file
        self.fault: Exception | None = None

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what one step of the file beneath gives."""
        try:
            content = self._file.read1(min(len(buffer), _STEP_BYTES))
        except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
            self.fault = error
            return 0
        buffer[: len(content)] = content
        return len(content)


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
        # Pairs, not a mapping: a name may be there twice. Numbers are read as they are written.
        value = json.loads(  # noqa: TID251 - with hooks of its own
            line, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=list
        )
        return "\n".join(_strings(value))
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")


def _rows(path: Path) -> Iterator[Batch]:
    from pyarrow import parquet  # noqa: PLC0415 - an extra, and slow to load

    gathered, number = _Gathered(with_offsets=False), 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS):
                # By place: two columns may have one name.
                names, columns = batch.schema.names, [_values(column) for column in batch.columns]
                for row in zip(*columns, strict=True):
                    number += 1
                    gathered.add("\n".join(_strings(list(zip(names, row, strict=True)))), number)
                    if gathered.is_full:
                        yield gathered.taken()
    except (OSError, ValueError, OverflowError):
        yield gathered.taken()  # what came before the damage counts
        raise
    yield gathered.taken()


def _values(column: Any) -> list[Any]:
    """Return the values of a column; as texts where Python has no value for one, such as a date after the year 9999."""
    try:
        return cast(list[Any], column.to_pylist())
    except (OverflowError, ValueError):
        return [str(value) for value in _printable(column)]


def _printable(column: Any) -> Iterator[object]:
    for value in column:
        try:
            yield value.as_py()
        except (OverflowError, ValueError):
            yield getattr(value, "value", "")


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
