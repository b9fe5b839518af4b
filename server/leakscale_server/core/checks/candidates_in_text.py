"""Whether a task says a value that candidates are drawn from.

A model picks what it has just read. The values of all families count, and all words of the task's slots: what one
family of a shape must not say, none may.

It does *not* see a number in words, nor a value in another form than programs write it, such as a date in prose.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Final

from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.format.grids import DateGrid, DecimalGrid, IntegerGrid
from leakscale_server.core.format.schema import Shape
from leakscale_server.core.format.text import with_plain_marks
from leakscale_server.core.literals import Value, literal

__all__ = ["find_candidate_in_text"]

_WORD: Final = re.compile(r"[\w.,-]*\w")
_NUMBER: Final = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


def find_candidate_in_text(shape: Shape, task: str) -> str:
    """Return the first candidate of any family that a task says; nothing if it says none.

    Args:
        task: As the author wrote it, with placeholders.
    """
    slots = dict.fromkeys(PLACEHOLDER.findall(task))
    texts = [PLACEHOLDER.sub(" ", task), *(word for slot in slots for word in shape.vocabulary.get(slot, ()))]
    spoken = [_spoken(shape, value) for value in shape.candidates.ranked]
    for text in map(with_plain_marks, texts):
        words = _WORD.findall(text)
        said = f" {' '.join(words).casefold()} "
        found: list[str] = [each for each in spoken if f" {each} " in said] + [
            word for word in words if _is_drawn(shape, word)
        ]
        if found:
            return found[0]
    return ""


def _spoken(shape: Shape, value: Value) -> str:
    """Return a value of a pool as a sentence would hold it."""
    written = value if isinstance(value, str) else literal(shape.language, value).strip("'")
    return " ".join(_WORD.findall(with_plain_marks(written))).casefold()


def _is_drawn(shape: Shape, word: str) -> bool:
    """Return whether a number or a date is one that candidates are drawn from, however it is spelt."""
    span = shape.candidates.range
    if _DATE.fullmatch(word):
        try:
            day = date.fromisoformat(word)
        except ValueError:
            return False
        return isinstance(span, DateGrid) and span.low <= day <= span.high and not (day - span.low).days % span.step
    if not _NUMBER.fullmatch(word):
        return False
    number = Decimal(word.replace(",", ""))
    if isinstance(span, IntegerGrid | DecimalGrid):
        return span.low <= number <= span.high and not (number - span.low) % span.step
    return any(
        type(value) in (int, Decimal) and value == number  # True is no 1
        for value in shape.candidates.ranked
    )
