"""Where output goes: results to stdout, everything about their making to stderr.

A terminal gets color and bars; a pipe, a log or CI gets plain lines. With `--json` stdout holds exactly one JSON value
and an error is one JSON value on stderr.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from leakscale.plain_text import shown
from leakscale.progress import Progress, shown_progress

if TYPE_CHECKING:
    from rich.console import RenderableType

    from leakscale.cli.exits import Failure

__all__ = ["Console"]

_SIGPIPE_EXIT = 141
"""What a shell reports for a program whose reader went away."""


class Console:
    """The two output streams of one command."""

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json

    @property
    def as_json(self) -> bool:
        """Return whether results and errors are JSON."""
        return self._as_json

    def result(
        self, value: Mapping[str, object], *, text: str, rich: Callable[[], RenderableType] | None = None
    ) -> None:
        """Print the result of a command to stdout, once.

        Args:
            value: For `--json`.
            text: For a pipe or a file: plain characters, at most 80 columns.
            rich: Builds the same for a terminal; called only there. Without it, a terminal gets `text` too.
        """
        try:
            if self._as_json:
                print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))  # noqa: T201
            elif rich is not None and sys.stdout.isatty():
                from rich.console import Console as RichConsole  # noqa: PLC0415 - only a terminal pays for it

                RichConsole().print(rich())
            else:
                print(shown(text))  # noqa: T201
            sys.stdout.flush()
        except BrokenPipeError as error:
            # The reader has what it wanted, e.g. `| head`. Python would complain once more while shutting down.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(_SIGPIPE_EXIT) from error

    def note(self, message: str) -> None:
        """Say one line on stderr."""
        print(shown(message), file=sys.stderr, flush=True)  # noqa: T201

    def fail(self, failure: Failure) -> None:
        """Say on stderr why the command ended."""
        line = json.dumps(failure.to_dict(), ensure_ascii=False) if self._as_json else f"error: {failure.message}"
        self.note(line)

    @contextmanager
    def logs(self) -> Iterator[None]:
        """Say what the package logs, e.g. that an endpoint does not answer and is asked again."""
        logger, handler = logging.getLogger("leakscale"), _Noting(self)
        before = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)

    @contextmanager
    def progress(self, task: str, *, total: int | None, unit: str = "") -> Iterator[Progress]:
        """Show how far a task is, on stderr, for as long as the block runs.

        Args:
            task: What is being done, e.g. `certify`.
            total: Number of steps; None where nobody knows.
            unit: Plural of what is counted, e.g. `families`.
        """
        with shown_progress(task, total=total, unit=unit, write=self.note) as bar:
            yield bar


class _Noting(logging.Handler):
    """Says log records as lines on stderr."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Say one."""
        self._console.note(record.getMessage())
