"""`leakscale experiment`: register a comparison, look at it, and ask for its numbers."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.shell import shell_of
from leakscale.cli.values import COUNT_MAX, SEED_MAX, lifetime_of
from leakscale.models import Ring

if TYPE_CHECKING:
    from leakscale.models import Budget, Cohort, Experiment

__all__ = ["app"]

app = typer.Typer(help="Register a comparison of a base and an adapted model.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Experiment, e.g. demo or experiments/demo.")]


@app.command("create")
def create(
    context: typer.Context,
    experiment_id: Annotated[str, typer.Argument(help="Its id: lower-case letters, digits and dashes.")],
    edition: Annotated[str, typer.Option(help="Frozen edition.")],
    model_label: Annotated[str, typer.Option(help="Names the model, e.g. a repository id and revision.")],
    draws: Annotated[int, typer.Option(max=COUNT_MAX, help="Draws a family and state.")] = 32,
    bank_seed: Annotated[int, typer.Option(min=-SEED_MAX, max=SEED_MAX, help="Root of the seeds of all draws.")] = 0,
    resamples: Annotated[int, typer.Option(max=COUNT_MAX, help="Replicates of the registered bootstrap.")] = 10_000,
    bootstrap_seed: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="Its seed.")] = 0,
    rings: Annotated[
        list[Ring] | None, typer.Option("--ring", help="Form to ask in, R0 first; repeat it, e.g. --ring R0 --ring R1.")
    ] = None,
    cohorts: Annotated[
        list[str] | None,
        typer.Option(
            "--cohort",
            metavar="NAME=SHAPE,SHAPE,...",
            help="Part of the edition to have numbers over, beside the whole; may be repeated.",
        ),
    ] = None,
    families_min: Annotated[
        int,
        typer.Option(
            max=COUNT_MAX, help="Least families of one domain and condition that a number is over; at least 128."
        ),
    ] = 512,
    lifetime_days: Annotated[float, typer.Option(help="Days until it expires, unless it is disclosed before.")] = 90,
    self_administered: Annotated[
        bool, typer.Option("--self-administered", help="Whoever trains the model also answers: assurance level L1.")
    ] = False,
) -> None:
    r"""Register an experiment: from here on nothing of its plan can change.

    For example:

    ```
    leakscale experiment create first --edition editions/spring \
        --model-label SmolLM2-135M
    ```
    """
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
        cohorts=tuple(_cohort(text) for text in cohorts or ()),
        cohort_families_min=families_min,
        lifetime=lifetime_of(lifetime_days, option="--lifetime-days"),
        is_self_administered=self_administered,
    )
    with connected(shell) as client:
        experiment = client.experiments.create(plan)
    shell.console.result(_to_dict(experiment), text=_text(experiment))


@app.command("show")
def show(context: typer.Context, name: Name) -> None:
    """Show an experiment and how far its banks are.

    For example:

    ```
    leakscale experiment show experiments/first
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        experiment = client.experiments.get(full_name(name, "experiments"))
    shell.console.result(_to_dict(experiment), text=_text(experiment))


@app.command("withdraw")
def withdraw(
    context: typer.Context,
    name: Name,
    is_meant: Annotated[bool, typer.Option("--yes", help="Its answers are lost; it cannot be taken up again.")] = False,
) -> None:
    """Give an experiment up that is not disclosed: what it set aside of budgets is free again.

    For example:

    ```
    leakscale experiment withdraw experiments/first
    ```
    """
    if not is_meant:
        raise typer.BadParameter(f"{name}: its answers would never be scored; add --yes")
    shell = shell_of(context)
    with connected(shell) as client:
        experiment = client.experiments.withdraw(full_name(name, "experiments"))
    shell.console.result(_to_dict(experiment), text=f"{experiment.name} is withdrawn; what it set aside is free again")


@app.command("disclose")
def disclose(
    context: typer.Context,
    name: Name,
    output: Annotated[Path | None, typer.Option(help="Also write the signed numbers to this file.")] = None,
) -> None:
    """Ask for the numbers of an experiment whose banks are all sealed.

    For example:

    ```
    leakscale experiment disclose experiments/first --output disclosure.json
    ```
    """
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


@app.command("budget")
def budget(
    context: typer.Context, edition: Annotated[str, typer.Argument(help="Frozen edition, e.g. editions/demo.")]
) -> None:
    """Show what may still be disclosed over each part of an edition.

    For example:

    ```
    leakscale experiment budget editions/spring
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        found = client.experiments.budget(full_name(edition, "editions"))
    shell.console.result(dataclasses.asdict(found), text=_budget_text(found))


def _budget_text(found: Budget) -> str:
    if found.is_unlimited:
        return "a practice edition has no budget"
    if not found.atoms:
        return "nothing is disclosed or set aside; every part of the edition has its whole budget"
    lines = [f"{'part':<40}{'families':>9}  {'principal':>16}  {'project':>16}  {'edition':>16}   releases, bits"]
    for atom in found.atoms:
        cells = (
            f"{each.release_count}/{each.release_count_max}, {each.bits:.0f}/{each.bits_max:.0f}"
            for each in atom.allowances
        )
        name = f"{atom.domain.value}/{atom.shape_id}/{atom.condition.value}"
        lines.append(f"{name:<40}{atom.family_count:>9}  " + "  ".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def _cohort(text: str) -> Cohort:
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415
    from leakscale.models import Cohort  # noqa: PLC0415

    name, separator, shapes = text.partition("=")
    shape_ids = tuple(sorted({shape.strip() for shape in shapes.split(",")} - {""}))
    if not (name and separator and shape_ids):
        raise InvalidRequestError(f"--cohort {text[:80]!r} does not have the form NAME=SHAPE,SHAPE,...")
    return Cohort(name, shape_ids)


def _text(experiment: Experiment) -> str:
    lines = [
        f"{experiment.name}  on {experiment.plan.edition}, model {experiment.plan.model_label}, "
        f"expires {experiment.expire_time:%Y-%m-%d %H:%M} UTC"
    ]
    lines += [f"  cohort {cohort.cohort_id}: {', '.join(cohort.shape_ids)}" for cohort in experiment.plan.cohorts]
    for bank in experiment.banks:
        lines.append(f"  {bank.name}  {bank.phase.value}  {bank.answered_count} of {bank.case_count} answers")
    return "\n".join(lines)


def _to_dict(experiment: Experiment) -> dict[str, object]:
    return {
        "name": experiment.name,
        "edition": experiment.plan.edition,
        "model_label": experiment.plan.model_label,
        "draw_count": experiment.plan.draw_count,
        "bank_seed": experiment.plan.bank_seed,
        "rings": [ring.value for ring in experiment.plan.rings],
        "cohorts": {cohort.cohort_id: list(cohort.shape_ids) for cohort in experiment.plan.cohorts},
        "cohort_families_min": experiment.plan.cohort_families_min,
        "is_self_administered": experiment.plan.is_self_administered,
        "expire_time": experiment.expire_time.isoformat(),
        "banks": [
            {
                "name": bank.name,
                "phase": bank.phase.value,
                "is_sealed": bank.is_sealed,
                "case_count": bank.case_count,
                "answered_count": bank.answered_count,
            }
            for bank in experiment.banks
        ],
    }
