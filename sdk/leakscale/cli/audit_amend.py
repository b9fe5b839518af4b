"""`leakscale audit amend`: log a change to a locked audit, beside what was registered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from leakscale.cli.shell import shell_of
from leakscale.reading import parse_toml

__all__ = ["amend"]

_SHOWN: Final = 4
"""Files that are named of those that had been seen."""


def amend(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="Audit directory.")],
    changes: Annotated[
        list[str],
        typer.Option("--set", metavar="FIELD=VALUE", help="E.g. decoding.token_count_max=1024; may be repeated."),
    ],
    reason: Annotated[str, typer.Option(help="Why; whoever reads the report reads it.")] = "",
) -> None:
    r"""Log an amendment with its reason. It is answered and reported beside what was registered, never instead.

    For example:

    ```
    leakscale audit amend gsm8k --set decoding.token_count_max=1024 \
        --reason "a third was cut off"
    ```
    """
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.registration.amending import amend_audit  # noqa: PLC0415
    from leakscale.audit.registration.ledger import AuditLedger, EntryKind  # noqa: PLC0415

    directory = AuditDirectory.existing(root)
    amendment = amend_audit(directory, changes=_changes(changes), reason=reason)
    seen = (
        f"{len(amendment.files_seen)} files of answers, scores and their records existed: "
        + ", ".join(amendment.files_seen[:_SHOWN])
        + (", …" if len(amendment.files_seen) > _SHOWN else "")
        if amendment.files_seen
        else "nothing asked"
    )
    if AuditLedger(directory).latest(EntryKind.DEPOSIT) is not None:
        seen += " here; what the server had sealed and released it says at the next `leakscale audit deposit`"
    shell_of(context).console.result(
        {"variant": amendment.variant, **amendment.to_json()},
        text=f"{amendment.variant} logged at {amendment.amended_at}; before it {seen}",
    )


def _changes(texts: list[str]) -> dict[str, Any]:
    found = [_change(text) for text in texts]
    fields = [field for field, _ in found]
    if twice := next((field for field in fields if fields.count(field) > 1), None):
        raise typer.BadParameter(f"field '{twice}' is set twice; set each once", param_hint="--set")
    return dict(found)


def _change(text: str) -> tuple[str, Any]:
    field, equals, value = text.partition("=")
    if not equals or not field.strip():
        raise typer.BadParameter(f"{text!r} is no change; pass FIELD=VALUE", param_hint="--set")
    try:
        return field.strip(), parse_toml(f"value = {value}")["value"]
    except ValueError:
        return field.strip(), value  # a word that nobody quoted
