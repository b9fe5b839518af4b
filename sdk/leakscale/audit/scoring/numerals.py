r"""Numbers as people and models write them, each read whole or not at all.

A part of a number is another number: `1.234,50` read as 1.234 makes a right answer wrong, or a wrong one right. A
numeral is therefore taken to its end first, and then either understood or not.

    1,234.50   12 000   1,23,456   -3   −3   minus 3   3/4   3½   2 1/2   1.5e3   1.2 × 10^3   5^2   5²
    $5   12%   ４２   \frac{-3}{4}   \frac34   2\frac{1}{2}   {3}/{4}   1{,}000

Not understood: a decimal comma (`3,5`, `1.234,50`), groups of another length (`12,3456`), `1.2.3`, anything over zero,
and what is longer than 400 characters. Groups of three digits with plain spaces between are one number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

__all__ = ["Numeral", "numerals", "plain_text"]

Numeral = Fraction | None
"""The exact value of a numeral: 0.1 is a tenth. None of one that is not understood."""

_CHARACTERS_MAX: Final = 400
"""Longer numerals are no answer of a benchmark, and reading their digits takes quadratic time."""
_DIGITS_MAX: Final = 4_000
"""Of a power."""

_IGNORABLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_VULGAR: Final = re.compile(r"(\d?)([\u00bc-\u00be\u2150-\u215e\u2189])")
_SUPERSCRIPT: Final = re.compile(r"(?<=\d)\u207b?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_SEPARATOR: Final = re.compile(r"(?<=\d)(?:\{,\}|\\[,!]|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))")
"""LaTeX's and typography's thousands separators."""
_LOOKALIKES: Final = str.maketrans(
    {"\u2044": "/", "\u2215": "/", "\u2010": "-", "\u2011": "-", "\u2212": "-", "\ufe63": "-", "\uff0d": "-"}
    | {"\uff0e": ".", "\uff0c": ",", "\u2013": "-"}
)

_RUN: Final = r"(?:\d{1,3}(?:\ \d{3})+(?![.,]?\d)|(?:\d|\.(?=\d))(?:[\d.,]*\d)?)"
_EXPONENT: Final = r"\s?\^\s?(?:\{\s*(-?\d{1,3})\s*\}|(-?\d{1,3}))(?!\d)"
_ARGUMENT: Final = rf"\s*(?:\{{\s*(-?\s?{_RUN})\s*\}}|(\d))"
_NUMERAL: Final = re.compile(
    rf"""
    (?P<sign>-|\bminus\b|\bnegative\b)?(?P<space>\s?) \\?[$€£¥]?\s?
    (?: (?:(?P<before_fraction>\d{{1,400}})\s*)? \\[dt]?frac (?P<over>{_ARGUMENT}) (?P<under>{_ARGUMENT})
      | (?P<before_slash>\d{{1,400}})\s+(?P<top>\d+)\s?/\s?(?P<bottom>\d+)
      | \{{\s*(?P<braced_top>-?{_RUN})\s*\}}\s?/\s?\{{\s*(?P<braced_bottom>{_RUN})\s*\}}
      | (?P<value>{_RUN})
        (?: \s?/\s?(?P<divisor>{_RUN})
          | [eE](?P<decimal_exponent>[+-]?\d{{1,3}})(?!\w)
          | \s?(?:×|x|\*|\\times|\\cdot)\s?10 (?P<scientific>{_EXPONENT})
          | (?P<power>{_EXPONENT})
        )?
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_GROUPED: Final = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d+)?|\d{1,3}(?: \d{3})+")
"""Groups of three, and of two before the last three as in India."""


def plain_text(text: str) -> str:
    """Write a text's signs, separators, fractions and powers in the one way that `numerals` reads."""
    text = _IGNORABLE.sub("", text)
    text = _VULGAR.sub(lambda match: f"{match[1]} " * bool(match[1]) + unicodedata.normalize("NFKC", match[2]), text)
    text = _SUPERSCRIPT.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
    return _SEPARATOR.sub(",", text.translate(_LOOKALIKES))


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the value of every numeral of a plain text, in order; None for one that is not understood."""
    for match in _NUMERAL.finditer(text):
        value = _value(match) if len(match.group()) <= _CHARACTERS_MAX else None
        is_negative = bool(match["sign"]) and not _is_operator(match)
        yield -value if is_negative and value is not None else value


def _value(match: re.Match[str]) -> Numeral:
    if match["over"]:
        return _mixed(match["before_fraction"], _argument(match["over"]), _argument(match["under"]))
    if match["top"]:
        return _mixed(match["before_slash"], _number(match["top"]), _number(match["bottom"]))
    if match["braced_top"]:
        return _mixed(None, _number(match["braced_top"]), _number(match["braced_bottom"]))
    value = _number(match["value"])
    if match["divisor"]:
        return _mixed(None, value, _number(match["divisor"]))
    if match["power"]:
        return _power(value, _exponent(match["power"]))
    exponent = match["decimal_exponent"] or match["scientific"]
    return _times(value, _power(Fraction(10), _exponent(exponent))) if exponent else value


def _number(text: str) -> Numeral:
    """Read digits with their separators; a minus of an argument of a fraction is theirs."""
    digits, is_negative = text.removeprefix("-").strip(), text.startswith("-")
    if not (_PLAIN.fullmatch(digits) or _GROUPED.fullmatch(digits)):
        return None
    value = Fraction(digits.replace(",", "").replace(" ", ""))
    return -value if is_negative else value


def _mixed(whole: str | None, top: Numeral, bottom: Numeral) -> Numeral:
    if top is None or not bottom:
        return None
    return Fraction(whole or 0) + top / bottom


def _times(one: Numeral, other: Numeral) -> Numeral:
    return None if one is None or other is None else one * other


def _power(base: Numeral, exponent: int) -> Numeral:
    if base is None or (base == 0 and exponent < 0):
        return None
    digits = len(str(abs(base.numerator))) + len(str(base.denominator))
    return None if digits * abs(exponent) > _DIGITS_MAX else base**exponent


def _argument(text: str) -> Numeral:
    return _number(text.strip().strip("{}").strip())


def _exponent(text: str) -> int:
    """Return the exponent of `^{3}`, `^-3`, `e+3` or `3`."""
    return int(text.strip(" ^{}\t\n").replace(" ", ""))


def _is_operator(match: re.Match[str]) -> bool:
    """Tell whether the sign stands between two numbers or in a word, as in `10-12`, `5 - 3` and `5 minus 3`."""
    if match["sign"].casefold() == "negative":
        return False
    before = match.string[max(0, match.start() - 2) : match.start()]
    if before[-1:].isalnum() or before[-1:] in {")", "]", "}"}:
        return True
    is_apart = bool(match["space"]) and before[-1:].isspace()
    return is_apart and (before[0].isdigit() or before[0] in ")]}")
