"""What an invariant says about a catalog: how much was looked at, and what breaks it."""

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
    others: tuple[str, ...] = ()
    """What else breaks it, where all of that is looked for."""
    shape_ids: tuple[str, ...] = ()
    """Shapes that cannot stay as they are, though each of their families may keep the rule by itself."""

    @property
    def holds(self) -> bool:
        """Return whether nothing breaks it."""
        return not self.fault

    @property
    def faults(self) -> tuple[str, ...]:
        """Return all that was found, one line each."""
        return (self.fault, *self.others) if self.fault else ()


def counted(count: int, one: str, many: str = "") -> str:
    """Write a number with what it counts: `1 family`, `2,048 families`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def find(invariant: str, checked: str, faults: Iterable[str]) -> Finding:
    """Look for the first fault; those behind it are not looked for."""
    return Finding(invariant, checked, next(iter(faults), ""))
