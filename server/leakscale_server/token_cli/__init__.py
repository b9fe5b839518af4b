"""`leakscale-server token`: who may call a server, and until when. One verb a file."""

import typer

from leakscale_server.token_cli.create import create
from leakscale_server.token_cli.listing import list_tokens
from leakscale_server.token_cli.revoke import revoke
from leakscale_server.token_cli.rotate import rotate

__all__ = ["token_app"]

token_app = typer.Typer(
    name="token",
    help="Issue, list, rotate and revoke tokens. A server that runs sees the change within seconds.",
    no_args_is_help=True,
)
token_app.command()(create)
token_app.command("list")(list_tokens)
token_app.command()(rotate)
token_app.command()(revoke)
