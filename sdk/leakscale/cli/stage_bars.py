"""How far a command of several long stages is."""

from __future__ import annotations

import contextlib

from leakscale.cli.console import Console
from leakscale.progress import Progress

__all__ = ["StageBars"]


class StageBars:
    """One bar on stderr at a time, a new one for each stage of a long command."""

    def __init__(self, console: Console) -> None:
        self._console, self._stage = console, ""
        self._stack = contextlib.ExitStack()
        self._bar: Progress | None = None

    def __enter__(self) -> StageBars:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def begin(self, stage: str) -> None:
        """Show that a stage is under way whose steps nobody counts."""
        self._open(stage, None, "")

    def update(self, stage: str, done: int, total: int, *, unit: str = "") -> None:
        """Show how far a stage is."""
        bar = self._bar if stage == self._stage and self._bar else self._open(stage, total, unit)
        bar.update(done, total)

    def _open(self, stage: str, total: int | None, unit: str) -> Progress:
        self._stack.close()
        bar = self._stack.enter_context(self._console.progress(stage, total=total, unit=unit))
        self._stage, self._bar = stage, bar
        return bar
