"""Lines of the files of a bank: one JSON object each, in one form, so that equal values are equal bytes.

What nothing else could be compared with is *stamped*: a line ends in a digest of its own bytes, and in a plan of the
line before too. So a damaged file is told from a healthy one, with the line, before anything is derived from it.

Does not guard against somebody who edits a line: a stamp has no key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from leakscale.errors import IntegrityError, NotFoundError
from leakscale.reading import parse_json

__all__ = [
    "check_stamp",
    "damage",
    "file_digest",
    "has_stamp",
    "json_line",
    "read_header",
    "read_lines",
    "read_records",
    "stamp_of",
    "stamped_line",
]

_STAMP_START: Final = b',"stamp":"'
_STAMP_END: Final = b'"}\n'
_STAMP_CHARACTERS: Final = 16
_STAMP_BYTES: Final = len(_STAMP_START) + _STAMP_CHARACTERS + len(_STAMP_END)

_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

_Record = TypeVar("_Record")


def json_line(fields: Mapping[str, Any]) -> bytes:
    """Write one line: sorted keys, no spaces, ASCII."""
    return _ENCODER.encode(fields).encode() + b"\n"


def stamped_line(fields: Mapping[str, Any], *, after: str = "") -> bytes:
    """Write one line with its stamp at the end.

    Args:
        fields: At least one, none of them named `stamp`.
        after: Stamp of the line before, where the order of the lines is to be kept too.
    """
    content = json_line(fields).removesuffix(b"}\n")
    return content + _STAMP_START + _stamp(content, after).encode() + _STAMP_END


def has_stamp(line: bytes) -> bool:
    """Tell whether a line carries a stamp, be it its own or not."""
    return line[-_STAMP_BYTES:].startswith(_STAMP_START) and line.endswith(_STAMP_END)


def stamp_of(line: bytes) -> str:
    """Return the stamp that a line carries."""
    return line[-_STAMP_CHARACTERS - len(_STAMP_END) : -len(_STAMP_END)].decode(errors="replace")


def check_stamp(path: Path, line: bytes, number: int, *, mend: str, after: str = "") -> None:
    """Refuse a line that is not as it was written.

    Args:
        path: For the message.
        line: With its newline.
        number: 1-based, for the message.
        mend: What to do about a damaged file of this kind.
        after: As it was given to `stamped_line`.

    Raises:
        IntegrityError: If the line is torn, carries no stamp, or another one than its bytes have.
    """
    if not line.endswith(b"\n"):
        raise damage(path, number, "is torn", mend=mend)
    if not has_stamp(line):
        raise damage(path, number, "carries no stamp", mend=mend)
    found = _stamp(line[:-_STAMP_BYTES], after)
    if found != stamp_of(line):
        raise damage(path, number, f"has digest {found} and was written with {stamp_of(line)}", mend=mend)


def read_header(path: Path, *, mend: str) -> dict[str, Any]:
    """Return the first line of a file, which is stamped.

    Raises:
        NotFoundError: If there is no such file.
        IntegrityError: If the line is damaged.
    """
    try:
        with path.open("rb") as opened:
            line = opened.readline()
    except FileNotFoundError as error:
        raise NotFoundError(f"file '{path}' does not exist; answer the bank first") from error
    check_stamp(path, line, 1, mend=mend)
    return _parse(path, line, 1, mend=mend)


def read_lines(path: Path, *, mend: str, is_stamped: bool) -> Iterator[dict[str, Any]]:
    """Read every line after the first, one at a time.

    Raises:
        IntegrityError: If a line is torn, no JSON object, or not as it was stamped.
    """
    with path.open("rb") as opened:
        opened.readline()
        for number, line in enumerate(opened, start=2):
            if is_stamped:
                check_stamp(path, line, number, mend=mend)
            elif not line.endswith(b"\n"):
                raise damage(path, number, "is torn", mend=mend)
            yield _parse(path, line, number, mend=mend)


def read_records(
    path: Path, read: Callable[[Mapping[str, Any]], _Record], *, mend: str, is_stamped: bool
) -> Iterator[_Record]:
    """Read every line after the first as a record.

    Raises:
        IntegrityError: If a line is damaged, or `read` makes nothing of it.
    """
    for number, fields in enumerate(read_lines(path, mend=mend, is_stamped=is_stamped), start=2):
        try:
            yield read(fields)
        except IntegrityError as error:
            raise damage(path, number, str(error), mend=mend) from error


def file_digest(path: Path) -> str:
    """Return the hex SHA-256 of a file."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def damage(path: Path, number: int, what: str, *, mend: str) -> IntegrityError:
    """Say what is wrong with which line of which file, and what to do."""
    return IntegrityError(f"'{path}' line {number} {what}; {mend}")


def _stamp(content: bytes, after: str) -> str:
    return hashlib.sha256(after.encode() + content).hexdigest()[:_STAMP_CHARACTERS]


def _parse(path: Path, line: bytes, number: int, *, mend: str) -> dict[str, Any]:
    try:
        value = parse_json(line)
    except ValueError as error:
        raise damage(path, number, "is not JSON", mend=mend) from error
    if not isinstance(value, dict):
        raise damage(path, number, "is not a JSON object", mend=mend)
    value.pop("stamp", None)
    return value
