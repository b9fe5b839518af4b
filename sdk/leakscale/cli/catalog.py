"""`leakscale catalog`: write shapes, check them, and audit a catalog. The server's package does the work.

What builds and runs families is the server's, which the SDK does not import, so these verbs are its own command
`leakscale-server catalog` with the same arguments and the same exit codes.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from leakscale.cli.server import become_server
from leakscale.cli.shell import shell_of

__all__ = ["SETTINGS", "catalog"]

SETTINGS: Final[dict[str, Any]] = {
    "add_help_option": False,
    "context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False},
}
"""Everything behind the command's name goes to the server's, its help included."""


def catalog(
    context: typer.Context, arguments: Annotated[list[str] | None, typer.Argument(metavar="COMMAND")] = None
) -> None:
    """Write shapes of your own, check them in the local sandbox, and audit catalogs: new, check, show, audit."""
    verb, rest = (arguments or ["--help"])[:1], (arguments or [])[1:]
    # A global option of this command, which was taken out of its place on the way here.
    as_json = ["--json"] if shell_of(context).console.as_json else []
    become_server(["--called-as", "leakscale", "catalog", *verb, *as_json, *rest])
