"""`leakscale analyze`: the numbers of a study as tables."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.console import Console
from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.analysis import Analysis, AnalysisPlan
    from leakscale.report import StudyProvenance
    from leakscale.results import Disclosure

__all__ = ["analyze"]


def analyze(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="Directory of a finished study, e.g. runs/demo; or a results file.")],
    results: Annotated[
        Path | None, typer.Option(help="Results by family, .parquet or .jsonl; default: STUDY/analysis/results.*.")
    ] = None,
    table: Annotated[list[str] | None, typer.Option(help="Print this table, by number or name; repeatable.")] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Print every table.")] = False,
    output: Annotated[Path | None, typer.Option(help="New folder for a JSON file and one CSV a table.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the resamples; default: the registered one.")] = None,
    resamples: Annotated[int | None, typer.Option(help="Default: as registered, or 10,000.")] = None,
    strength: Annotated[
        float | None, typer.Option(help="Which adapter strength is reported, if there are several.")
    ] = None,
    retired: Annotated[bool, typer.Option("--retired", help="A private edition is retired: withhold nothing.")] = False,
) -> None:
    """Print the accuracies, their differences and the effect of a study, with intervals, and every table on request.

    Without results by family, the tables are those of the numbers that the server released.

    For example:

    ```
    leakscale analyze runs/demo
    leakscale analyze runs/demo --table effects --output tables
    ```
    """
    from leakscale.analysis.study import find_results  # noqa: PLC0415 - keeps --help quick

    shell = shell_of(context)
    if study.is_file():
        study, results = study.parent, results or study
    results = results or find_results(study)
    disclosure = _disclosure(study) if results is None else _disclosure_if_any(study)
    if results is not None:
        plan = _plan(disclosure, seed=seed, resamples=resamples, strength=strength)
        analysis = _by_family(study, results, disclosure, plan, is_retired=retired, console=shell.console)
    else:
        analysis = _as_released(study)
    written = [] if output is None else [str(path) for path in analysis.write(output)]
    if written:
        shell.console.note(f"{len(written)} files in {output}")
    chosen = [analysis.table(name) for name in table or ()] or list(analysis.tables)
    facts = {"analysis": analysis.to_dict() | {"tables": {one.name: one.to_dict() for one in chosen}}, "files": written}
    if disclosure is None or table or tables:
        shell.console.result(facts, text="\n\n".join(one.to_text() for one in chosen))
        return
    from leakscale.report import finding, render_summary_table, summary_text  # noqa: PLC0415

    shell.console.result(
        {"finding": finding(disclosure), **_numbers(disclosure), **facts},
        text=summary_text(disclosure),
        rich=lambda: render_summary_table(disclosure),
    )


def _disclosure(study: Path) -> Disclosure:
    from leakscale.report import read_disclosure  # noqa: PLC0415

    return read_disclosure(study)


def _disclosure_if_any(study: Path) -> Disclosure | None:
    """Read the released numbers; results by family do without."""
    from leakscale.errors import NotFoundError  # noqa: PLC0415

    try:
        return _disclosure(study)
    except NotFoundError:
        return None


def _numbers(disclosure: Disclosure | None) -> dict[str, Any]:
    """Return all that was signed, as JSON has it."""
    return {} if disclosure is None else disclosure.numbers


def _plan(
    disclosure: Disclosure | None, *, seed: int | None, resamples: int | None, strength: float | None
) -> AnalysisPlan:
    """Take the registered settings, and those of the options before them."""
    from leakscale.analysis import AnalysisPlan  # noqa: PLC0415
    from leakscale.analysis.disclosed import plan_of  # noqa: PLC0415
    from leakscale.errors import PreconditionError  # noqa: PLC0415

    if disclosure is not None:
        plan = plan_of(disclosure, strength=strength)
    elif seed is not None:
        plan = AnalysisPlan(seed=seed, strength=strength)
    else:
        raise PreconditionError("these results have no registration beside them; name the seed, `--seed`")
    return dataclasses.replace(
        plan,
        seed=plan.seed if seed is None else seed,
        resample_count=resamples or plan.resample_count,
    )


def _as_released(study: Path) -> Analysis:
    from leakscale.analysis.disclosed import analyze_disclosure  # noqa: PLC0415
    from leakscale.analysis.study import identities_of  # noqa: PLC0415

    disclosure = _disclosure(study)
    numbers = _numbers(disclosure)
    identities = identities_of(study, provenance=_provenance(study), numbers=numbers)
    return analyze_disclosure(disclosure, numbers, identities)


def _by_family(
    study: Path,
    results: Path,
    disclosure: Disclosure | None,
    plan: AnalysisPlan,
    *,
    is_retired: bool,
    console: Console,
) -> Analysis:
    from leakscale.analysis.study import analyze_by_family, identities_of  # noqa: PLC0415

    numbers = _numbers(disclosure)
    identities = identities_of(
        study, provenance=_provenance(study), numbers=numbers, results=results, analysis_seed=plan.seed
    )
    with console.progress("analyze", total=None, unit="tables") as bar:
        return analyze_by_family(
            results,
            plan,
            disclosure=disclosure,
            numbers=numbers,
            identities=identities,
            is_retired=is_retired,
            progress=bar.update,
        )


def _provenance(study: Path) -> StudyProvenance | None:
    from leakscale.errors import NotFoundError  # noqa: PLC0415
    from leakscale.report import read_provenance  # noqa: PLC0415

    try:
        return read_provenance(study)
    except NotFoundError:
        return None
