"""How a check ends: with what it looked at, with the first fault, or with what it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leakscale.errors import IntegrityError

__all__ = ["Checked", "UncheckedError", "counted", "require_same"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check looked at, and found as it should be."""

    count: int
    """How many things."""
    what: str
    """Which, in words."""
    message: str = ""
    """What a reader should know, e.g. how far the check reaches."""


class UncheckedError(Exception):
    """Something that a check needs is not there; nothing speaks against the evidence."""

    def __init__(self, what: str, message: str, *, count: int = 0) -> None:
        super().__init__(message)
        self.what, self.count = what, count


def counted(count: int, one: str, many: str) -> str:
    """Write a number with its noun."""
    return f"{count:,} {one if count == 1 else many}"


def require_same(source: str, what: str, found: Any, expected: Any) -> None:
    """Compare a value with the expected one.

    Raises:
        IntegrityError: If they differ; the message names file, thing and both values.
    """
    if found != expected:
        raise IntegrityError(f"{source}: {what} is {found!r}, expected {expected!r}")
