"""Canonical bytes of a value, version 1: two values are the same answer exactly when their bytes are.

Every value starts with one tag. Nothing is coerced: `1`, `1.0` and `True` differ, `-0.0` differs from `0.0`, a tuple
from a list. A value of any other type, subclasses included, has no canonical form.

    n t f                      null, true, false
    i <length> digits          integer, decimal
    d <8 bytes>                float, IEEE 754 big-endian; NaN is refused, because it equals nothing
    s <length> UTF-8           text; a lone surrogate is refused
    b <length> bytes           SQL only: BLOB
    l u <count> items          list, tuple
    m <count> (key item)…      mapping; keys are text, sorted by their UTF-8 bytes
    q <columns> <count> rows   SQL rows in the order they came; column names as text, then values by position
    g <columns> <count> rows   SQL rows as a bag: sorted by their own bytes

Lengths and counts are 4 bytes big-endian. The whole is preceded by one version byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

__all__ = ["CANONICAL_VERSION", "RefusedValueError", "TooLargeError", "encode_rows", "encode_value"]

CANONICAL_VERSION = 1
DEPTH_MAX = 64
NODE_COUNT_MAX = 100_000
# 2^14284 has 4,300 digits, the interpreter's own limit; converting more takes time quadratic in the digits.
INTEGER_BITS_MAX = 14_284

_LENGTH = struct.Struct(">I")
_FLOAT = struct.Struct(">d")
_VERSION_BYTE = bytes([CANONICAL_VERSION])


class RefusedValueError(Exception):
    """The value has no canonical form."""


class TooLargeError(Exception):
    """The value has a canonical form that is larger than allowed."""


def encode_value(value: object, *, byte_count_max: int) -> bytes:
    """Return the canonical bytes of what a Python program returned.

    Args:
        value: Anything; it may be hostile, so only exact built-in types are looked into.
        byte_count_max: Bytes of the whole, the version byte included.

    Raises:
        RefusedValueError: If the value or a part of it has no canonical form.
        TooLargeError: If it takes more bytes, nodes or digits than allowed.
    """
    writer = _Writer(byte_count_max)
    writer.put(_VERSION_BYTE)
    writer.put_value(value, 1)
    return writer.joined()


def encode_rows(
    column_names: Sequence[str], rows: Sequence[Sequence[object]], *, ordered: bool, byte_count_max: int
) -> bytes:
    """Return the canonical bytes of an SQL result.

    Raises:
        RefusedValueError: If a column name or text holds a lone surrogate.
        TooLargeError: If it takes more bytes or nodes than allowed.
    """
    writer = _Writer(byte_count_max)
    writer.put(_VERSION_BYTE + (b"q" if ordered else b"g") + _LENGTH.pack(len(column_names)))
    for name in column_names:
        writer.put(_text(name))
    writer.put(_LENGTH.pack(len(rows)))
    encoded = [writer.spend(_row(row, writer.bytes_left), node_count=len(row)) for row in rows]
    return writer.joined() + b"".join(encoded if ordered else sorted(encoded))


def _null(_value: object) -> bytes:
    return b"n"


def _boolean(value: object) -> bytes:
    return b"t" if value is True else b"f"


def _integer(value: int) -> bytes:
    if int.bit_length(value) > INTEGER_BITS_MAX:
        raise TooLargeError("digits")
    digits = int.__repr__(value).encode()
    return b"i" + _LENGTH.pack(len(digits)) + digits


def _float(value: float) -> bytes:
    if value != value:  # noqa: PLR0124 - the definition of NaN, and it needs no import
        raise RefusedValueError("nan")
    return b"d" + _FLOAT.pack(value)


def _text(value: str) -> bytes:
    try:
        encoded = str.encode(value)
    except UnicodeEncodeError:
        raise RefusedValueError("surrogate") from None
    return b"s" + _LENGTH.pack(len(encoded)) + encoded


def _blob(value: bytes) -> bytes:
    return b"b" + _LENGTH.pack(len(value)) + value


# Its own name: what a program calls `id` is another function.
_address = id
# By the identity of the type: asked for its hash, a class that a candidate made could pass for another.
_SCALARS: dict[int, Callable[[Any], bytes]] = {
    _address(type(None)): _null,
    _address(bool): _boolean,
    _address(int): _integer,
    _address(float): _float,
    _address(str): _text,
}
_CELLS: dict[int, Callable[[Any], bytes]] = {**_SCALARS, _address(bytes): _blob}


def _row(row: Sequence[object], bytes_left: int) -> bytes:
    parts = []
    for value in row:
        kind = type(value)
        encode = _CELLS.get(_address(kind))
        if encode is None:
            raise RefusedValueError("type")
        if (kind is str or kind is bytes) and len(value) > bytes_left:  # type: ignore[arg-type]
            raise TooLargeError("bytes")
        parts.append(encode(value))
    return b"".join(parts)


class _Writer:
    """Parts of one encoding, and what they have cost so far."""

    __slots__ = ("_nodes_left", "bytes_left", "parts")

    def __init__(self, byte_count_max: int) -> None:
        self.parts: list[bytes] = []
        self.bytes_left = byte_count_max
        self._nodes_left = NODE_COUNT_MAX

    def joined(self) -> bytes:
        return b"".join(self.parts)

    def put(self, part: bytes) -> None:
        self.parts.append(self.spend(part, node_count=0))

    def spend(self, part: bytes, *, node_count: int) -> bytes:
        """Count a part, and return it."""
        self.bytes_left -= len(part)
        self._nodes_left -= node_count
        if self.bytes_left < 0:
            raise TooLargeError("bytes")
        if self._nodes_left < 0:
            raise TooLargeError("nodes")
        return part

    def put_value(self, value: object, depth: int) -> None:
        if depth > DEPTH_MAX:
            raise RefusedValueError("depth")
        kind = type(value)
        encode = _SCALARS.get(_address(kind))
        if encode is not None:
            # Before it is written: half of the memory is not enough for a copy of the whole.
            if kind is str and len(value) > self.bytes_left:  # type: ignore[arg-type]
                raise TooLargeError("bytes")
            self.parts.append(self.spend(encode(value), node_count=1))
        elif kind is dict:
            self._put_mapping(value, depth)  # type: ignore[arg-type]
        elif kind is list or kind is tuple:
            self.parts.append(self.spend(_TAGS[kind] + _LENGTH.pack(len(value)), node_count=1))  # type: ignore[arg-type]
            for item in value:  # type: ignore[attr-defined]
                self.put_value(item, depth + 1)
        else:
            raise RefusedValueError("type")

    def _put_mapping(self, mapping: dict[object, object], depth: int) -> None:
        self.parts.append(self.spend(b"m" + _LENGTH.pack(len(mapping)), node_count=1))
        for key in mapping:
            if type(key) is not str:
                raise RefusedValueError("key")
        for key, encoded in _layout(tuple(mapping)):
            self.put(encoded)
            self.put_value(mapping[key], depth + 1)


_TAGS = {list: b"l", tuple: b"u"}


@lru_cache(maxsize=64)
def _layout(keys: tuple[str, ...]) -> list[tuple[str, bytes]]:
    """Return keys in the order of their bytes, each with its encoding; records of a result share them."""
    try:
        return sorted(((key, _text(key)) for key in keys), key=lambda each: str.encode(each[0]))
    except UnicodeEncodeError:
        raise RefusedValueError("surrogate") from None
