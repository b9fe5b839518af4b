"""`leakscale audit report`: the finding of an audit as one HTML file and its Markdown twin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of

__all__ = ["report"]


def report(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="A locked audit whose models were asked.")],
    figures: Annotated[
        Path | None, typer.Option(help="New folder for the figures as SVG and PDF, each with its CSV.")
    ] = None,
) -> None:
    """Compute every number again and write report.html and report.md; neither needs the network.

    For example:

    ```
    leakscale audit report gsm8k --figures figures
    ```
    """
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.report import audit_figures, read_audit_findings, write_audit_report  # noqa: PLC0415
    from leakscale.report.page import write_figures  # noqa: PLC0415

    console = shell_of(context).console
    with console.progress("analyze", total=None, unit="tables") as bar:
        findings = read_audit_findings(AuditDirectory.existing(root), progress=bar.update)
    with console.progress("draw the report", total=None):
        written = [] if figures is None else list(write_figures(figures, audit_figures(findings).values()))
        page, twin = write_audit_report(findings)
    facts = {"report": str(page), "markdown": str(twin), "figures": [str(each) for each in written]}
    lines = [f"report: {page}", f"twin: {twin}"]
    lines += [] if figures is None else [f"figures: {len(written)} files in {figures}"]
    console.result(facts, text="\n".join(lines))
