"""Read canonical bytes on the server's side. The bytes are hostile: a candidate may have forged them.

The reader keeps its own stack, so depth costs no recursion, and accepts exactly what the writer can write: a value has
one encoding and no other. Not sent to the worker.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field

from leakscale_sandbox.canonical import CANONICAL_VERSION, DEPTH_MAX, INTEGER_BITS_MAX, NODE_COUNT_MAX

__all__ = ["NotCanonicalError", "Rows", "canonical_text", "decode_value"]

_LENGTH = struct.Struct(">I")
_FLOAT = struct.Struct(">d")
_CONSTANTS = {ord("n"): None, ord("t"): True, ord("f"): False}
_DIGITS_MAX = 4_301  # 4,300 and a sign


class NotCanonicalError(ValueError):
    """Bytes that the canonical writer does not write."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A decoded SQL result."""

    column_names: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    is_ordered: bool


@dataclass(slots=True)
class _Open:
    """A container whose items are still being read."""

    tag: int
    left: int
    items: list[object] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)


def decode_value(data: bytes) -> object:
    """Return the value that canonical bytes stand for: built-in types, or `Rows`.

    Raises:
        NotCanonicalError: If the writer would not have written these bytes.
    """
    reader = _Reader(data)
    if reader.take(1) != bytes([CANONICAL_VERSION]):
        raise NotCanonicalError("another version")
    value = reader.rows() if data[1:2] in (b"q", b"g") else reader.value()
    if reader.at != len(data):
        raise NotCanonicalError("bytes follow the value")
    return value


def canonical_text(data: bytes) -> str:
    """Return canonical bytes as one line of JSON for people; tuples, bytes and bags are marked, so nothing is lost."""
    return json.dumps(_marked(decode_value(data)), separators=(",", ":"), ensure_ascii=True)


def _marked(value: object) -> object:
    match value:
        case Rows(column_names=names, rows=rows, is_ordered=is_ordered):
            body = [[_marked(item) for item in row] for row in rows]
            return {"columns": list(names), "rows" if is_ordered else "bag": body}
        case bytes():
            return {"$bytes": value.hex()}
        case list() | tuple():
            items = [_marked(item) for item in value]
            return items if isinstance(value, list) else {"$tuple": items}
        case dict():
            return {key: _marked(item) for key, item in value.items()}
        case float() if value in (float("inf"), float("-inf")):
            return {"$float": repr(value)}
    return value


class _Reader:
    """A position in hostile bytes, and how many nodes they have shown."""

    __slots__ = ("_data", "_nodes_left", "at")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._nodes_left = NODE_COUNT_MAX
        self.at = 0

    def take(self, byte_count: int) -> bytes:
        if byte_count > len(self._data) - self.at:
            raise NotCanonicalError("cut short")
        taken = self._data[self.at : self.at + byte_count]
        self.at += byte_count
        return taken

    def number(self) -> int:
        return int(_LENGTH.unpack(self.take(4))[0])

    def text(self) -> str:
        if self.take(1) != b"s":
            raise NotCanonicalError("text expected")
        return self._utf8(self.take(self.number()))

    def value(self) -> object:
        """Read one value without recursion: `stack` holds the containers that are still open."""
        stack: list[_Open] = []
        item: object
        while True:
            if stack and stack[-1].tag == ord("m"):
                self._key(stack[-1])
            tag = self._tag()
            if len(stack) >= DEPTH_MAX:
                raise NotCanonicalError("too deep")
            if tag in b"lum":
                opened = _Open(tag, self._count())
                if opened.left:
                    stack.append(opened)
                    continue
                item = _closed(opened)
            else:
                item = self._scalar(tag)
            while stack:
                top = stack[-1]
                top.items.append(item)
                top.left -= 1
                if top.left:
                    break
                item = _closed(stack.pop())
            else:
                return item

    def rows(self) -> Rows:
        is_ordered = self.take(1) == b"q"
        names = tuple(self.text() for _ in range(self._count()))
        if not names:
            # SQLite has none such, and ten bytes would stand for a hundred thousand empty rows.
            raise NotCanonicalError("rows without columns")
        row_count = self.number()
        if row_count > NODE_COUNT_MAX:
            raise NotCanonicalError("too many rows")
        rows: list[tuple[object, ...]] = []
        previous = b""
        for _ in range(row_count):
            start = self.at
            rows.append(tuple(self._storage_class() for _ in names))
            encoded = self._data[start : self.at]
            if not is_ordered and encoded < previous:
                raise NotCanonicalError("a bag is not sorted")
            previous = encoded
        return Rows(names, tuple(rows), is_ordered)

    def _storage_class(self) -> object:
        tag = self._tag()
        if tag == ord("b"):
            return self.take(self.number())
        if tag in b"tf":
            raise NotCanonicalError("SQL has no booleans")
        return self._scalar(tag)

    def _tag(self) -> int:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise NotCanonicalError("too many nodes")
        return self.take(1)[0]

    def _count(self) -> int:
        count = self.number()
        if count > self._nodes_left:
            raise NotCanonicalError("too many nodes")
        return count

    def _scalar(self, tag: int) -> object:
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag == ord("i"):
            return self._integer()
        if tag == ord("d"):
            number = float(_FLOAT.unpack(self.take(8))[0])
            if number != number:  # noqa: PLR0124 - the definition of NaN
                raise NotCanonicalError("NaN")
            return number
        if tag == ord("s"):
            return self._utf8(self.take(self.number()))
        raise NotCanonicalError("no such tag")

    def _integer(self) -> int:
        digits = self.take(self.number())
        bare = digits.removeprefix(b"-")
        if len(digits) > _DIGITS_MAX or not bare.isdigit() or (bare[:1] == b"0" and digits != b"0"):
            raise NotCanonicalError("not a canonical integer")
        if len(bare) > _DIGITS_MAX - 1 or (number := int(digits)).bit_length() > INTEGER_BITS_MAX:
            raise NotCanonicalError("integer too large")
        return number

    def _key(self, mapping: _Open) -> None:
        if self.take(1) != b"s":
            raise NotCanonicalError("a key is not text")
        key = self.take(self.number())
        if mapping.keys and key <= mapping.keys[-1]:
            raise NotCanonicalError("keys are not sorted or not distinct")
        self._utf8(key)
        mapping.keys.append(key)

    @staticmethod
    def _utf8(encoded: bytes) -> str:
        try:
            return encoded.decode()
        except UnicodeDecodeError:
            raise NotCanonicalError("not UTF-8") from None


def _closed(container: _Open) -> object:
    if container.tag == ord("l"):
        return container.items
    if container.tag == ord("u"):
        return tuple(container.items)
    return dict(zip((key.decode() for key in container.keys), container.items, strict=True))
