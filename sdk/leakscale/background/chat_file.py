"""A file of chats, bound by its SHA-256: `{"messages": [{"role": ..., "content": ...}, ...]}` a line.

The last turn is the assistant's and is what the loss sees. A chat that could be trained on otherwise than as it is
written, a missing or an empty answer above all, is refused by its line: left out in silence, it would change the counts
that were registered.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.errors import IntegrityError, InvalidRequestError, NotFoundError
from leakscale.models import Message
from leakscale.reading import parse_json

__all__ = ["Chat", "Line", "chat_lines", "parse_chat"]

Chat = tuple[tuple[Message, ...], str]
"""The turns before the last, and the assistant's last one."""

_ROLES: Final = ("system", "user", "assistant")
_FORM: Final = '{"messages": [{"role": ..., "content": ...}]}'


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank."""

    number: int
    """1-based."""
    text: str


def chat_lines(path: Path, *, sha256: str) -> list[Line]:
    """Read a file's lines, leaving out blank ones.

    Args:
        path: JSONL in UTF-8.
        sha256: Of the file, in hex.

    Raises:
        NotFoundError: If it cannot be read.
        IntegrityError: If its digest is another.
        InvalidRequestError: If it holds no chat or is no UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"background file '{path}' cannot be read; put it beside the recipe") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise IntegrityError(
            f"background file '{path}' has SHA-256 {found[:12]}, its recipe says {sha256[:12]}; get the file "
            "that the recipe was written for, or write its digest into the recipe"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise InvalidRequestError(
            f"background file '{path}', line {number}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from error
    # Not splitlines: a chat may hold a line separator of Unicode.
    lines = [Line(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InvalidRequestError(f"background file '{path}' is empty; write one chat a line, {_FORM}")
    return lines


def parse_chat(line: Line, path: Path) -> Chat:
    """Read one line of a file.

    Raises:
        InvalidRequestError: If it is no chat, or none that ends with an answer; the message names file, line and rule.
    """
    fault, turns = _turns(line.text)
    if fault is None:
        fault = _fault(turns)
    if fault is not None:
        raise InvalidRequestError(f"background file '{path}', line {line.number}: {fault}")
    return tuple(turns[:-1]), turns[-1].content


def _turns(text: str) -> tuple[str | None, list[Message]]:
    """Return what is wrong with the form of a line, and its turns."""
    try:
        found: list[dict[str, Any]] = parse_json(text)["messages"]
        turns = [Message(turn["role"], turn["content"]) for turn in found]
    except (ValueError, KeyError, TypeError):
        return f"not of the form {_FORM}; repair the line", []
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn.role, str) or not isinstance(turn.content, str):
            kind = type(turn.content).__name__ if isinstance(turn.role, str) else "role"
            return f"turn {number} has a {kind} where text must be; write its content as one text", []
    return None, turns


def _fault(turns: list[Message]) -> str | None:
    """Return the first rule that a chat breaks."""
    for number, turn in enumerate(turns, start=1):
        if turn.role not in _ROLES:
            return f"turn {number} has role {turn.role!r}; use {', '.join(_ROLES)}"
        if not turn.content.strip():
            return f"turn {number}, the {turn.role}'s, is empty; give it text, or leave the chat out"
        if any("\ud800" <= letter <= "\udfff" for letter in turn.content):
            return f"turn {number} holds half a surrogate pair, which is no character; repair its \\u escapes"
    if len(turns) < 2 or turns[-1].role != "assistant":
        return "a chat must end with an assistant's turn after another one; complete it, or leave it out"
    return None
