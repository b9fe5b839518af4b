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
    lines = zip_longest(found.splitlines(), expected.splitlines(), fillvalue="")
    for number, (own, other) in enumerate(lines, 1):
        if own != other and not _is_same_line(own, other):
            return f"line {number} is {_shown(own)}, expected {_shown(other)}"
    return "" if found.endswith("\n") == expected.endswith("\n") else "its last line has another end"


def value_difference(found: Any, expected: Any, *, at: str = "") -> str:
    """Say in which field two JSON values differ first; empty if they say the same."""
    own, other = _leaves(found, at), _leaves(expected, at)
    for place in sorted(own.keys() | other.keys()):
        if place not in other:
            return f"{place} is there, expected none"
        if place not in own:
            return f"{place} is missing, expected {_shown(other[place])}"
        if not _is_same_value(own[place], other[place]):
            return f"{place} is {_shown(own[place])}, expected {_shown(other[place])}"
    return ""


def count_numbers(text: str) -> int:
    """Count the numbers of a text."""
    return len(_ANY_NUMBER.findall(text))


def _leaves(value: Any, at: str) -> dict[str, Any]:
    """Return the texts, numbers and empty containers of a JSON value by where they stand."""
    if isinstance(value, Mapping) and value:
        parts = ((f"{at}.{name}" if at else str(name), part) for name, part in value.items())
    elif isinstance(value, (list, tuple)) and value:
        parts = ((f"{at}[{place}]", part) for place, part in enumerate(value))
    else:
        return {at: value}
    return {place: leaf for name, part in parts for place, leaf in _leaves(part, name).items()}


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
