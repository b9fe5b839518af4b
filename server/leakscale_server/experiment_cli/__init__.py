"""`leakscale-server experiment`: what only an administrator decides about experiments. One verb a file."""

import typer

from leakscale_server.experiment_cli.withdraw import withdraw_experiment

__all__ = ["experiment_app"]

experiment_app = typer.Typer(
    name="experiment",
    help="Decide about experiments. A server that runs sees it at once.",
    no_args_is_help=True,
)


@experiment_app.callback()
def _experiment() -> None:
    """Without a callback, Typer takes the only verb for the command itself."""


experiment_app.command("withdraw")(withdraw_experiment)
