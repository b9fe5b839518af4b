"""`leakscale report`: the finding of a study as one HTML file, and its figures."""

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
    figures: Annotated[
        Path | None, typer.Option(help="New folder for the same figures as SVG and PDF, each with its CSV.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(help="Results by family; default: those in STUDY/analysis, if there are any.")
    ] = None,
    is_retired: Annotated[
        bool, typer.Option("--retired", help="The private edition is retired: show what was withheld.")
    ] = False,
    strength: Annotated[float | None, typer.Option(help="Which strength of the adapters is reported.")] = None,
) -> None:
    """Write the report of a study: one HTML file that needs no network.

    For example:

    ```
    leakscale report runs/demo --output report.html --figures figures
    ```
    """
    from leakscale.report import read_findings, study_figures, write_figures, write_report  # noqa: PLC0415

    console = shell_of(context).console
    with console.progress("analyze", total=None, unit="tables") as bar:
        findings = read_findings(study, results=results, is_retired=is_retired, strength=strength, progress=bar.update)
    written = [] if figures is None else write_figures(figures, study_figures(findings).values())
    path = write_report(output or study / "report.html", findings)
    lines = [f"report: {path}"] + ([] if figures is None else [f"figures: {len(written)} files in {figures}"])
    console.result({"report": str(path), "figures": [str(each) for each in written]}, text="\n".join(lines))
