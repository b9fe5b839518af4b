"""`leakscale audit positive-control`: leak part of an audit into its model, and see what the audit sees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import shell_of
from leakscale.cli.stage_bars import StageBars

if TYPE_CHECKING:
    from leakscale.audit.controls.filing import ControlAnalysis

__all__ = ["control_lines", "positive_control"]

_SHOWN = ("manipulation", "effects", "transfer", "audit")


def positive_control(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="CONTROL.toml", help="What is leaked, and how it is judged.")],
    table: Annotated[list[str] | None, typer.Option(help="Print this table, by number or name; repeatable.")] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Print every table.")] = False,
) -> None:
    """Leak a random half of a locked audit into its model, run the same audit before and after, and compare.

    Before anything is trained, every planted answer is put to the audit's own scorer, and one that it cannot read stops
    the control. Interrupted, the same command goes on. A control is run as it was registered, every seed of it. Exits
    with 1 where nothing was planted, or the null run is not clean.

    For example:

    ```
    leakscale audit positive-control gsm8k/exact.toml --tables
    ```
    """
    from leakscale.audit.controls import load_control  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.controls.running import run_control  # noqa: PLC0415
    from leakscale.audit.controls.tables import null_verdict  # noqa: PLC0415
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415

    console, control = shell_of(context).console, load_control(file)
    directory = AuditDirectory.existing(file.parent / control.audit)
    console.note(f"control {control.name}: loading the model")
    with StageBars(console) as bars:
        bars.begin(f"control {control.name}: plant, and open the model")
        analysis, files = run_control(directory, control, folder=file.parent, watch=bars.update, note=console.note)
    console.note(f"{len(files)} files in {files[0].parent}")
    names = [one.name for one in analysis.tables] if tables else list(table or _SHOWN)
    chosen = [analysis.table(name) for name in names]
    text = "\n\n".join([*(one.to_text() for one in chosen), "\n".join(control_lines(analysis))])
    console.result({"control": analysis.to_dict(), "files": [str(path) for path in files]}, text=text)
    null = null_verdict(control, analysis.runs)
    if not analysis.registered.manipulation.is_passed or not (null is None or null.is_clean):
        raise typer.Exit(ExitCode.NEGATIVE)


def control_lines(analysis: ControlAnalysis) -> list[str]:
    """Return what a control found, a line each."""
    from leakscale.audit.controls.tables import null_verdict, seed_verdict  # noqa: PLC0415

    run, control = analysis.registered, analysis.control
    effects = [f"{name:<8} {found.effect}" for name, found in run.effects.items()]
    verdicts = [each for each in (null_verdict(control, analysis.runs), seed_verdict(control, analysis.runs)) if each]
    return [
        f"control {control.name}: {control.exposure.kind} exposure of {analysis.exposed_count} of "
        f"{analysis.parent_count} parents, {run.run.label}",
        str(run.manipulation),
        *effects,
        str(run.gap),
        str(run.share),
        *(str(each) for each in verdicts),
    ]
