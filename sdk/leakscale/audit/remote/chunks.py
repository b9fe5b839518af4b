"""Answers to forms on their way to a server, cut alike every time, so that an upload goes on where it broke.

A chunk is lines of JSON: first a salt of the sender's, then an answer a line, as `FormAnswer.to_json` writes it. The
chunk's SHA-256 travels in the clear; the salt keeps it from confirming a guess of what is in it.

Only what is scored is sent: answers to questions that were asked again stay where they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.remote.limits import ANSWER_BYTES_MAX, ANSWERS_PER_CHUNK_MAX, PIECE_BYTES_MAX
from leakscale.errors import IntegrityError, InvalidRequestError
from leakscale.reading import parse_json

__all__ = ["SALT_BYTES", "AnswerChunk", "answer_chunks", "answers_digest", "read_chunk"]

SALT_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class AnswerChunk:
    """Answers that travel together, before they are sealed."""

    number: int
    """From 0."""
    content: bytes

    @property
    def digest(self) -> bytes:
        """SHA-256 of the content, 32 bytes."""
        return hashlib.sha256(self.content).digest()


def answer_chunks(answers: Iterable[FormAnswer], *, salt: bytes) -> Iterator[AnswerChunk]:
    """Cut answers into the largest chunks that a server takes, in their order.

    Args:
        answers: Answers to questions asked again are left out.
        salt: 32 bytes of the sender's, which nobody can guess, and the same at each attempt.

    Raises:
        InvalidRequestError: If an answer is too long; the message names its form.
    """
    head = _line({"v": 1, "salt": salt.hex()})
    lines, byte_count, number = [head], len(head), 0
    for answer in answers:
        if answer.is_rerun:
            continue
        line = _line(answer.to_json())
        if len(head) + len(line) > PIECE_BYTES_MAX or _text_bytes(answer) > ANSWER_BYTES_MAX:
            raise InvalidRequestError(
                f"the answer to form '{answer.form}' has {_text_bytes(answer):,} bytes, and a server takes "
                f"{ANSWER_BYTES_MAX:,}; answer with a smaller decoding.token_count_max"
            )
        if len(lines) > ANSWERS_PER_CHUNK_MAX or byte_count + len(line) > PIECE_BYTES_MAX:
            yield AnswerChunk(number, b"".join(lines))
            lines, byte_count, number = [head], len(head), number + 1
        lines.append(line)
        byte_count += len(line)
    if len(lines) > 1:
        yield AnswerChunk(number, b"".join(lines))


def read_chunk(content: bytes) -> list[FormAnswer]:
    """Read the answers of a chunk.

    Raises:
        InvalidRequestError: If it is none; the message names line and rule, and quotes nothing.
    """
    head, *lines = content.removesuffix(b"\n").split(b"\n")
    if set(_fields(head, 1)) != {"v", "salt"} or _fields(head, 1)["v"] != 1:
        raise _no_chunk(1, "does not name version and salt")
    if not 1 <= len(lines) <= ANSWERS_PER_CHUNK_MAX:
        raise InvalidRequestError(f"a chunk has {len(lines)} answers, and takes 1 to {ANSWERS_PER_CHUNK_MAX}")
    return [_answer(_fields(line, number), number) for number, line in enumerate(lines, start=2)]


def answers_digest(digests: Iterable[bytes]) -> str:
    """Return what a receipt and the scores name an answer set by: hex SHA-256 over the digests of its chunks."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _line(fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    # A model may write half of a surrogate pair; it is kept as it is.
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _fields(line: bytes, number: int) -> dict[str, Any]:
    try:
        fields = parse_json(line.decode("utf-8", "surrogatepass"), is_strict=True)
    except ValueError as error:
        raise _no_chunk(number, "is no JSON") from error
    if not isinstance(fields, dict):
        raise _no_chunk(number, "is no object")
    return fields


def _answer(fields: dict[str, Any], number: int) -> FormAnswer:
    try:
        answer = FormAnswer.from_json(fields)
    except IntegrityError as error:
        raise _no_chunk(number, str(error)) from error
    if answer.is_rerun:
        raise _no_chunk(number, "is no answer that is scored")
    if _text_bytes(answer) > ANSWER_BYTES_MAX:
        raise _no_chunk(number, f"holds a text of {_text_bytes(answer):,} bytes, and {ANSWER_BYTES_MAX:,} is the most")
    return answer


def _text_bytes(answer: FormAnswer) -> int:
    return len(answer.generated.text.encode("utf-8", "surrogatepass")) if answer.generated else 0


def _no_chunk(number: int, rule: str) -> InvalidRequestError:
    return InvalidRequestError(f"line {number} of the chunk {rule}; send what `answer_chunks` makes")
