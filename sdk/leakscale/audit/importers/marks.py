"""From what a scorer wrote to a score."""

from __future__ import annotations

import math
from typing import Any, Final

from leakscale.errors import InvalidRequestError

__all__ = ["score_of"]

_MARKS: Final = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
"""Letters of inspect_ai (correct, incorrect, partial, no answer) and words for right and wrong, lower-cased."""


def score_of(value: Any, *, subject: str) -> float | None:
    """Return the number that a value stands for; None if it stands for no score (null, NaN, empty text).

    Args:
        value: Number, truth value, number in text, or one of the marks above.
        subject: What the value is of, for the message.

    Raises:
        InvalidRequestError: If it is anything else. A mark nobody knows must not count as wrong.
    """
    number = _number(value)
    if number is None:
        raise InvalidRequestError(
            f"{subject} is {str(value)[:60]!r}, which is no score; a score is a number, a truth value or one of "
            f"{', '.join(_MARKS).upper()}; name another metric"
        )
    return None if math.isnan(number) else number


def _number(value: Any) -> float | None:
    """Return the number that a value stands for, NaN for none; None if it is no score."""
    written = "" if value is None else value.strip().lower() if isinstance(value, str) else value
    if not isinstance(written, bool | int | float | str):
        return None
    if isinstance(written, str) and written in _MARKS:
        return _MARKS[written]
    try:
        return math.nan if written == "" else float(written)
    except (OverflowError, ValueError):
        return None
