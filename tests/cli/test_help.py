"""The help of every command: whole, and with examples that its own parser takes."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from leakscale.cli.app import app
from leakscale.cli.shell import hoist_global_options

_PASSED_ON = {"catalog", "attack"}
"""Commands whose arguments the server's own command line reads."""


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    verbs = getattr(command, "commands", None)
    if verbs is None:
        yield path, command
        return
    for name, verb in verbs.items():
        yield from _commands(verb, (*path, name))


_ROOT = typer.main.get_command(app)
_COMMANDS = {" ".join(path): command for path, command in _commands(_ROOT) if path[0] not in _PASSED_ON}


def _examples(command: Any) -> list[str]:
    fenced = re.search(r"^For example:\n\n```\n(.*?)^```", inspect.cleandoc(command.help), re.DOTALL | re.MULTILINE)
    return fenced[1].replace("\\\n", " ").splitlines() if fenced else []


@pytest.mark.parametrize("name", _COMMANDS)
def test_help_shows_examples_that_the_command_takes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crawl.txt").touch()
    examples = _examples(_COMMANDS[name])
    assert examples, f"leakscale {name} --help has no example"
    for example in examples:
        program, *arguments = shlex.split(example)
        assert program == "leakscale"
        with _ROOT.make_context(program, hoist_global_options(arguments)) as context:
            _require_taken(context, name)


def _require_taken(context: Any, name: str) -> None:
    """Let each group find its verb, and the last verb read its arguments, without running any."""
    command, path = context.command, []
    while hasattr(command, "commands"):
        verb, command, left = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(verb, left, parent=context)
        path.append(verb)
    assert " ".join(path) == name


@pytest.mark.parametrize("name", _COMMANDS)
def test_help_of_an_option_keeps_every_word(name: str) -> None:
    for parameter in _COMMANDS[name].params:
        told = getattr(parameter, "help", None) or ""
        assert not re.search(r"<\w+>", told), f"{name}: {parameter.name}: the help is Markdown, which drops {told!r}"
