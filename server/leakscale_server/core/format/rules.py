"""What the validator of single fields finds, in the words of the format: `must be …; got …`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from pydantic_core import ErrorDetails

from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Phrase, Problem
from leakscale_server.core.format.text import is_plain_text

__all__ = ["broken_rules", "show"]

_SHOWN_CHARACTERS_MAX: Final = 60

_FOUR: Final = frozenset({"outputs", "programs"})
"""Arrays with an entry for each candidate."""
_PATTERNS: Final = {
    "^[a-z]": "must be a lower-case identifier of at most 24 letters, digits and underscores",
    "^(sql|python)": "must be 'sql-' or 'python-' and lower-case words joined by dashes",
}
_RULES: Final[Mapping[str, str]] = {
    "missing": "must be given",
    "extra_forbidden": "must be left out; the format has no such field",
    "union_tag_not_found": "must be given",
    "union_tag_invalid": "must be one of {expected_tags}",
    "literal_error": "must be {expected}",
    "int_type": "must be an integer",
    "string_type": "must be text in quotes",
    "bool_type": "must be true or false",
    "tuple_type": "must be an array",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "date_type": "must be a date without quotes and without a time, such as 2024-03-05",
    "is_instance_of": "must be a number",
    "decimal_type": "must be a number",
    "finite_number": "must be a finite number",
    "decimal_max_places": "must have at most {decimal_places} decimal places",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have {min_length} or more entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
}
"""By the validator's own names of errors."""


def broken_rules(details: Sequence[ErrorDetails], data: object) -> list[Problem]:
    """Return what is wrong, where in the file, and what stands there.

    Args:
        details: Errors of the validator, at least one.
        data: The file as parsed.
    """
    # An array is also called too short when its entries are wrong; those say more.
    telling = [detail for detail in details if not _is_shortened(detail)]
    return [_broken_rule(detail, data) for detail in telling or details]


def _is_shortened(detail: ErrorDetails) -> bool:
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def _broken_rule(detail: ErrorDetails, data: object) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    location, value = detail["loc"], detail["input"]
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        # The validator shows the whole table; an author looks for the field that decides which one it is.
        tag = str(context["discriminator"]).strip("'")
        location, value = (*location, tag), context.get("tag", "")
    path = _resolve(location, data)
    if kind == "missing" and isinstance(location[-1], int):
        is_for_candidates = location[-2] in _FOUR
        rule = (
            "must have four entries, one for each value of the pool" if is_for_candidates else "must have another entry"
        )
        found = Phrase(f"{location[-1]}") if is_for_candidates else None
        return Problem(path[:-1] if path and path[-1] == location[-1] else path, rule, found)
    if kind in {"missing", "union_tag_not_found"}:
        return Problem(path, _RULES[kind], None)
    return Problem(path, _rule(detail, context), value)


def _rule(detail: ErrorDetails, context: Mapping[str, Any]) -> str:
    if detail["type"] == "string_pattern_mismatch":
        return next(rule for start, rule in _PATTERNS.items() if context["pattern"].startswith(start))
    known = _RULES.get(detail["type"])
    if known is not None:
        shown = {name: value if isinstance(value, str) else show(value) for name, value in context.items()}
        return known.format_map(shown)
    return re.sub(r"^[A-Z][a-z]*( input)? should ", "must ", detail["msg"]).replace(" after validation", "")


def _resolve(location: tuple[str | int, ...], data: object) -> Path:
    """Keep the parts of a validation location that are keys or indices of the file; drop the tags of unions."""
    path: Path = ()
    here = data
    for place, part in enumerate(location):
        if isinstance(here, dict):
            is_found = part in here
        else:
            is_found = isinstance(here, tuple) and isinstance(part, int) and part < len(here)
        if is_found:
            here = here[part]  # type: ignore[index]
        if is_found or (isinstance(here, dict) and place == len(location) - 1):
            path = (*path, part)
    return path


def show(value: object) -> str:
    """Write a value as its file does, in one line and shortened; letters that nobody sees are spelt out."""
    shown = _write(value)
    return shown if len(shown) <= _SHOWN_CHARACTERS_MAX else shown[: _SHOWN_CHARACTERS_MAX - 3] + "..."


def _write(value: object) -> str:  # noqa: PLR0911 - one line a type
    match value:
        case Phrase():
            return str(value)
        case str():
            return repr(value) if is_plain_text(value.replace("\n", "")) else ascii(value)
        case bool():
            return str(value).lower()
        case datetime() | date() | time():
            return value.isoformat()
        case list() | tuple():
            return f"[{', '.join(map(_write, value))}]"
        case dict():
            return "a table"
        case Decimal():
            return format(value, "f") if value.is_finite() and abs(value.adjusted()) < 40 else str(value).lower()
        case _:
            return str(value)
