"""Hold what is written against what is computed again, number by number.

Numbers in full precision are the same if they agree to nine digits: the last bits of a sum depend on the processor and
the version of a library. Everything else has to be equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, Final

__all__ = ["count_numbers", "text_difference", "value_difference"]

_DIGITS: Final = 1e-9
"""Relative; absolute below 1."""
_NUMBER: Final = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
_ANY_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


def text_difference(found: str, expected: str) -> str:
    """Say at which line two texts differ first; empty if they say the same."""
    lines = zip_longest(found.split("\n"), expected.split("\n"), fillvalue="")
    for number, (own, other) in enumerate(lines, 1):
        if own != other and not _is_same_line(own, other):
            return f"line {number} is {_shown(own)}, expected {_shown(other)}"
    return "" if found.count("\n") == expected.count("\n") else "its last line has another end"


def value_difference(found: Any, expected: Any, *, at: str = "") -> str:
    """Say in which field two JSON values differ first; empty if they say the same."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for name in sorted(found.keys() | expected.keys()):
            place = f"{at}[{name}]" if isinstance(name, int) else f"{at}.{name}" if at else name
            if name not in expected:
                return f"{place} is there, expected none"
            if name not in found:
                return f"{place} is missing, expected {_shown(expected[name])}"
            if difference := value_difference(found[name], expected[name], at=place):
                return difference
        return ""
    if isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)):
        return value_difference(dict(enumerate(found)), dict(enumerate(expected)), at=at)
    return "" if _is_same_value(found, expected) else f"{at} is {_shown(found)}, expected {_shown(expected)}"


def count_numbers(text: str) -> int:
    """Count the numbers of a text."""
    return len(_ANY_NUMBER.findall(text))


def _is_same_value(found: Any, expected: Any) -> bool:
    if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (found, expected)):
        return _is_same_number(found, expected)
    return type(found) is type(expected) and bool(found == expected)


def _is_same_line(found: str, expected: str) -> bool:
    if _NUMBER.sub("#", found) != _NUMBER.sub("#", expected):
        return False
    pairs = zip(_NUMBER.findall(found), _NUMBER.findall(expected), strict=True)
    return all(_is_same_number(float(own), float(other)) for own, other in pairs)


def _is_same_number(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=_DIGITS, abs_tol=_DIGITS)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
