"""`leakscale-server sandbox`: see what happens to a program, and what this host can promise. One verb a file."""

import typer

from leakscale_server.sandbox_cli.check import check
from leakscale_server.sandbox_cli.run import run

__all__ = ["sandbox_app"]

sandbox_app = typer.Typer(
    name="sandbox",
    help="Run programs in the sandbox, and check that its limits bite here.",
    no_args_is_help=True,
)
sandbox_app.command()(run)
sandbox_app.command()(check)
