"""What every command can use: the console, and which server to call as whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from leakscale.cli.console import Console

__all__ = ["DEFAULT_SERVER", "Shell", "hoist_global_options", "shell_of"]

DEFAULT_SERVER = "127.0.0.1:7443"
_FLAGS = frozenset({"--json"})
_OPTIONS = frozenset({"--server", "--token", "--ca", "--client-certificate", "--client-key"})


@dataclass(frozen=True, slots=True)
class Shell:
    """Global options, ready for use."""

    console: Console
    server: str
    """`host:port` or `unix:/path`."""
    token: str | None
    """None where none was given; a command that calls a server then says so."""
    ca: Path | None = None
    client_certificate: Path | None = None
    client_key: Path | None = None


def shell_of(context: typer.Context) -> Shell:
    """Return the shell of the running command."""
    shell = context.find_object(Shell)
    if shell is None:
        raise RuntimeError("a command ran without the global options")
    return shell


def hoist_global_options(arguments: Sequence[str]) -> list[str]:
    """Move the global options to the front, so that `leakscale report STUDY --json` works as people type it.

    Nothing after `--` is touched.
    """
    globals_, rest = [], []
    pending = iter(arguments)
    for argument in pending:
        if argument == "--":
            rest += [argument, *pending]
        elif argument in _FLAGS or (argument.partition("=")[0] in _OPTIONS and "=" in argument):
            globals_.append(argument)
        elif argument in _OPTIONS:
            globals_ += [argument, *([value] if (value := next(pending, None)) is not None else [])]
        else:
            rest.append(argument)
    return [*globals_, *rest]
