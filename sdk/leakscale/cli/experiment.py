"""`leakscale experiment`: register a comparison, look at it, and ask for its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.shell import shell_of
from leakscale.models import Ring

if TYPE_CHECKING:
    from leakscale.models import Experiment

__all__ = ["app"]

app = typer.Typer(help="Register a comparison of a base and an adapted model.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Experiment, e.g. demo or experiments/demo.")]


@app.command("create")
def create(
    context: typer.Context,
    experiment_id: Annotated[str, typer.Argument(help="Its id: lower-case letters, digits and dashes.")],
    edition: Annotated[str, typer.Option(help="Frozen edition.")],
    model_label: Annotated[str, typer.Option(help="Names the model, e.g. a repository id and revision.")],
    draws: Annotated[int, typer.Option(help="Draws a family and state.")] = 32,
    bank_seed: Annotated[int, typer.Option(help="Root of the seeds of all draws.")] = 0,
    resamples: Annotated[int, typer.Option(help="Replicates of the registered bootstrap.")] = 10_000,
    bootstrap_seed: Annotated[int, typer.Option(help="Its seed.")] = 0,
    rings: Annotated[
        list[Ring] | None, typer.Option("--ring", help="Form to ask in, R0 first; repeat it, e.g. --ring R0 --ring R1.")
    ] = None,
) -> None:
    """Register an experiment: from here on nothing of its plan can change."""
    from leakscale.models import ExperimentPlan  # noqa: PLC0415

    shell = shell_of(context)
    plan = ExperimentPlan(
        experiment_id=experiment_id,
        edition=full_name(edition, "editions"),
        model_label=model_label,
        draw_count=draws,
        bank_seed=bank_seed,
        resample_count=resamples,
        bootstrap_seed=bootstrap_seed,
        rings=tuple(rings) if rings else (Ring.R0,),
    )
    with connected(shell) as client:
        experiment = client.experiments.create(plan)
    shell.console.result(_to_dict(experiment), text=_text(experiment))


@app.command("show")
def show(context: typer.Context, name: Name) -> None:
    """Show an experiment and how far its banks are."""
    shell = shell_of(context)
    with connected(shell) as client:
        experiment = client.experiments.get(full_name(name, "experiments"))
    shell.console.result(_to_dict(experiment), text=_text(experiment))


@app.command("disclose")
def disclose(
    context: typer.Context,
    name: Name,
    output: Annotated[Path | None, typer.Option(help="Also write the signed numbers to this file.")] = None,
) -> None:
    """Ask for the numbers of an experiment whose banks are all sealed."""
    from leakscale.report import finding, render_summary_table, summary_text  # noqa: PLC0415
    from leakscale.results import disclosure_to_json  # noqa: PLC0415

    shell = shell_of(context)
    with connected(shell) as client:
        disclosure = client.experiments.disclose(full_name(name, "experiments"))
    if output is not None:
        output.write_text(disclosure_to_json(disclosure), encoding="utf-8")
    shell.console.result(
        {"finding": finding(disclosure), **disclosure.numbers},
        text=summary_text(disclosure),
        rich=lambda: render_summary_table(disclosure),
    )


def _text(experiment: Experiment) -> str:
    lines = [f"{experiment.name}  on {experiment.plan.edition}, model {experiment.plan.model_label}"]
    for bank in experiment.banks:
        phase = "sealed" if bank.is_sealed else "open"
        lines.append(f"  {bank.name}  {phase}  {bank.answered_count} of {bank.case_count} answers")
    return "\n".join(lines)


def _to_dict(experiment: Experiment) -> dict[str, object]:
    return {
        "name": experiment.name,
        "edition": experiment.plan.edition,
        "model_label": experiment.plan.model_label,
        "draw_count": experiment.plan.draw_count,
        "bank_seed": experiment.plan.bank_seed,
        "rings": [ring.value for ring in experiment.plan.rings],
        "banks": [
            {
                "name": bank.name,
                "is_sealed": bank.is_sealed,
                "case_count": bank.case_count,
                "answered_count": bank.answered_count,
            }
            for bank in experiment.banks
        ],
    }
