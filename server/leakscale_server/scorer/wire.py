"""Frames between the API process and the scorer: a length, the id of a call, a kind and a body.

The two share one socket pair and nothing else. Bodies are JSON (`operations`): nothing that arrives is executed.
"""

from __future__ import annotations

import enum
import socket
import struct
from dataclasses import dataclass
from typing import Final

__all__ = ["BODY_BYTES_MAX", "Frame", "FrameKind", "WireError", "read_frame", "write_frame"]

BODY_BYTES_MAX: Final = 64 * 1024 * 1024
_HEAD: Final = struct.Struct(">IQB")


class FrameKind(enum.IntEnum):
    """What a body is."""

    REQUEST = 1
    """`name\\n` and the arguments."""
    PART = 2
    """One item of an answer that comes in items; more may follow."""
    ANSWER = 3
    """The answer, or the end of its items."""
    FAULT = 4
    """Why there is no answer."""


class WireError(Exception):
    """The other side is gone in mid-frame, or sent what is no frame."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message."""

    call_id: int
    kind: FrameKind
    body: bytes


def write_frame(channel: socket.socket, frame: Frame) -> None:
    """Write a frame whole. One thread at a time.

    Raises:
        WireError: If the body is too long.
        OSError: If the other side is gone.
    """
    if len(frame.body) > BODY_BYTES_MAX:
        raise WireError(f"a frame of {len(frame.body)} bytes is longer than {BODY_BYTES_MAX}")
    channel.sendall(_HEAD.pack(len(frame.body), frame.call_id, frame.kind) + frame.body)


def read_frame(channel: socket.socket) -> Frame | None:
    """Read the next frame; None once the other side has closed.

    Raises:
        WireError: If it closed in mid-frame, or a head makes no sense.
        OSError: If the socket fails.
    """
    head = _read(channel, _HEAD.size, may_end=True)
    if not head:
        return None
    length, call_id, kind = _HEAD.unpack(head)
    if length > BODY_BYTES_MAX or kind not in set(FrameKind):
        raise WireError(f"a head announces {length} bytes of kind {kind}")
    return Frame(call_id, FrameKind(kind), _read(channel, length))


def _read(channel: socket.socket, byte_count: int, *, may_end: bool = False) -> bytes:
    received = bytearray(byte_count)
    view, filled = memoryview(received), 0
    while filled < byte_count:
        count = channel.recv_into(view[filled:])
        if not count:
            if may_end and not filled:
                return b""
            raise WireError(f"the other side is gone after {filled} of {byte_count} bytes")
        filled += count
    return bytes(received)
