"""`leakscale audit import`: start from logs that exist already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.audit.importers import Imported, ImportOptions, LogPaths, Selection
    from leakscale.audit.scores import ScoreKind, ScoreTable

__all__ = ["import_"]

_HELP = "`.eval` or `.json` of inspect_ai, `samples_*.jsonl` of lm-evaluation-harness, `.csv`, `.parquet`."


def import_(
    context: typer.Context,
    metric: Annotated[str, typer.Option(help="Scorer, metric or column that is the score, e.g. match, exact_match.")],
    out: Annotated[Path | None, typer.Option(help="File for the scores (.jsonl).")] = None,
    audit: Annotated[Path | None, typer.Option(help="Audit directory: gives the bank and the place.")] = None,
    bank: Annotated[Path | None, typer.Option(help="Bank of forms in draw order, without an audit directory.")] = None,
    control: Annotated[bool, typer.Option("--control", help="With --audit: the control bank was asked.")] = False,
    original: Annotated[Path | None, typer.Option(help=f"Log of the public forms: {_HELP}")] = None,
    fresh: Annotated[list[Path] | None, typer.Option(help="Log of a fresh form; once a form, in order.")] = None,
    deep: Annotated[list[Path] | None, typer.Option(help="Log of a deep paraphrase; once a form.")] = None,
    together: Annotated[list[Path] | None, typer.Option(help="Log whose keys name the form: p1/fresh-2.")] = None,
    filter_: Annotated[str, typer.Option("--filter", help="Answer filter of lm-evaluation-harness.")] = "",
    key: Annotated[str, typer.Option(help="Field with the parent's id, e.g. metadata.item, doc.qid.")] = "",
    form_key: Annotated[str, typer.Option(help="Field with the form, e.g. metadata.form; for --together.")] = "",
    text_key: Annotated[str, typer.Option(help="Field with the form's words, e.g. doc.question.")] = "",
    kind: Annotated[str, typer.Option(help="correct (0 or 1), graded (0 to 1) or confidence (at most 0).")] = "correct",
    model: Annotated[str, typer.Option(help="Name of the model; default: the log's. With --audit its id.")] = "",
    state: Annotated[str, typer.Option(help="State of the model.")] = "base",
    variant: Annotated[str, typer.Option(help="With --audit: `registered`, or an amendment.")] = "registered",
    may_differ: Annotated[list[str] | None, typer.Option(help="Setting that logs may declare differently.")] = None,
    allow_missing: Annotated[bool, typer.Option("--allow-missing", help="Leave out forms without a score.")] = False,
    trust_prompts: Annotated[bool, typer.Option("--trust-prompts", help="Do not compare prompts.")] = False,
) -> None:
    r"""Read evaluation logs into a table of scores, or say which forms were not asked alike.

    For example:

    ```
    leakscale audit import --audit gsm8k --model llama --metric exact_match \
        --filter strict-match --key doc.id --original samples_public.jsonl \
        --fresh samples_fresh1.jsonl --fresh samples_fresh2.jsonl
    leakscale audit import --out scores.jsonl --metric correct --key item \
        --original public.csv --fresh fresh.csv
    ```
    """
    from leakscale.audit.importers import ImportOptions, LogPaths, Selection, import_record  # noqa: PLC0415
    from leakscale.audit.importers.saving import notes_path  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.scores import ScoreKind  # noqa: PLC0415

    if kind not in set(ScoreKind):
        raise typer.BadParameter(f"kind is '{kind}'; it is one of {', '.join(ScoreKind)}")
    paths = LogPaths(original, tuple(fresh or ()), tuple(deep or ()), tuple(together or ()))
    selection = Selection(metric, filter=filter_, key=key, form_key=form_key, text_key=text_key)
    options = ImportOptions(frozenset(may_differ or ()), allow_missing, trust_prompts)
    if audit is not None and out is None and bank is None and model:
        if state != "base":
            raise typer.BadParameter(f"state is '{state}'; a log of an audit is of the registered model, in state base")
        imported, target = _into_audit(audit, model, paths, selection, control, ScoreKind(kind), variant, options)
    elif out is not None and audit is None:
        imported, target = _to_file(out, bank, model, paths, selection, ScoreKind(kind), state, options)
    else:
        raise typer.BadParameter("pass --out and perhaps --bank, or --audit with --model, the id it is registered by")
    console = shell_of(context).console
    for note in imported.notes():
        console.note(f"note: {note}")
    files = [str(target), str(notes_path(target))]
    console.result({**import_record(imported), "files": files}, text=f"{_summary(imported.table)}\n{target}")


def _into_audit(
    audit: Path,
    model: str,
    paths: LogPaths,
    selection: Selection,
    control: bool,
    kind: ScoreKind,
    variant: str,
    options: ImportOptions,
) -> tuple[Imported, Path]:
    from leakscale.audit.directory import AuditDirectory, BankRole  # noqa: PLC0415
    from leakscale.audit.importers.filing import import_into_audit  # noqa: PLC0415

    return import_into_audit(
        AuditDirectory.existing(audit),
        model,
        paths,
        selection,
        role=BankRole.CONTROL if control else BankRole.AUDIT,
        kind=kind,
        variant=variant,
        options=options,
    )


def _to_file(
    out: Path,
    bank: Path | None,
    model: str,
    paths: LogPaths,
    selection: Selection,
    kind: ScoreKind,
    state: str,
    options: ImportOptions,
) -> tuple[Imported, Path]:
    from leakscale.audit.forms import read_bank  # noqa: PLC0415
    from leakscale.audit.importers import import_scores, save_import  # noqa: PLC0415

    forms = None if bank is None else read_bank(bank)
    imported = import_scores(paths, selection, bank=forms, kind=kind, model=model, state=state, options=options)
    save_import(imported, out)
    return imported, out


def _summary(table: ScoreTable) -> str:
    import numpy as np  # noqa: PLC0415

    from leakscale.stats import paired_gap  # noqa: PLC0415

    lines = [
        f"{table.model} ({table.state}), {table.metric}: {len(table.parent_ids):,} parents, original and "
        f"{table.fresh_count} fresh forms, {table.deep_count} deep"
    ]
    if str(table.kind) != "confidence":
        gaps = paired_gap(table.original, table.fresh)
        weights = ", drawn parents unweighted, see analyze for the strata's weights" if table.strata else ""
        lines.append(f"public score {np.nanmean(table.original):.4f}, {gaps}{weights}")
    return "\n".join(lines)
