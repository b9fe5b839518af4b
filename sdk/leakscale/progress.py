"""How far a long task is: a bar in a terminal, a line now and then elsewhere; always on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["LineProgress", "Progress", "shown_progress", "terminal_progress"]

_QUIET_S = 2.0
"""A task that ends within this time says nothing."""
_LINE_S = 5.0
"""A line is due after this time, ..."""
_LINE_SHARE = 0.1
"""... or after this share of the task, if a second has passed."""
_SILENT_S = 8.0
"""A task that has said nothing for this time, because no step ended, says that it is under way."""


class Progress(Protocol):
    """What a task tells about itself."""

    def advance(self, count: int = 1) -> None:
        """Count steps that are done now."""

    def update(self, done: int, total: int | None = None) -> None:
        """Set the number of steps that are done, and correct the total."""


class LineProgress:
    """Plain lines with count, rate and time left, for a log."""

    def __init__(
        self,
        task: str,
        *,
        total: int | None,
        unit: str,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._task, self._total, self._unit = task, total, unit
        self._write, self._clock = write, clock
        self._done = self._done_written = 0
        self._first: tuple[float, int] | None = None
        """Time and count of the first word: what an earlier run did counts for neither rate nor time left."""
        self._start = self._written = clock()
        self._lock = threading.Lock()

    def advance(self, count: int = 1) -> None:
        """Count steps that are done now."""
        self.update(self._done + count)

    def update(self, done: int, total: int | None = None) -> None:
        """Set the number of steps that are done, and correct the total."""
        with self._lock:
            self._done = done
            self._total = total if total is not None else self._total
            now = self._clock()
            self._first = self._first or (now, done)
            silent = now - self._written
            moved = (done - self._done_written) / self._total if self._total else 0.0
            is_due = silent >= _LINE_S or (moved >= _LINE_SHARE and silent >= 1)
            if is_due and now - self._start >= _QUIET_S and done != self._total:
                self._say(self._line(), now)

    def remind(self) -> None:
        """Say that the task is under way, if it has been silent for long; called by time and not by steps."""
        with self._lock:
            now = self._clock()
            if now - self._written >= _SILENT_S:
                count = f"{self._counted()}, " if self._first else ""
                self._say(f"{self._task}: {count}under way for {now - self._start:.0f} s", now)

    def finish(self) -> None:
        """Say the total once, unless the task was too short to mention, or counted nothing."""
        seconds = self._clock() - self._start
        if seconds >= _QUIET_S and self._first:
            rate = self._rate()
            self._write(f"{self._task}: {self._count()} in {seconds:.1f} s" + (f" ({_said(rate)}/s)" if rate else ""))

    def _say(self, line: str, now: float) -> None:
        self._write(line)
        self._written, self._done_written = now, self._done

    def _rate(self) -> float:
        """Return the steps a second of this run, 0 where nobody can tell yet."""
        since, before = self._first or (0.0, 0)
        seconds = self._clock() - since
        return (self._done - before) / seconds if seconds > 0 else 0.0

    def _line(self) -> str:
        rate = self._rate()
        words = [f"{self._task}: {self._counted()}"]
        if rate:
            words.append(f"{_said(rate)}/s")
        if self._total and rate:
            words.append(f"{(self._total - self._done) / rate:.0f} s left")
        return ", ".join(words)

    def _counted(self) -> str:
        share = f" ({100 * self._done / self._total:.0f} %)" if self._total else ""
        return f"{self._count()}{share}"

    def _count(self) -> str:
        of_total = f"/{self._total}" if self._total else ""
        return f"{self._done}{of_total} {self._unit}".rstrip()


def _said(rate: float) -> str:
    """Write a rate to three digits, or whole where it has more."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


class _Bar:
    """One bar of rich, moved by the same two calls."""

    def __init__(self, move: Callable[..., None]) -> None:
        self._move = move

    def advance(self, count: int = 1) -> None:
        self._move(advance=count)

    def update(self, done: int, total: int | None = None) -> None:
        self._move(completed=done, **({} if total is None else {"total": total}))


@contextmanager
def shown_progress(task: str, *, total: int | None, unit: str, write: Callable[[str], None]) -> Iterator[Progress]:
    """Show how far a task is for as long as the block runs.

    Args:
        task: What is being done, e.g. `certify`.
        total: Number of steps; None where nobody knows.
        unit: Plural of what is counted, e.g. `families`.
        write: Says one line on standard error; not used where that is a terminal.
    """
    if sys.stderr.isatty():
        with terminal_progress(task, total=total, unit=unit) as bar:
            yield bar
        return
    lines = LineProgress(task, total=total, unit=unit, write=write)
    with _reminding(lines):
        yield lines
    lines.finish()


@contextmanager
def _reminding(lines: LineProgress) -> Iterator[None]:
    """Let a task be heard from while none of its steps ends; a bar in a terminal moves by itself."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(_SILENT_S / 8):
            lines.remind()

    watcher = threading.Thread(target=watch, name="leakscale-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


@contextmanager
def terminal_progress(task: str, *, total: int | None, unit: str) -> Iterator[Progress]:
    """Show a bar on stderr with count, rate and time left."""
    from rich import progress as rich_progress  # noqa: PLC0415 - only a terminal pays for it
    from rich.console import Console as RichConsole  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class Rate(rich_progress.ProgressColumn):
        def render(self, task: rich_progress.Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{_said(speed)}/s" if speed else "", style="dim")

    columns = (
        rich_progress.TextColumn("{task.description:<14}"),
        rich_progress.BarColumn(bar_width=28),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TextColumn(f"[dim]{unit}[/]"),
        Rate(),
        rich_progress.TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with rich_progress.Progress(*columns, console=RichConsole(stderr=True)) as bars:
        handle = bars.add_task(task, total=total)
        yield _Bar(lambda **moves: bars.update(handle, **moves))
