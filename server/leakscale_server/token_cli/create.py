"""`leakscale-server token create`."""

from __future__ import annotations

from typing import Annotated

import typer

from leakscale_server.identity.scopes import Role, Scope
from leakscale_server.token_cli.common import (
    DataDirOption,
    JsonOption,
    duration,
    ending_in_one_line,
    opened_tokens,
    say_issued,
)

__all__ = ["create"]


def create(
    *,
    data_dir: DataDirOption,
    principal: Annotated[str, typer.Option(help="Person or machine that it stands for; budgets go by it.")],
    role: Annotated[Role, typer.Option(help="What it may do at most.")],
    project: Annotated[str, typer.Option(help="Whose experiments, grants and drafts it reaches.")] = "default",
    scope: Annotated[
        list[Scope] | None, typer.Option(help="Only this of what the role may; may be given several times.")
    ] = None,
    expires_in: Annotated[str, typer.Option(help="90d, 12h, 30m, 45s or never.")] = "90d",
    as_json: JsonOption = False,
) -> None:
    """Issue a token. Its text is shown once; the server keeps a SHA-256 of it."""
    with ending_in_one_line(as_json=as_json):
        lifetime = None if expires_in == "never" else duration(expires_in, option="--expires-in")
        with opened_tokens(data_dir) as tokens:
            issued = tokens.create(
                principal=principal, project=project, role=role, lifetime=lifetime, scopes=scope or ()
            )
        say_issued(issued, as_json=as_json)
