"""Who is told how far a study is."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["Progress", "Watcher"]


class Progress(Protocol):
    """A bar."""

    def update(self, done: int, total: int | None = None) -> None:
        """Set the number of steps that are done, and correct the total."""


class Watcher(Protocol):
    """Who is told how far a study is; the command line's console is one."""

    def note(self, message: str) -> None:
        """Say one line."""

    def progress(self, task: str, *, total: int | None, unit: str = "") -> AbstractContextManager[Progress]:
        """Show a bar for as long as the block runs."""
