"""Answers as lines: the one form in which a bank is stored, digested and handed on.

A line is the canonical JSON of `[family id, draw, text]`. Client and server make the same lines, so the digest of a
chunk and of a bank tell both that they speak of the same answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring
from typing import Final

from leakscale.models import Answer
from leakscale.reading import parse_json

__all__ = ["ANSWERS_PER_CHUNK_MAX", "CHUNK_BYTES_MAX", "answer_line", "chunks_of", "lines_digest", "read_lines"]

ANSWERS_PER_CHUNK_MAX: Final = 1024
CHUNK_BYTES_MAX: Final = 1024 * 1024
"""Of the lines of a chunk, with their line feeds."""


def answer_line(answer: Answer) -> bytes:
    """Write one answer as a line, with its line feed."""
    # For two strings and an integer this is what RFC 8785 writes, at a hundredth of the time.
    return f"[{encode_basestring(answer.family_id)},{answer.draw},{encode_basestring(answer.text)}]\n".encode()


def lines_digest(lines: Iterable[bytes]) -> bytes:
    """Return the SHA-256 of lines, 32 bytes."""
    return hashlib.sha256(b"".join(lines)).digest()


def read_lines(lines: bytes) -> list[Answer]:
    """Read answers from lines that `answer_line` wrote."""
    return [Answer(*fields) for fields in parse_json(b"[%b]" % b",".join(lines.splitlines()))]


def chunks_of(answers: Iterable[Answer]) -> Iterator[tuple[list[Answer], bytes]]:
    """Cut answers into the largest chunks that a server takes, in their order, each with its digest.

    The same answers are cut alike every time, which is what lets an upload go on where another one ended.
    """
    chunk: list[Answer] = []
    lines: list[bytes] = []
    byte_count = 0
    for answer in answers:
        line = answer_line(answer)
        if chunk and (len(chunk) == ANSWERS_PER_CHUNK_MAX or byte_count + len(line) > CHUNK_BYTES_MAX):
            yield chunk, lines_digest(lines)
            chunk, lines, byte_count = [], [], 0
        chunk.append(answer)
        lines.append(line)
        byte_count += len(line)
    if chunk:
        yield chunk, lines_digest(lines)
