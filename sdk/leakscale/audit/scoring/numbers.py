r"""The registered parser of numeric answers.

Formats are tried in the order registered, and within a format its last occurrence counts: a model that corrects itself
means what it says last. The format met is recorded, because a model that ignores the registered phrase is scored on
another footing than one that follows it.

    #### 42            hash
    \boxed{42}         boxed
    The answer is 42.  phrase
    ... so 42 left     last-number

Source: CleanScore 7.1 (exact numeric match after a registered parser), 7.3 (the amended parser also takes a box: many
models answer in one, and the registered phrase was largely ignored). What a number is, `numerals` says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from leakscale.audit.scoring.numerals import Numeral, numerals, plain_text
from leakscale.errors import InvalidRequestError

__all__ = ["AnswerFormat", "NumericParser", "ParsedNumber", "read_number"]

_PHRASE: Final = re.compile(r"\banswer\s*(?:is|:|=)\s*:?", re.IGNORECASE)
_HASH: Final = re.compile(r"####")
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*{")
_WORD: Final = re.compile(r"\w")
_REACH: Final = 4_096
"""Characters behind a marker in which its number is looked for: a text without one would be read once a marker."""
_EXPRESSION: Final = re.compile(r"\d\s*[-+*×÷]\s*\d")
_MARKERS_MAX: Final = 32
"""Markers looked at from the end; a text that repeats one without a number would take quadratic time."""


class AnswerFormat(StrEnum):
    """How a model marked its answer."""

    HASH = "hash"
    BOXED = "boxed"
    PHRASE = "phrase"
    LAST_NUMBER = "last-number"
    NONE = "none"
    """No number where the registered formats look for one."""


@dataclass(frozen=True, slots=True)
class ParsedNumber:
    """What the parser read."""

    value: Fraction | None
    """Exact: 0.1 is a tenth. None when there is no number."""
    format: AnswerFormat


@dataclass(frozen=True, slots=True)
class NumericParser:
    """Reads the number that a text answers with.

    Raises:
        InvalidRequestError: If no format is named, or one twice.
    """

    formats: Sequence[AnswerFormat] = (
        AnswerFormat.HASH,
        AnswerFormat.BOXED,
        AnswerFormat.PHRASE,
        AnswerFormat.LAST_NUMBER,
    )
    """In the order in which they are tried."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "formats", tuple(AnswerFormat(each) for each in self.formats))
        if not self.formats or len(set(self.formats)) < len(self.formats) or AnswerFormat.NONE in self.formats:
            listed = ", ".join(self.formats) or "nothing"
            raise InvalidRequestError(f"parser.formats is {listed}; name hash, boxed, phrase or last-number, each once")

    def parse(self, text: str) -> ParsedNumber:
        """Read a completion."""
        text = plain_text(text)
        for answer_format in self.formats:
            value = _READERS[answer_format](text)
            if value is not None:
                return ParsedNumber(value, answer_format)
        return ParsedNumber(None, AnswerFormat.NONE)

    def is_right(self, text: str, gold: str) -> bool:
        """Tell whether a completion answers with the gold number, exactly.

        Raises:
            InvalidRequestError: If the gold answer is no number.
        """
        wanted = read_number(gold)
        if wanted is None:
            raise InvalidRequestError(f"gold answer {gold!r} is no number; a numeric criterion needs one")
        return self.parse(text).value == wanted


def read_number(text: str) -> Fraction | None:
    """Return the number of a text that holds one and no other, with its sign and unit; None for any other text."""
    found = list(numerals(plain_text(text)))
    return found[0] if len(found) == 1 else None


def _after_last(marker: re.Pattern[str], text: str) -> Fraction | None:
    """Return the number that follows the last marker: on its line, or on the next one that says anything."""
    for match in reversed(list(marker.finditer(text))[-_MARKERS_MAX:]):
        behind = text[match.end() : match.end() + _REACH].split("\n")
        line = next((each for each in behind if _WORD.search(each)), None)
        value = _result(line) if line is not None else None
        if value is not None:
            return value
    return None


def _result(text: str) -> Numeral:
    """Return the number a short text gives: of an equation, the side after its last sign of equality.

    Where that side is a sum of its own and the one before it is a number, as in `5 = 2 + 3`, that number.
    """
    *before, last = text.split("=")
    found = list(numerals(last))
    left = list(numerals(before[-1])) if before else []
    if len(left) == 1 and (not found or _EXPRESSION.search(last)):
        return left[0]
    return found[0] if found else next(numerals(text), None)


def _boxed(text: str) -> Fraction | None:
    for match in reversed(list(_BOX.finditer(text))[-_MARKERS_MAX:]):
        value = _result(_braced(text, match.end()))
        if value is not None:
            return value
    return None


def _braced(text: str, start: int) -> str:
    """Return the text up to the brace that closes the one before `start`."""
    text = text[start : start + _REACH]
    depth = 1
    for end, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            return text[:end]
    return text


def _last_number(text: str) -> Numeral:
    last = None
    for last in numerals(text):  # noqa: B007 - the last one is wanted
        pass
    return last


_READERS: Final = {
    AnswerFormat.HASH: lambda text: _after_last(_HASH, text),
    AnswerFormat.BOXED: _boxed,
    AnswerFormat.PHRASE: lambda text: _after_last(_PHRASE, text),
    AnswerFormat.LAST_NUMBER: _last_number,
}
