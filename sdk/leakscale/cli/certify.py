"""`leakscale certify`: prove the families of shape files."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from leakscale.cli.connection import SandboxBackend, connected, connected_locally
from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import Shell, shell_of

if TYPE_CHECKING:
    from leakscale.cli.console import Console
    from leakscale.models import CertificationOutcome, Edition

__all__ = ["certify", "folded", "waiting_said"]

_VALUE: Final = re.compile(r"'[^']*'|-?\d[\d.]*\d|\d")
"""What families of one shape differ in: texts in quotes and numbers."""
_QUIET_S: Final = 2.0
"""A log hears of a first family that takes longer than this."""


def certify(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Shape files, or folders of them.")],
    edition: Annotated[str, typer.Option(help="Id of the draft to make or to go on with.")] = "draft",
    families_per_cell: Annotated[int, typer.Option(help="Families in one shape and condition: 4, 8, 12 or 16.")] = 4,
    seed: Annotated[int, typer.Option(help="Root of the draft's seeds.")] = 0,
    private: Annotated[
        bool, typer.Option("--private", help="Let the server draw a private seed that nobody else ever holds.")
    ] = False,
    local: Annotated[
        bool, typer.Option("--local", help="Start a server for this command and forget everything afterwards.")
    ] = False,
    backend: Annotated[SandboxBackend, typer.Option(help="Sandbox of a --local server.")] = SandboxBackend.AUTO,
) -> None:
    """Certify families: build each, run its four candidates on hidden fixtures in two sandboxes, apply the rule.

    Exits with 1 when a family is rejected. What is certified stays certified; run again to go on.

    For example:

    ```
    leakscale certify catalogs/core --edition spring --families-per-cell 8
    leakscale certify my-shapes --local
    ```
    """
    from leakscale.models import EditionKind  # noqa: PLC0415
    from leakscale.study.config import read_shape_file  # noqa: PLC0415

    shell = shell_of(context)
    shapes = [read_shape_file(path, source=str(path)) for path in _files(paths)]
    opened = connected_locally(shell, backend=backend) if local else connected(shell)
    with opened as client:
        draft = client.editions.create(
            edition,
            kind=EditionKind.PRIVATE if private else EditionKind.PRACTICE,
            families_per_cell=families_per_cell,
            public_seed=_seed(seed, "public"),
            practice_private_seed=b"" if private else _seed(seed, "private"),
            shapes=shapes,
        )
        outcomes = []
        with (
            shell.console.progress("certify", total=draft.family_count, unit="families") as bar,
            waiting_said(shell.console, draft.family_count) as has_begun,
        ):
            for number, outcome in enumerate(client.families.certify_edition(draft), start=1):
                has_begun.set()
                outcomes.append(outcome)
                bar.update(number)
    _print(shell, draft, outcomes, is_kept=not local)
    if not all(outcome.is_certified for outcome in outcomes):
        raise typer.Exit(ExitCode.NEGATIVE)


def _files(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        found = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
        if not found:
            raise typer.BadParameter(f"folder '{path}' holds no .toml file")
        files += found
    return files


def _seed(root: int, purpose: str) -> bytes:
    return hashlib.sha256(f"leakscale-certify-v1/{root}/{purpose}".encode()).digest()


@contextmanager
def waiting_said(console: Console, family_count: int, *, after_s: float = _QUIET_S) -> Iterator[threading.Event]:
    """Say in a log that work goes on while no family is done; a terminal has its bar.

    Yields:
        To be set when the first family is done.
    """
    has_begun = threading.Event()

    def say() -> None:
        if not has_begun.wait(after_s):
            console.note(f"certify: 0/{family_count} families, the first ones are running")

    if not sys.stderr.isatty():
        threading.Thread(target=say, name="certify-waiting", daemon=True).start()
    try:
        yield has_begun
    finally:
        has_begun.set()


def _print(shell: Shell, draft: Edition, outcomes: list[CertificationOutcome], *, is_kept: bool) -> None:
    rejected = [outcome for outcome in outcomes if outcome.rejection is not None]
    edition = draft.name.removeprefix("editions/")
    lines = []
    for shape_id in sorted({outcome.request.shape_id for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome.request.shape_id == shape_id]
        certified = sum(outcome.is_certified for outcome in own)
        lines.append(f"{shape_id:<32} {certified} of {len(own)} certified")
        lines += folded(own)
    if is_kept:
        lines.append(_next_step(edition, draft=draft, is_complete=not rejected))
    shell.console.result(
        {
            "edition": edition,
            "certified": len(outcomes) - len(rejected),
            "rejected": [_rejection(outcome) for outcome in rejected],
        },
        text="\n".join(lines),
    )


def folded(outcomes: list[CertificationOutcome]) -> list[str]:
    """Say rejections of one shape that differ in values alone once, with an example, the most frequent first."""
    alike: dict[tuple[str, str], list[str]] = {}
    for outcome in sorted(outcomes, key=lambda each: each.family):
        if outcome.rejection is not None:
            rule, message = outcome.rejection.rule, outcome.rejection.message
            alike.setdefault((rule, _VALUE.sub("", message)), []).append(message)
    return [
        f"  {len(messages)} of {len(outcomes)} rejected: {rule}: {'e.g. ' * (len(set(messages)) > 1)}{messages[0]}"
        for (rule, _), messages in sorted(alike.items(), key=lambda item: -len(item[1]))
    ]


def _next_step(edition: str, *, draft: Edition, is_complete: bool) -> str:
    from leakscale.models import EditionPhase  # noqa: PLC0415

    if draft.phase is EditionPhase.RETIRED:
        return f"edition '{edition}' is retired and nothing can be measured with it; certify with a new --edition"
    if draft.is_frozen:
        return f"edition '{edition}' is frozen; use it with `leakscale experiment create`"
    if is_complete:
        return f"edition '{edition}' is complete; freeze it with `leakscale edition freeze {edition}`"
    return f"edition '{edition}' keeps its shapes; correct them and certify with a new --edition"


def _rejection(outcome: CertificationOutcome) -> dict[str, object]:
    assert outcome.rejection is not None  # noqa: S101 - the caller filters
    return {
        "shape": outcome.request.shape_id,
        "condition": outcome.request.condition.value,
        "ordinal": outcome.request.ordinal,
        "rule": outcome.rejection.rule,
        "message": outcome.rejection.message,
        "figures": dict(outcome.rejection.figures),
    }
