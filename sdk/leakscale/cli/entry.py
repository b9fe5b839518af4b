"""The outermost frame of a command: arguments in, exit code out, and no traceback in between."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import typer

from leakscale.cli.app import app
from leakscale.cli.console import Console
from leakscale.cli.exits import ExitCode, failure_of, interrupted
from leakscale.cli.shell import hoist_global_options

__all__ = ["run"]


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    Every exception ends as one line on stderr; LEAKSCALE_DEBUG=1 puts its traceback before it.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors of a connection are told by us, in words
    console = Console(as_json="--json" in arguments)
    with _interruptible(console), console.logs():
        try:
            _require_text(arguments)
            outcome = app(hoist_global_options(arguments), prog_name="leakscale", standalone_mode=False)
        except KeyboardInterrupt as error:
            console.fail(interrupted(str(error)))
            return int(ExitCode.INTERRUPTED)
        except Exception as error:
            if os.environ.get("LEAKSCALE_DEBUG") == "1":
                traceback.print_exc(file=sys.stderr)
            failure = failure_of(error)
            console.fail(failure)
            return int(failure.exit_code)
    code = outcome if isinstance(outcome, int) else int(ExitCode.OK)
    if code == ExitCode.INTERRUPTED:
        console.fail(interrupted())
    return code


def _require_text(arguments: Sequence[str]) -> None:
    """Refuse what no file of ours could hold: bytes of a command line that are no text come as lone surrogates."""
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise typer.BadParameter(f"argument {number}, {argument!r}, is not UTF-8; type it again") from error


@contextmanager
def _interruptible(console: Console) -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, but end the process at once where it meets an import.

    Native libraries turn an exception in their initialization into errors of their own, or abort. Nothing of ours is
    half done during an import, and a server of ours stops by itself when we are gone.
    """

    def interrupt(_number: int, frame: FrameType | None) -> None:
        if _is_importing(frame):
            console.fail(interrupted())
            os._exit(ExitCode.INTERRUPTED)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
