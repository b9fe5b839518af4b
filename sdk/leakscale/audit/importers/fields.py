"""Fields of JSON objects that somebody else wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic_core import from_json

from leakscale.errors import InvalidRequestError
from leakscale.reading import fault_of

__all__ = ["field_of", "flattened", "parse_json", "readable"]


@contextmanager
def readable(subject: str, what: str, *, advice: str = "copy it again") -> Iterator[None]:
    """Say of which part of a file the block could not make sense.

    Args:
        subject: File and place.
        what: What it is not.
        advice: What to do.

    Raises:
        InvalidRequestError: If a field is missing, or of another type or size than it can be.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidRequestError(f"{subject} is no {what} ({fault_of(error)}); {advice}") from error


def parse_json(content: bytes, *, source: str) -> Any:
    """Parse JSON in which NaN and infinity may stand, as evaluation logs write them.

    Raises:
        InvalidRequestError: If it is none.
    """
    try:
        return from_json(content)
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"{source}: no JSON ({error}); copy the log again") from error


def field_of(record: Mapping[str, Any], name: str, *, subject: str) -> str:
    """Return a field that names something, as text; dots lead into objects.

    Raises:
        InvalidRequestError: If it is not there, or is neither text nor a whole number.
    """
    value: Any = record
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            there = ", ".join(map(repr, value)) if isinstance(value, Mapping) else "nothing below it"
            raise InvalidRequestError(f"{subject} has no field '{name}', only {there}; name another field")
        value = value[part]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidRequestError(f"{subject}: field '{name}' is {str(value)[:40]!r}; a name is text or a whole number")
    return str(value)


def flattened(fields: Mapping[str, Any] | None, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield what is in an object and in the objects in it, by dotted name; lists are values."""
    for name, value in (fields or {}).items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}.{name}")
        else:
            yield f"{prefix}.{name}", value
