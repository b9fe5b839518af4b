"""`leakscale audit import`: start from logs that exist already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.audit.scores import ScoreTable

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
    may_differ: Annotated[list[str] | None, typer.Option(help="Setting that logs may declare differently.")] = None,
    allow_missing: Annotated[bool, typer.Option("--allow-missing", help="Leave out forms without a score.")] = False,
    trust_prompts: Annotated[bool, typer.Option("--trust-prompts", help="Do not compare prompts.")] = False,
) -> None:
    """Read evaluation logs into a table of scores, or say which forms were not asked alike."""
    from leakscale.audit.forms import read_bank  # noqa: PLC0415 - keeps --help quick, as do the next ones
    from leakscale.audit.importers import (  # noqa: PLC0415
        ImportOptions,
        LogPaths,
        Selection,
        import_record,
        import_scores,
        save_import,
    )
    from leakscale.audit.scores import ScoreKind  # noqa: PLC0415

    if kind not in set(ScoreKind):
        raise typer.BadParameter(f"kind is '{kind}'; it is one of {', '.join(ScoreKind)}")
    if audit is not None and out is None:
        bank, target = _places(audit, model, state=state, kind=kind, control=control, bank=bank)
    elif out is not None and audit is None:
        target = out
    else:
        raise typer.BadParameter("pass --out for a file of scores, or --audit for an audit directory")
    imported = import_scores(
        LogPaths(original, tuple(fresh or ()), tuple(deep or ()), tuple(together or ())),
        Selection(metric, filter=filter_, key=key, form_key=form_key, text_key=text_key),
        bank=None if bank is None else read_bank(bank),
        kind=ScoreKind(kind),
        model=model,
        state=state,
        options=ImportOptions(frozenset(may_differ or ()), allow_missing, trust_prompts),
    )
    record = save_import(imported, target)
    console = shell_of(context).console
    for note in imported.notes():
        console.note(f"note: {note}")
    console.result(
        {**import_record(imported), "files": [str(target), str(record)]}, text=f"{_summary(imported.table)}\n{target}"
    )


def _places(audit: Path, model: str, *, state: str, kind: str, control: bool, bank: Path | None) -> tuple[Path, Path]:
    """Return the bank of an audit and the file for the scores of a model on it."""
    from leakscale.audit.directory import AuditDirectory, BankRole  # noqa: PLC0415
    from leakscale.audit.scores import ScoreKind  # noqa: PLC0415
    from leakscale.errors import PreconditionError  # noqa: PLC0415

    if bank is not None:
        raise typer.BadParameter("--bank and --audit are both given; an audit has its own bank")
    if not model:
        raise typer.BadParameter("--audit needs --model: the id that the registration gives the model")
    directory = AuditDirectory.existing(audit)
    if not directory.registration.is_file():
        raise PreconditionError(
            f"audit '{audit}' is not locked; run `leakscale audit lock` before any score is in it, so that nobody can "
            "fit the rules to the scores"
        )
    role = BankRole.CONTROL if control else BankRole.AUDIT
    return directory.bank(role), directory.scores(model, bank=role, state=state, kind=ScoreKind(kind))


def _summary(table: ScoreTable) -> str:
    import numpy as np  # noqa: PLC0415

    from leakscale.stats import paired_gap  # noqa: PLC0415

    lines = [
        f"{table.model} ({table.state}), {table.metric}: {len(table.parent_ids):,} parents, original and "
        f"{table.fresh_count} fresh forms, {table.deep_count} deep"
    ]
    if str(table.kind) != "confidence":
        gaps = paired_gap(table.original, table.fresh)
        lines.append(f"public score {np.nanmean(table.original):.4f}, {gaps}")
    return "\n".join(lines)
