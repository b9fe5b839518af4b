"""Other people's words where they are shown: on a terminal, on a page, in a cell of a table, in Markdown.

A label, a reason or the name of a model in a log is text that somebody else wrote. It must not command a terminal, turn
the words around it, open a line of its own, or become a heading, a link or a tag.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["markdown_code", "markdown_text", "one_line", "shown"]

_COMMANDING: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, marks of format and direction, halves of letters, separators of lines."""
_SYNTAX: Final = re.compile(r"[\\*\[\]<>|~&$#]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown reads as more than itself inside a line; an underscore between letters is one of them."""


def shown(text: str) -> str:
    """Return a text with every character that commands a terminal, or turns its lines around, written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(repr(letter)[1:-1] if _commands(letter) else letter for letter in text)


def one_line(text: str) -> str:
    """Return a text on one line: whatever breaks lines or is blank becomes one space, and what commands an escape."""
    return shown(" ".join(text.split()))


def markdown_text(text: str, *, keeps_code: bool = False) -> str:
    """Return a text as Markdown that shows it, in one line.

    Args:
        text: Other people's, or with their words in it.
        keeps_code: Whether what stands between backticks is code, as in our own notes, and not the backticks' own.
    """
    line = one_line(text)
    if not keeps_code:
        return _escaped(line)
    parts = re.split(r"(`[^`]+`)", line)  # what was split by has the odd places
    return "".join(part if place % 2 else _escaped(part) for place, part in enumerate(parts))


def markdown_code(text: str) -> str:
    """Return a text as a span of code in Markdown, in one line."""
    line = one_line(text)
    runs = [len(run) for run in re.findall("`+", line)]
    if not runs:
        return f"`{line}`"
    fence = "`" * (max(runs) + 1)
    return f"{fence} {line} {fence}"


def _escaped(line: str) -> str:
    return _SYNTAX.sub(r"\\\g<0>", line).replace("`", "\\`")


def _commands(letter: str) -> bool:
    return letter not in "\n\t" and not letter.isprintable() and unicodedata.category(letter) in _COMMANDING
