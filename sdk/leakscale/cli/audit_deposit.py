"""`leakscale audit deposit`: leave the private forms of a locked audit with a server, for somebody else to answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.connection import connected
from leakscale.cli.shell import shell_of
from leakscale.cli.values import public_key_of

__all__ = ["deposit"]


def deposit(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(metavar="DIR", help="A locked audit.")],
    public_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Key by which the server has to sign: 64 hexadecimal digits, or a file of them."
        ),
    ] = None,
) -> None:
    """Deposit forms and golds, sealed to the server's scorer. Golds never leave it, and no score leaves early.

    Needs a token of an author. Run again after `leakscale audit amend`, it sends the amendments.

    For example:

    ```
    leakscale audit deposit gsm8k --server audits.example:7443
    ```
    """
    from leakscale.audit.directory import AuditDirectory  # noqa: PLC0415 - keeps --help quick, as do the others
    from leakscale.audit.remote.depositing import deposit_audit  # noqa: PLC0415

    shell, directory = shell_of(context), AuditDirectory.existing(root)
    key = None if public_key is None else public_key_of(public_key)
    with connected(shell) as client, shell.console.progress("deposit", total=None, unit="pieces") as bar:
        done = deposit_audit(client, directory, server=shell.server, server_key=key, progress=bar.update)
    facts = {
        "name": done.audit.name,
        "is_new": done.is_new,
        "new_amendments": [
            {
                "variant": each.amendment.variant,
                "released_before": list(each.released_before),
                "sealed_before": each.sealed_before,
            }
            for each in done.new_amendments
        ],
        "registration_digest": done.registration_digest,
        "server": shell.server,
        "server_key": done.server_key.hex(),
    }
    lines = [
        f"{done.audit.name} {'deposited' if done.is_new else 'was deposited before, and is the same'}",
        *map(str, done.new_amendments),
        f"server's key {done.server_key.hex()}",
        f"then, elsewhere: leakscale audit fetch {done.audit.name} DIR --server {shell.server}",
    ]
    shell.console.result(facts, text="\n".join(lines))
