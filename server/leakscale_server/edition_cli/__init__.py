"""`leakscale-server edition`: what only an administrator decides about an edition. One verb a file."""

import typer

from leakscale_server.edition_cli.small_cohorts import allow_small_cohorts

__all__ = ["edition_app"]

edition_app = typer.Typer(
    name="edition",
    help="Decide about editions. A server that runs sees it at once.",
    no_args_is_help=True,
)


@edition_app.callback()
def _edition() -> None:
    """Without a callback, Typer takes the only verb for the command itself."""


edition_app.command()(allow_small_cohorts)
