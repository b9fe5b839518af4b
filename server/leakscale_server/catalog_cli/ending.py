"""How every verb of the catalog speaks and ends.

Results go to standard output, progress and complaints to standard error. With `--json`, standard output holds one JSON
value, and an error is one JSON value on standard error, as with the commands of the SDK.
"""

from __future__ import annotations

import enum
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from leakscale.errors import LeakScaleError
from leakscale.usage import usage_text
from leakscale_server.catalog_audit.regeneration import RebuildError
from leakscale_server.catalog_check.check import AuthorFileError
from leakscale_server.config import ConfigError
from leakscale_server.core.shapes import ShapeError
from leakscale_server.errors import ServerFault
from leakscale_server.sandbox_cli.pool import InputError
from leakscale_server.sandbox_pool import BackendUnavailable, SandboxFault

__all__ = ["ExitCode", "JsonOption", "ending_in_one_line", "note", "say_json", "say_lines", "say_usage"]

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]
_SIGPIPE_EXIT: Final = 141
"""What a shell reports for a program whose reader went away."""


class ExitCode(enum.IntEnum):
    """How a verb ended."""

    KEPT = 0
    """Every rule is kept."""
    BROKEN = 1
    """A rule is broken."""
    UNCHECKED = 2
    """It could not be checked: an argument, a file, or this host."""
    INTERRUPTED = 130


@contextmanager
def ending_in_one_line(*, as_json: bool) -> Iterator[None]:
    """Turn what may go wrong, and Ctrl-C, into one line on standard error and an exit code."""
    try:
        yield
    except (ShapeError, AuthorFileError) as error:
        code, reason, message = ExitCode.BROKEN, "shape", str(error)
    except (InputError, ConfigError, LeakScaleError, ServerFault, OSError) as error:
        code, reason, message = ExitCode.UNCHECKED, "usage", _described(error)
    except (BackendUnavailable, SandboxFault, RebuildError) as error:
        code, reason, message = ExitCode.UNCHECKED, "sandbox", str(error)
    except KeyboardInterrupt:
        code, reason, message = ExitCode.INTERRUPTED, "interrupted", "interrupted; nothing was kept"
    else:
        return
    _complain(code, reason, message, as_json=as_json)
    raise typer.Exit(code)


def say_usage(error: Any, *, as_json: bool) -> None:
    """Say what is wrong with the arguments of a verb."""
    path = getattr(error.ctx, "command_path", "leakscale-server catalog")
    message = f"{usage_text(error)}; see `{path} --help`"
    _complain(ExitCode.UNCHECKED, "usage", message, as_json=as_json)


def _complain(code: ExitCode, reason: str, message: str, *, as_json: bool) -> None:
    line = " ".join(message.split())
    value = {"error": {"reason": reason, "message": line, "exit_code": int(code)}}
    note(json.dumps(value, ensure_ascii=False) if as_json else f"error: {line}")


def _described(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"cannot use '{error.filename}': {error.strerror or error}; check the path and its permissions"
    return str(error)


def note(line: str) -> None:
    """Say one line on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def say_json(value: Mapping[str, Any]) -> None:
    """Print one JSON value."""
    with _until_nobody_reads():
        sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def say_lines(lines: Iterable[Any]) -> None:
    """Print lines, texts of rich or plain ones, with colors in a terminal alone."""
    from rich.console import Console  # noqa: PLC0415 - `--json` need not wait for it

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    with _until_nobody_reads():
        for line in lines:
            console.print(line)


@contextmanager
def _until_nobody_reads() -> Iterator[None]:
    """End like a program whose reader went away, e.g. `| head`, when that is so."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(_SIGPIPE_EXIT) from error
