"""`leakscale attack`: attack the secrecy of fresh editions. The server's package does the work, as with `catalog`."""

from __future__ import annotations

from typing import Annotated

import typer

from leakscale.cli.server import become_server
from leakscale.cli.shell import shell_of

__all__ = ["attack"]


def attack(
    context: typer.Context, arguments: Annotated[list[str] | None, typer.Argument(metavar="OPTION")] = None
) -> None:
    """Attack the secrecy of fresh editions in this process, and say what each attack won beside its bar."""
    # A global option of this command, which was taken out of its place on the way here.
    as_json = ["--json"] if shell_of(context).console.as_json else []
    become_server(["--called-as", "leakscale", "attack", *as_json, *(arguments or [])])
