r"""The registered parser of numeric answers.

Formats are tried in the order registered, and within a format its last occurrence counts: a model that corrects itself
means what it says last. The format met is recorded, because a model that ignores the registered phrase is scored on
another footing than one that follows it.

    #### 42            hash
    \boxed{42}         boxed
    The answer is 42.  phrase
    ... so 42 left     last-number

Source: CleanScore 7.1 (exact numeric match after a registered parser), 7.3 (the amended parser also takes a box: many
models answer in one, and the registered phrase was largely ignored).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from leakscale.errors import InvalidRequestError

__all__ = ["AnswerFormat", "NumericParser", "ParsedNumber", "read_number"]

_DIGITS_MAX: Final = 400
"""Longer runs of digits are no answer of a benchmark, and reading them takes quadratic time."""
_GROUPED: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
_PLAIN: Final = r"\d+(?:\.\d+)?|\.\d+"
_UNSIGNED: Final = rf"(?:{_GROUPED}|{_PLAIN})"
_NUMBER: Final = re.compile(
    rf"(?P<sign>[-−–])?\s?\\?[$€£¥]?\s?(?:(?P<whole>\d+)\s*(?=\s\d+\s?/\s?\d|\\[dt]?frac)\s*)?"
    rf"(?:\\[dt]?frac\s*{{\s*(?P<over>\d+)\s*}}\s*{{\s*(?P<under>\d+)\s*}}"
    rf"|(?P<value>{_UNSIGNED})(?:\s?/\s?(?P<divisor>{_UNSIGNED}))?)"
)
_PHRASE: Final = re.compile(r"\banswer\s*(?:is|:|=)\s*:?", re.IGNORECASE)
_HASH: Final = re.compile(r"####")
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*{")
_SEPARATOR: Final = re.compile(r"(?<=\d)(?:\{,\}|\\[,!]|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))")
"""LaTeX's and typography's thousands separators. A plain space may stand between two numbers, so it is none."""
_SAYS_SOMETHING: Final = re.compile(r"[^\n]*\w[^\n]*")
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
        text = _SEPARATOR.sub(",", text)
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
    """Return the first number of a text, with its sign, separators and fraction; None if there is none."""
    for match in _NUMBER.finditer(text):
        value = _value(match)
        if value is not None:
            return value
    return None


def _value(match: re.Match[str]) -> Fraction | None:
    if len(match.group()) > _DIGITS_MAX:
        return None
    if match["over"] is not None:
        top, bottom = Fraction(match["over"]), Fraction(match["under"])
    else:
        top, bottom = _plain(match["value"]), _plain(match["divisor"] or "1")
    if bottom == 0:
        return None
    value = Fraction(match["whole"] or 0) + top / bottom
    return -value if match["sign"] and not _joins(match) else value


def _joins(match: re.Match[str]) -> bool:
    """Tell whether the sign is a dash between a word or number and this one, as in `10-12`."""
    before = match.string[: match.start()]
    return bool(before) and (before[-1].isalnum() or before[-1] in ")]}")


def _plain(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _after_last(marker: re.Pattern[str], text: str) -> Fraction | None:
    """Return the number that follows the last marker: on its line, or on the next one that says anything."""
    for match in reversed(list(marker.finditer(text))[-_MARKERS_MAX:]):
        line = _SAYS_SOMETHING.search(text, match.end())
        value = _result(line.group()) if line else None
        if value is not None:
            return value
    return None


def _result(text: str) -> Fraction | None:
    """Return the number a short text gives: of an equation, the one after its last sign of equality."""
    _, _, right = text.rpartition("=")
    value = read_number(right)
    return read_number(text) if value is None else value


def _boxed(text: str) -> Fraction | None:
    for match in reversed(list(_BOX.finditer(text))[-_MARKERS_MAX:]):
        value = _result(_braced(text, match.end()))
        if value is not None:
            return value
    return None


def _braced(text: str, start: int) -> str:
    """Return the text up to the brace that closes the one before `start`."""
    depth = 1
    for end in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return text[start:]


def _last_number(text: str) -> Fraction | None:
    values = [value for match in _NUMBER.finditer(text) if (value := _value(match)) is not None]
    return values[-1] if values else None


_READERS: Final = {
    AnswerFormat.HASH: lambda text: _after_last(_HASH, text),
    AnswerFormat.BOXED: _boxed,
    AnswerFormat.PHRASE: lambda text: _after_last(_PHRASE, text),
    AnswerFormat.LAST_NUMBER: _last_number,
}
