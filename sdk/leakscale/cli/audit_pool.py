"""`leakscale audit pool`: what a leak does on average, over the positive controls of one or more audits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of

__all__ = ["pool"]


def pool(
    context: typer.Context,
    roots: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Locked audits with positive controls.")],
    control: Annotated[
        list[str] | None, typer.Option(help="Pool this control; repeatable. Default: every one that was run.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="New folder for a JSON file and one CSV a table.")] = None,
) -> None:
    """Average the effects of several positive controls, form by form, each with its registered seed.

    Controls of the same items are drawn together, be they in one audit or in several. Nothing is chosen by what it
    found: a control that is left out is named.

    For example:

    ```
    leakscale audit pool gsm8k-qwen gsm8k-olmo --output pooled
    ```
    """
    from leakscale.audit.controls.pooling import pool_controls  # noqa: PLC0415 - keeps --help quick, as does the other
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415

    console = shell_of(context).console
    found = pool_controls([AuditDirectory.existing(root) for root in roots], names=control or [])
    files = [] if output is None else list(found.write(output))
    if files:
        console.note(f"{len(files)} files in {output}")
    console.result({"pooled": found.to_dict(), "files": [str(path) for path in files]}, text=found.to_text())
