"""Members of a zip archive, also of one compressed with Zstandard.

inspect_ai writes method 93 (Zstandard), which the standard library reads from Python 3.14 on. pyarrow, which Parquet
needs anyway, brings the decompressor for all versions.
"""

from __future__ import annotations

import itertools
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from leakscale.errors import InvalidRequestError

__all__ = ["ZipMembers", "open_archive"]

_STORED: Final = 0
_DEFLATED: Final = 8
_ZSTANDARD: Final = 93
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
"""Signature, and the lengths of name and extra field."""
_HEADER_BYTES: Final = 30
"""Of a member's own header, without its name."""
_MEMBER_BYTES_MAX: Final = 1 << 28
"""A member that declares more is no record of an answer."""
_TOTAL_BYTES_MAX: Final = 1 << 32
"""Of all members; an archive of a few kilobytes could declare any number."""


class ZipMembers:
    """The members of an open archive by name; of two with one name the later counts, as everywhere in zip archives."""

    def __init__(self, path: Path, file: IO[bytes], members: list[zipfile.ZipInfo]) -> None:
        self._path = path
        self._file = file
        self._members = {member.filename: member for member in members}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names(self, *, under: str) -> list[str]:
        """Return the names of the members in a folder, in the order written."""
        return [name for name in self._members if name.startswith(f"{under}/") and not name.endswith("/")]

    def read(self, name: str) -> bytes:
        """Return a whole member, held against its declared size and checksum.

        Raises:
            InvalidRequestError: If it is torn, larger than declared, too large, or compressed in another way.
        """
        member = self._members[name]
        if member.file_size > _MEMBER_BYTES_MAX:
            raise InvalidRequestError(
                f"log '{self._path}': member '{name}' has {member.file_size:,} bytes, at most {_MEMBER_BYTES_MAX:,} "
                "are read; write the log again without its events"
            )
        try:
            content = _inflate(self._compressed(member), member)
        except (OSError, ValueError, zlib.error, struct.error) as error:
            raise InvalidRequestError(
                f"log '{self._path}': member '{name}' cannot be read ({error}); copy the log again"
            ) from error
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise InvalidRequestError(f"log '{self._path}': member '{name}' is damaged; copy the log again")
        return content

    def _compressed(self, member: zipfile.ZipInfo) -> bytes:
        self._file.seek(member.header_offset)
        signature, name_length, extra_length = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        if signature != zipfile.stringFileHeader:  # type: ignore[attr-defined]
            raise ValueError("no local header where the directory says")
        self._file.seek(name_length + extra_length, 1)
        return self._file.read(member.compress_size)


@contextmanager
def open_archive(path: Path) -> Iterator[ZipMembers]:
    """Open an archive for as long as the block runs.

    Raises:
        InvalidRequestError: If the file is no zip archive.
    """
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            raise InvalidRequestError(f"log '{path}' is no zip archive ({error}); copy the log again") from error
        _require_honest(path, members)
        yield ZipMembers(path, file, members)


def _require_honest(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive that unpacks to more than a log is, or whose members are one part of the file several times.

    Raises:
        InvalidRequestError: Naming what is too much.
    """
    total = sum(member.file_size for member in members)
    if total > _TOTAL_BYTES_MAX:
        raise InvalidRequestError(
            f"log '{path}' unpacks to {total:,} bytes, at most {_TOTAL_BYTES_MAX:,} are read; write the log again "
            "without its events"
        )
    in_order = sorted(members, key=lambda member: member.header_offset)
    for member, following in itertools.pairwise(in_order):
        if member.header_offset + _HEADER_BYTES + member.compress_size > following.header_offset:
            raise InvalidRequestError(
                f"log '{path}': members '{member.filename}' and '{following.filename}' overlap; copy the log again"
            )


def _inflate(compressed: bytes, member: zipfile.ZipInfo) -> bytes:
    if member.compress_type == _STORED:
        return compressed
    if member.compress_type == _DEFLATED:
        # One byte more than declared is enough to know that the declaration is wrong.
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(compressed, member.file_size + 1)
    if member.compress_type == _ZSTANDARD:
        return _unzstd(compressed, member.file_size)
    raise ValueError(f"compression method {member.compress_type} is not known")


def _unzstd(compressed: bytes, size: int) -> bytes:
    try:
        import pyarrow  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InvalidRequestError(
            "this log is compressed with Zstandard, which needs pyarrow; run `pip install 'leakscale[audit]'`"
        ) from error
    content: bytes = pyarrow.decompress(compressed, decompressed_size=size, codec="zstd", asbytes=True)
    return content
