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
        writer.put_text(name)
    writer.put(_LENGTH.pack(len(rows)))
    if ordered:
        for row in rows:
            writer.put_row(row)
        return writer.joined()
    encoded: list[bytes] = []
    for row in rows:
        mark = len(writer.parts)
        writer.put_row(row)
        encoded.append(b"".join(writer.parts[mark:]))
        del writer.parts[mark:]
    return writer.joined() + b"".join(sorted(encoded))


class _Writer:
    """Parts of one encoding, and what they have cost so far."""

    __slots__ = ("_nodes_left", "_put", "bytes_left", "parts")

    def __init__(self, byte_count_max: int) -> None:
        self.parts: list[bytes] = []
        self.bytes_left = byte_count_max
        self._nodes_left = NODE_COUNT_MAX
        self._put: dict[type, Callable[[object, int], None]] = {
            type(None): lambda _value, _depth: self.put(b"n"),
            bool: lambda value, _depth: self.put(b"t" if value is True else b"f"),
            int: lambda value, _depth: self._put_integer(value),  # type: ignore[arg-type]
            float: lambda value, _depth: self._put_float(value),  # type: ignore[arg-type]
            str: lambda value, _depth: self.put_text(value),  # type: ignore[arg-type]
            list: lambda value, depth: self._put_items(b"l", value, depth),  # type: ignore[arg-type]
            tuple: lambda value, depth: self._put_items(b"u", value, depth),  # type: ignore[arg-type]
            dict: self._put_mapping,  # type: ignore[dict-item]
        }

    def joined(self) -> bytes:
        return b"".join(self.parts)

    def put(self, part: bytes) -> None:
        self.bytes_left -= len(part)
        if self.bytes_left < 0:
            raise TooLargeError("bytes")
        self.parts.append(part)

    def put_value(self, value: object, depth: int) -> None:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise TooLargeError("nodes")
        if depth > DEPTH_MAX:
            raise RefusedValueError("depth")
        put = self._put.get(type(value))
        if put is None:
            raise RefusedValueError("type")
        put(value, depth)

    def put_row(self, row: Sequence[object]) -> None:
        for value in row:
            if type(value) is bytes:
                self._put_sized(b"b", value)
            else:
                self.put_value(value, DEPTH_MAX)

    def put_text(self, value: str) -> None:
        try:
            encoded = str.encode(value)
        except UnicodeEncodeError:
            raise RefusedValueError("surrogate") from None
        self._put_sized(b"s", encoded)

    def _put_sized(self, tag: bytes, body: bytes) -> None:
        self.put(tag + _LENGTH.pack(len(body)))
        self.put(body)

    def _put_integer(self, value: int) -> None:
        if int.bit_length(value) > INTEGER_BITS_MAX:
            raise TooLargeError("digits")
        self._put_sized(b"i", int.__repr__(value).encode())

    def _put_float(self, value: float) -> None:
        if value != value:  # noqa: PLR0124 - the definition of NaN, and it needs no import
            raise RefusedValueError("nan")
        self.put(b"d" + _FLOAT.pack(value))

    def _put_items(self, tag: bytes, items: Sequence[object], depth: int) -> None:
        self.put(tag + _LENGTH.pack(len(items)))
        for item in items:
            self.put_value(item, depth + 1)

    def _put_mapping(self, mapping: dict[object, object], depth: int) -> None:
        self.put(b"m" + _LENGTH.pack(len(mapping)))
        if any(type(key) is not str for key in mapping):
            raise RefusedValueError("key")
        try:
            encoded = {str.encode(key): item for key, item in mapping.items()}  # type: ignore[arg-type]
        except UnicodeEncodeError:
            raise RefusedValueError("surrogate") from None
        for key in sorted(encoded):
            self._put_sized(b"s", key)
            self.put_value(encoded[key], depth + 1)
