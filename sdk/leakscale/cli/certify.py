"""`leakscale certify`: prove the families of shape files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.connection import SandboxBackend, connected, connected_locally
from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import Shell, shell_of

if TYPE_CHECKING:
    from leakscale.models import CertificationOutcome

__all__ = ["certify"]


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
        with shell.console.progress("certify", total=draft.family_count, unit="families") as bar:
            for number, outcome in enumerate(client.families.certify_edition(draft), start=1):
                outcomes.append(outcome)
                bar.update(number)
    _print(shell, edition, outcomes, is_kept=not local)
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


def _print(shell: Shell, edition: str, outcomes: list[CertificationOutcome], *, is_kept: bool) -> None:
    rejected = [outcome for outcome in outcomes if outcome.rejection is not None]
    lines = []
    for shape_id in sorted({outcome.request.shape_id for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome.request.shape_id == shape_id]
        certified = sum(outcome.is_certified for outcome in own)
        lines.append(f"{shape_id:<32} {certified} of {len(own)} certified")
    for outcome in sorted(rejected, key=lambda each: each.family):
        assert outcome.rejection is not None  # noqa: S101 - filtered above
        request = outcome.request
        lines.append(
            f"rejected: {request.shape_id} {request.condition} {request.ordinal}: "
            f"{outcome.rejection.rule}: {outcome.rejection.message}"
        )
    if not rejected and is_kept:
        lines.append(f"edition '{edition}' is complete; freeze it with `leakscale edition freeze {edition}`")
    shell.console.result(
        {
            "edition": edition,
            "certified": len(outcomes) - len(rejected),
            "rejected": [_rejection(outcome) for outcome in rejected],
        },
        text="\n".join(lines),
    )


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
