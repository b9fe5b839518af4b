"""`leakscale audit validate`: four training mixtures, several seeds, and whether the audit sees what was planted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of
from leakscale.cli.stage_bars import StageBars

__all__ = ["validate"]


def validate(
    context: typer.Context,
    study_file: Annotated[Path | None, typer.Option("--study", help="Study file; default: the one that ships.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the study; default: runs/NAME.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="New folder for the figure as SVG and PDF, with its CSV.")
    ] = None,
) -> None:
    """Train a small model on four mixtures under several seeds, audit every run, and compare them seed by seed.

    Writes report.html into the study's folder, one page with every contrast and the runs behind it. Exits with 1
    unless exact exposure raises the public-form advantage and paraphrase exposure does not. Interrupted, the same
    command goes on.

    For example:

    ```
    leakscale audit validate --out runs/validation --figures figures
    ```
    """
    from leakscale.audit.validation import load_validation  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.validation.page import validation_figures, write_validation_report  # noqa: PLC0415
    from leakscale.audit.validation.running import run_validation  # noqa: PLC0415
    from leakscale.report.page import require_extra, write_figures  # noqa: PLC0415
    from leakscale.resources import studies_folder  # noqa: PLC0415

    console = shell_of(context).console
    path = study_file or studies_folder() / "cleanscore-validation.toml"
    study = load_validation(path)
    root = out or Path("runs") / study.name
    require_extra()  # before minutes of training
    console.note(f"study {study.name} in {root}: loading the model")
    with StageBars(console) as bars:
        bars.begin(f"study {study.name}: write mixtures, and open the model")
        found, files = run_validation(study, folder=path.parent, root=root, watch=bars.update, note=console.note)
    console.note(f"{len(files)} files in {files[0].parent}")
    with console.progress("draw the report", total=None):
        drawn = () if figures is None else write_figures(figures, validation_figures(found))
        report = write_validation_report(root / "report.html", found)
    facts = {"validation": found.to_dict(), "files": [str(path) for path in (*files, *drawn)], "report": str(report)}
    console.result(facts, text=f"{found.to_text()}\n\nreport: {report}")
    if not found.contrasts.is_confirmed:
        raise typer.Exit(1)
