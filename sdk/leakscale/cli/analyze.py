"""`leakscale analyze`: the released numbers of a study as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of

__all__ = ["analyze"]


def analyze(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="Directory of a finished study, e.g. runs/demo.")],
) -> None:
    """Print the four accuracies, their differences and the effect of a study, with intervals."""
    import json  # noqa: PLC0415 - keeps --help quick, as do the next ones

    from leakscale.report import finding, read_disclosure, render_summary_table, summary_text  # noqa: PLC0415

    disclosure = read_disclosure(study)
    shell_of(context).console.result(
        {"finding": finding(disclosure), **json.loads(disclosure.payload)},
        text=summary_text(disclosure),
        rich=lambda: render_summary_table(disclosure),
    )
