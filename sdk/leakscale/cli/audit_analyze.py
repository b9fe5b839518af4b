"""`leakscale audit analyze`: the tables of an audit, or of scores that belong to none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.audit.analysis import AuditAnalysis, AuditSettings, Panel
    from leakscale.cli.console import Console

__all__ = ["analyze"]

_SHOWN = ("advantage", "claims", "detectors")


def analyze(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="DIR | SCORES...", help="A locked audit; or tables of scores of one bank.")
    ],
    variant: Annotated[str, typer.Option(help="Of an audit: `registered`, or an amendment.")] = "registered",
    population: Annotated[
        int | None, typer.Option(help="Of scores: parents of the benchmark they were drawn from.", min=1)
    ] = None,
    control: Annotated[
        list[Path] | None, typer.Option(help="Of scores: table of the control bank; repeat for each model.")
    ] = None,
    bank: Annotated[Path | None, typer.Option(help="Of scores: the forms, to find near-copies.")] = None,
    table: Annotated[list[str] | None, typer.Option(help="Print this table, by number or name; repeatable.")] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Print every table.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Of scores: new folder for a JSON file and one CSV a table.")
    ] = None,
) -> None:
    r"""Print gaps with their intervals, what may be owed to exposure, and every table on request.

    A locked audit is analyzed as it was registered, and its numbers go to analysis/ and into its ledger. Scores alone
    are analyzed by the defaults of a registration, and say that nothing was registered.

    For example:

    ```
    leakscale audit analyze gsm8k
    leakscale audit analyze scores/model.jsonl --population 1319 \
        --control scores/model-control.jsonl
    ```
    """
    shell = shell_of(context)
    is_audit = paths[0].is_dir()
    if is_audit and len(paths) > 1:
        raise typer.BadParameter(f"'{paths[0]}' is a folder; pass one audit, or tables of scores alone")
    if not is_audit and variant != "registered":
        raise typer.BadParameter("tables of scores have no amendments; --variant is of a locked audit")
    if is_audit:
        from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others

        AuditDirectory.existing(paths[0])
    if is_audit and (population or control or bank or output):
        raise typer.BadParameter("a locked audit knows its population, control bank and place; pass DIR alone")
    names = None if tables else list(table or _SHOWN)
    if is_audit:
        analysis, files = _of_audit(paths[0], variant, shell.console)
    else:
        only = names if output is None else None
        analysis, files = _of_scores(paths, control or [], population, bank, output, only, shell.console)
    if files:
        shell.console.note(f"{len(files)} files in {files[0].parent}")
    chosen = list(analysis.tables) if names is None else [analysis.table(name) for name in names]
    facts = analysis.to_dict() | {"tables": {one.name: one.to_dict() for one in chosen}}
    text = "\n\n".join(one.to_text() for one in chosen)
    shell.console.result({"analysis": facts, "files": [str(path) for path in files]}, text=text)


def _of_audit(root: Path, variant: str, console: Console) -> tuple[AuditAnalysis, tuple[Path, ...]]:
    from leakscale.audit.analysis import analyze_audit  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415

    with console.progress("analyze", total=None, unit="tables") as bar:
        return analyze_audit(AuditDirectory.existing(root), variant=variant, progress=bar.update)


def _of_scores(
    paths: list[Path],
    controls: list[Path],
    population: int | None,
    bank: Path | None,
    output: Path | None,
    only: list[str] | None,
    console: Console,
) -> tuple[AuditAnalysis, tuple[Path, ...]]:
    from leakscale.audit.analysis import analyze_panel  # noqa: PLC0415

    panel, settings = _panel(paths, controls, bank), _settings(population)
    console.note("note: not registered; these tables explore, and claim nothing")
    if stratified := next((model.audit for model in panel if model.audit.strata), None):
        named = ", ".join(sorted(set(stratified.strata)))
        console.note(
            f"note: the scores of {stratified.model} are of a stratified sample ({named}), whose sizes there "
            "they do not say; these tables take it for a simple one. A locked audit weighs the strata"
        )
    facts: dict[str, Any] = {"audit": None, "variant": "unregistered"}
    with console.progress("analyze", total=None, unit="tables") as bar:
        analysis = analyze_panel(panel, settings, only=only, facts=facts, progress=bar.update)
    return analysis, () if output is None else analysis.write(output)


def _panel(paths: list[Path], controls: list[Path], bank: Path | None) -> Panel:
    from leakscale.audit.analysis import Panel  # noqa: PLC0415
    from leakscale.audit.analysis.filing import near_copies_of  # noqa: PLC0415
    from leakscale.audit.forms import read_bank  # noqa: PLC0415
    from leakscale.audit.scores import ScoreTable  # noqa: PLC0415
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415

    panel = Panel.of(map(ScoreTable.from_jsonl, paths), map(ScoreTable.from_jsonl, controls))
    if bank is None:
        return panel
    forms, scored = read_bank(bank), panel.models[0].audit
    if scored.bank_digest and scored.bank_digest != forms.digest:
        raise InvalidRequestError(f"bank '{bank}' is not the one that {scored.model} was scored on; pass that one")
    if tuple(parent.parent_id for parent in forms.parents) != scored.parent_ids:
        raise InvalidRequestError(f"bank '{bank}' has other parents than the scores of {scored.model}; pass theirs")
    return Panel(panel.models, near_copies_of(forms))


def _settings(population: int | None) -> AuditSettings:
    from leakscale.audit.analysis import AuditSettings  # noqa: PLC0415
    from leakscale.audit.registration.fields import InferenceTable  # noqa: PLC0415
    from leakscale.stats import FinitePopulationDesign  # noqa: PLC0415

    if population is None:
        raise typer.BadParameter(
            "tables of scores do not say how large the benchmark is; pass --population", param_hint="--population"
        )
    return AuditSettings(FinitePopulationDesign(population), InferenceTable())
