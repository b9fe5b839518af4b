"""`leakscale report`: the finding of a study as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of

__all__ = ["report"]


def report(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="Directory of a finished study, e.g. runs/demo.")],
    output: Annotated[Path | None, typer.Option(help="Where to write it; default: STUDY/report.html.")] = None,
) -> None:
    """Write the report of a study: one HTML file that needs no network."""
    from leakscale.report import read_disclosure, read_provenance, write_report  # noqa: PLC0415 - keeps --help quick

    path = write_report(
        output or study / "report.html", disclosure=read_disclosure(study), provenance=read_provenance(study)
    )
    shell_of(context).console.result({"report": str(path)}, text=f"report: {path}")
