"""`leakscale audit submit`: seal the answers of a fetched audit on its server, and take the scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.connection import connected
from leakscale.cli.shell import shell_of
from leakscale.cli.stage_bars import StageBars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leakscale.audit.remote.submitting import Submitted

__all__ = ["submit"]


def submit(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="What `leakscale audit fetch` laid out, answered.")],
    variant: Annotated[str, typer.Option(help="`registered`, or an amendment.")] = "registered",
) -> None:
    """Send every whole set of answers, sealed to the server's scorer, and close it: a set is sealed once, for good.

    Once all models have answered both banks, the server tells all scores of the variant together, signed; they are
    checked, filed and entered in the ledger. Until then the command says what is missing. Interrupted, it goes on.

    For example:

    ```
    leakscale audit submit gsm8k --server audits.example:7443
    leakscale audit submit gsm8k --variant amendment-1
    ```
    """
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.remote.submitting import submit_answers  # noqa: PLC0415

    shell, directory = shell_of(context), AuditDirectory.existing(root)
    with connected(shell) as client, StageBars(shell.console) as bars:
        done = submit_answers(client, directory, server=shell.server, variant=variant, progress=bars.update)
    released = done.released
    facts = {
        "audit": done.origin.audit,
        "variant": done.variant,
        "sealed": list(done.newly_sealed),
        "unanswered": list(done.unanswered),
        "assurance_level": released and released.assurance_level,
        "released_before": released and list(released.released_before),
        "scores": [
            {"bank": str(role), "model": model, "answers": table.answers, "sha256": table.sha256}
            for (role, model), table in sorted(released.tables.items())
        ]
        if released
        else None,
    }
    shell.console.result(facts, text="\n".join(_lines(done, root)))


def _lines(done: Submitted, root: Path) -> Iterator[str]:
    yield from (f"sealed   {name}" for name in done.newly_sealed)
    yield from (f"missing  {name}" for name in done.unanswered)
    option = "" if done.variant == "registered" else f" --variant {done.variant}"
    if done.released is None:
        yield f"no score leaves before all are sealed; then  leakscale audit answer {root}{option}, and submit again"
        return
    yield f"scores of {len(done.released.tables)} sets released, verified; assurance {done.released.assurance_level}"
    if before := ", ".join(done.released.released_before):
        yield f"scores of {before} had left before the last of these was sealed, and reports say so"
    yield f"then  leakscale audit analyze {root}{option}"
