"""`leakscale audit answer`: ask the registered models every form."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.shell import shell_of
from leakscale.cli.stage_bars import StageBars

if TYPE_CHECKING:
    from leakscale.audit.answering.running import AnsweredBank

__all__ = ["answer"]


def answer(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="A locked audit.")],
    model: Annotated[
        list[str] | None, typer.Option(help="Id of a registered model; repeatable. Default: every one that is asked.")
    ] = None,
    variant: Annotated[str, typer.Option(help="`registered`, or an amendment.")] = "registered",
    adapter: Annotated[Path | None, typer.Option(help="Folder of an adapter, for another --state than base.")] = None,
    state: Annotated[str, typer.Option(help="State of the model.")] = "base",
    api_key_variable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Variable with an endpoint's key. Default: the registered one; of a fetched audit none is sent.",
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=PATH", help="Where a model lies here, of a fetched audit; repeatable."),
    ] = None,
) -> None:
    """Answer the bank and the control bank with each model, and score what it said.

    Interrupted, the same command goes on. Answers stay under private/, scores are entered in the ledger.

    For example:

    ```
    leakscale audit answer gsm8k
    leakscale audit answer gsm8k --model smollm2 --variant amendment-1
    leakscale audit answer fetched --api-key-variable OPENAI_API_KEY
    ```
    """
    from leakscale.audit.answering.engines import Own, model_words  # noqa: PLC0415
    from leakscale.audit.answering.running import answer_audit  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.directory import AuditDirectory, BankRole  # noqa: PLC0415
    from leakscale.audit.registration.amending import registration_of  # noqa: PLC0415
    from leakscale.audit.registration.origin import fetched_of  # noqa: PLC0415
    from leakscale.errors import PreconditionError  # noqa: PLC0415

    shell, directory = shell_of(context), AuditDirectory.existing(root)
    registration = registration_of(directory, variant)
    models = model or [each.id for each in registration.plan.models if not each.is_asked_already]
    if not models:
        raise PreconditionError(
            f"audit '{registration.name}' asks no model itself; import their logs by `leakscale audit import`"
        )
    sources, origin = _sources(source or [], models), fetched_of(directory)
    if origin is not None:
        for each in models:
            shell.console.note(f"registered by the author: {model_words(registration.plan.model_of(each))}")
    roles = [BankRole.AUDIT] if registration.control is None else list(BankRole)
    answered: list[tuple[str, BankRole, AnsweredBank]] = []
    for model_id in models:
        for role in roles:
            with StageBars(shell.console) as bars:
                bars.begin(f"open {model_id}, {role} bank")
                found = answer_audit(
                    directory,
                    model_id,
                    role=role,
                    state=state,
                    adapter=adapter,
                    variant=variant,
                    own=Own(api_key_variable, sources.get(model_id)),
                    progress=partial(bars.update, f"answer {model_id} {role}", unit="answers"),
                    reading_progress=partial(bars.update, f"read {model_id} {role}", unit="forms"),
                )
            answered.append((model_id, role, found))
            if found.unread:
                shell.console.note(f"note: {model_id}, {role} bank: no readings of the forms as texts ({found.unread})")
            for warning in found.quality.warnings:
                shell.console.note(f"warning: {model_id}, {role} bank, {warning}")
    shell.console.result(
        {"answered": [_facts(*each) for each in answered]}, text="\n".join(_line(*each) for each in answered)
    )


def _sources(options: list[str], models: list[str]) -> dict[str, str]:
    sources = {}
    for each in options:
        model, equals, path = each.partition("=")
        if not equals or not path or model not in models:
            raise typer.BadParameter(f"{each!r} is no MODEL=PATH of {', '.join(models)}", param_hint="--source")
        sources[model] = path
    return sources


def _facts(model: str, role: str, answered: AnsweredBank) -> dict[str, Any]:
    return {
        "model": model,
        "bank": str(role),
        "scores": [{"kind": str(table.kind), "digest": table.digest} for table in answered.tables],
        "unread": answered.unread,
        "quality": answered.quality.to_json(),
        "files": [str(path) for path in answered.files],
    }


def _line(model: str, role: str, answered: AnsweredBank) -> str:
    import numpy as np  # noqa: PLC0415

    from leakscale.stats import paired_gap  # noqa: PLC0415

    table, quality = answered.accuracy, answered.quality
    again = f"{quality.rerun_alike_count} of {quality.rerun_count} repeated alike" if quality.rerun_count else ""
    if table is None:
        count = sum(form.answer_count for form in quality.forms)
        scored = "scored by the server after `leakscale audit submit`"
        return ", ".join(filter(None, (f"{model}, {role} bank: {count:,} answers", scored, again)))
    public = f"{model}, {role} bank: public score {np.nanmean(table.original):.4f}"
    weights = "drawn parents unweighted, see analyze for the strata's weights" if table.strata else ""
    return ", ".join(filter(None, (public, str(paired_gap(table.original, table.fresh)), weights, again)))
