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
) -> None:
    """Train a small model on four mixtures under several seeds, audit every run, and compare them seed by seed.

    Exits with 1 unless exact exposure raises the public-form advantage and paraphrase exposure does not. Interrupted,
    the same command goes on.

    For example:

    ```
    leakscale audit validate --out runs/validation
    ```
    """
    from leakscale.audit.validation import load_validation  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.validation.running import run_validation  # noqa: PLC0415
    from leakscale.resources import studies_folder  # noqa: PLC0415

    console = shell_of(context).console
    path = study_file or studies_folder() / "cleanscore-validation.toml"
    study = load_validation(path)
    root = out or Path("runs") / study.name
    console.note(f"study {study.name} in {root}: loading the model")
    with StageBars(console) as bars:
        found, files = run_validation(study, folder=path.parent, root=root, watch=bars.update, note=console.note)
    console.note(f"{len(files)} files in {files[0].parent}")
    console.result({"validation": found.to_dict(), "files": [str(path) for path in files]}, text=found.to_text())
    if not found.contrasts.is_confirmed:
        raise typer.Exit(1)
