"""A program as its author wrote it, and what the checks of both languages say of it."""

from __future__ import annotations

from dataclasses import dataclass

from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Problem

__all__ = ["WrittenProgram", "bare_slot", "line_at"]


@dataclass(frozen=True, slots=True)
class WrittenProgram:
    """One program, and where it stands."""

    text: str
    path: Path
    is_masked: bool
    """Whether a candidate's literal goes into it; a whole program has its value already."""


def bare_slot(slot: str, written: str, path: Path, line: int) -> Problem:
    """Return what is wrong with the name of a slot where its placeholder is meant."""
    rule = f"must write the slot {slot} as {{{{{slot}}}}}; a name of your own needs another word"
    return Problem(path, rule, written, line)


def line_at(text: str, place: int) -> int:
    """Return the 0-based line of a place in a text."""
    return text.count("\n", 0, place)
