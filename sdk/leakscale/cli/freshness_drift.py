"""`leakscale freshness drift` and `life`: what moved since an estimate was stored, and what happened to the edition."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.shell import Shell, shell_of

if TYPE_CHECKING:
    from leakscale.analysis import AnalysisPlan
    from leakscale.freshness.life import LifeRow

__all__ = ["drift", "life"]


def drift(
    context: typer.Context,
    stored: Annotated[Path, typer.Argument(help="The stored estimate: a study, or its results by family.")],
    new: Annotated[Path, typer.Argument(help="The new one, of a new model or a new version of the benchmark.")],
    stored_model: Annotated[str | None, typer.Option(help="Of several models in STORED.")] = None,
    new_model: Annotated[str | None, typer.Option(help="Of several models in NEW.")] = None,
    strength: Annotated[float | None, typer.Option(help="Of the adapters, where there are several.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the resamples; default: the stored study's.")] = None,
    resamples: Annotated[int, typer.Option(help="Of each block of families.")] = 10_000,
    scan: Annotated[Path | None, typer.Option(help="Result of `freshness scan --json`, shown beside it.")] = None,
    edition: Annotated[str | None, typer.Option(help="Show the life of this edition of the server, too.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the page here, one HTML file.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="New folder for the figure as SVG and PDF, with its CSV.")
    ] = None,
) -> None:
    r"""Repeat an exposure estimate against a stored one: how far it moved, with its interval over families.

    For example:

    ```
    leakscale freshness drift runs/spring/results.parquet runs/autumn/results.parquet \
        --output drift
    ```
    """
    from leakscale.freshness.drift import drift_table, measure_drift, read_measurement, said  # noqa: PLC0415
    from leakscale.freshness.page import FreshnessPage, contact_table, drift_figure, read_scan, render_freshness  # noqa: PLC0415
    from leakscale.report.page import write_figures, write_page  # noqa: PLC0415

    shell = shell_of(context)
    plan = _plan(stored, seed=seed, resamples=resamples)
    before = read_measurement(stored, model=stored_model, strength=strength, option="--stored-model")
    after = read_measurement(new, model=new_model, strength=strength, option="--new-model")
    contact = None if scan is None else read_scan(scan)
    rows = None if edition is None else _life(shell, edition)
    with shell.console.progress("drift", total=None):
        found = measure_drift(before, after, plan)
    command = _command(stored, new, stored_model=stored_model, new_model=new_model, strength=strength, plan=plan)
    written: list[Path] = []
    if output is not None:
        page = FreshnessPage(before, after, found, command, contact, rows)
        written.append(write_page(output, render_freshness(page)))
    if figures is not None:
        written += write_figures(figures, [drift_figure(found, before, after, command=command)])
    table = drift_table(found)
    facts: dict[str, Any] = {
        "finding": said(found, before, after),
        "stored_model": before.model,
        "new_model": after.model,
        "plan": plan.to_dict(),
        "consequence": table.to_dict(),
        "contact": contact,
        "life": None if rows is None else [_event(row) for row in rows],
        "files": [str(path) for path in written],
    }
    parts = [facts["finding"], table.to_text()]
    parts += [] if contact is None else [contact_table(contact).to_text()]
    parts += [] if rows is None else [_life_text(rows)]
    parts += [f"written: {path}" for path in written]
    shell.console.result(facts, text="\n\n".join(parts))


def life(
    context: typer.Context,
    edition: Annotated[str, typer.Argument(help="An edition of the server; or of --export.")],
    export: Annotated[
        Path | None, typer.Option(help="Folder of `leakscale ledger export`: read its ledger, ask no server.")
    ] = None,
) -> None:
    """Print when an edition was frozen, exposed, disclosed and retired.

    For example:

    ```
    leakscale freshness life editions/spring
    ```
    """
    shell = shell_of(context)
    if export is None:
        rows = _life(shell, edition)
    else:
        from leakscale.freshness.life import life_from_export  # noqa: PLC0415

        rows = life_from_export(export, edition_id=edition.rpartition("/")[2])
    shell.console.result({"edition": edition, "life": [_event(row) for row in rows]}, text=_life_text(rows))


def _life(shell: Shell, edition: str) -> tuple[LifeRow, ...]:
    from leakscale.freshness.life import edition_life  # noqa: PLC0415

    with connected(shell) as client:
        return edition_life(client, full_name(edition, "editions"))


def _life_text(rows: tuple[LifeRow, ...]) -> str:
    from leakscale.freshness.life import life_table  # noqa: PLC0415

    return life_table(rows).to_text()


def _event(row: LifeRow) -> dict[str, object]:
    return {"event": row.event.value, "time": row.time, "ledger_entry": row.ledger_entry, "what": row.what}


def _plan(stored: Path, *, seed: int | None, resamples: int) -> AnalysisPlan:
    """Take the seed of the option, or of the stored study's registration."""
    from leakscale.analysis import AnalysisPlan  # noqa: PLC0415
    from leakscale.errors import NotFoundError, PreconditionError  # noqa: PLC0415
    from leakscale.report import read_disclosure  # noqa: PLC0415

    if seed is None:
        try:
            seed = read_disclosure(stored).bootstrap_seed
        except NotFoundError as error:
            raise PreconditionError(f"'{stored}' has no registration beside it; name the seed, `--seed`") from error
    return AnalysisPlan(seed=seed, resample_count=resamples)


def _command(
    stored: Path,
    new: Path,
    *,
    stored_model: str | None,
    new_model: str | None,
    strength: float | None,
    plan: AnalysisPlan,
) -> str:
    options = {
        "--stored-model": stored_model,
        "--new-model": new_model,
        "--strength": strength,
        "--seed": plan.seed,
        "--resamples": plan.resample_count,
    }
    given = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    return shlex.join(["leakscale", "freshness", "drift", stored.name, new.name, *given])
