"""What an invariant says about a catalog: how much was looked at, and the first thing that breaks it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Finding", "counted", "find"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant, checked."""

    invariant: str
    """Its name, e.g. `balance`."""
    checked: str
    """What was looked at and how much of it, e.g. `128 cells of 16 families`."""
    fault: str = ""
    """The first thing that breaks it, by name; empty where it holds."""

    @property
    def holds(self) -> bool:
        """Return whether nothing breaks it."""
        return not self.fault


def counted(count: int, one: str, many: str = "") -> str:
    """Write a number with what it counts: `1 family`, `2,048 families`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def find(invariant: str, checked: str, faults: Iterable[str]) -> Finding:
    """Look for the first fault; those behind it are not looked for."""
    return Finding(invariant, checked, next(iter(faults), ""))
