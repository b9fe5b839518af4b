"""`leakscale audit fetch`: get the forms of a deposited audit, without their golds, in order to answer it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.shell import shell_of
from leakscale.cli.values import public_key_of

__all__ = ["fetch"]


def fetch(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="AUDIT", help="audits/AUDIT, as `audit deposit` prints.")],
    root: Annotated[Path, typer.Argument(metavar="DIR", help="New folder, or that of an earlier fetch.")],
    frame: Annotated[
        Path | None, typer.Option(help="The benchmark: the sample is drawn from it again, and compared.")
    ] = None,
    public_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Key by which the server has to sign: 64 hexadecimal digits, or a file of them."
        ),
    ] = None,
) -> None:
    """Lay out an audit whose forms somebody deposited: registration, forms without golds, a key and a ledger of yours.

    Needs a token of an auditor. Into the folder of an earlier fetch it brings the amendments that came since.

    For example:

    ```
    leakscale audit fetch audits/gsm8k gsm8k --server audits.example:7443
    leakscale audit fetch audits/gsm8k gsm8k --frame gsm8k.jsonl
    ```
    """
    from leakscale.audit.answering.engines import model_words  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.remote.fetching import fetch_audit  # noqa: PLC0415

    shell = shell_of(context)
    key = None if public_key is None else public_key_of(public_key)
    with connected(shell) as client, shell.console.progress("fetch", total=None, unit="banks") as bar:
        found = fetch_audit(
            client,
            full_name(name, "audits"),
            root,
            server=shell.server,
            server_key=key,
            frame=frame,
            progress=bar.update,
        )
    registration = found.registration
    facts = {
        "directory": str(root),
        **found.origin.to_json(),
        "is_new": found.is_new,
        "new_amendments": [
            each.amendment.to_json()
            | {"released_before": list(each.released_before), "sealed_before": each.sealed_before}
            for each in found.new_amendments
        ],
        "is_drawn_again": found.is_drawn_again,
        "models": [
            {name: getattr(model, name) for name in ("id", "engine", "source", "revision", "engine_options")}
            for model in registration.plan.models
        ],
    }
    control = registration.control
    lines = [
        f"{found.origin.audit}, locked at {registration.locked_at}, {'fetched' if found.is_new else 'fetched before'}",
        f"{registration.bank.parent_count:,} parents, {registration.bank.fresh_count} fresh forms, "
        f"{f'{control.parent_count:,}' if control else 'no'} control parents; no golds",
        *(f"{each}: {each.amendment.reason}" for each in found.new_amendments),
        *(f"model        {model_words(model)}" for model in registration.plan.models),
        f"author's key {found.origin.author_key.hex()}",
        f"server's key {found.origin.server_key.hex()}",
        f"the draw     {'drawn again from the frame, the same' if found.is_drawn_again else 'not held; pass --frame'}",
        f"then         leakscale audit answer {root}",
    ]
    shell.console.result(facts, text="\n".join(lines))
