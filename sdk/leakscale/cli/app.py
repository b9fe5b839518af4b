"""The command `leakscale`: global options, and one module a verb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import leakscale
from leakscale.cli import (
    adapt,
    analyze,
    attack,
    audit,
    bank,
    catalog,
    certify,
    demo,
    edition,
    evidence,
    experiment,
    freshness,
    grant,
    lab,
    ledger,
    report,
    shards,
    strength,
    study,
    trace,
    verify,
)
from leakscale.cli import server as server_verbs
from leakscale.cli.console import Console
from leakscale.cli.exits import Interrupted
from leakscale.cli.shell import DEFAULT_SERVER, Shell

__all__ = ["app"]


class _Commands(TyperGroup):
    """All commands; an interrupted one keeps its words."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(str(error)) from error


app = typer.Typer(
    name="leakscale",
    cls=_Commands,
    help="Measure how much of a language model's score is owed to having seen the benchmark.",
    epilog="Exit codes: 0 done, 1 negative result, 2 usage, 3 server, 4 refused, 5 internal, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.add_typer(server_verbs.app, name="server")
app.command("certify")(certify.certify)
app.command("catalog", **catalog.SETTINGS)(catalog.catalog)
app.command("attack", **catalog.SETTINGS)(attack.attack)
app.add_typer(edition.app, name="edition")
app.command("adapt")(adapt.adapt)
app.add_typer(grant.app, name="grant")
app.command("trace")(trace.trace)
app.add_typer(strength.app, name="strength")
app.add_typer(experiment.app, name="experiment")
app.add_typer(bank.app, name="bank")
app.command("analyze")(analyze.analyze)
app.command("report")(report.report)
app.add_typer(freshness.app, name="freshness")
app.add_typer(ledger.app, name="ledger")
app.add_typer(evidence.app, name="evidence")
app.add_typer(verify.app, name="verify")
app.add_typer(lab.app, name="lab")
app.add_typer(study.app, name="study")
app.add_typer(shards.app, name="shards")
app.add_typer(audit.app, name="audit")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leakscale {leakscale.__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print results and errors as JSON.")] = False,
    server: Annotated[
        str, typer.Option(envvar="LEAKSCALE_SERVER", help="host:port or unix:PATH of the server.")
    ] = DEFAULT_SERVER,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="LEAKSCALE_TOKEN",
            show_envvar=True,
            help="Token for the server. Prefer the variable: other users can read a command line.",
        ),
    ] = None,
    ca: Annotated[
        Path | None, typer.Option(envvar="LEAKSCALE_CA", help="PEM file: authorities that the server is trusted by.")
    ] = None,
    client_certificate: Annotated[
        Path | None,
        typer.Option(envvar="LEAKSCALE_CLIENT_CERTIFICATE", help="PEM file, for a server that asks for one."),
    ] = None,
    client_key: Annotated[
        Path | None, typer.Option(envvar="LEAKSCALE_CLIENT_KEY", help="PEM file: the key of that certificate.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that every command has; they may stand before or after the command."""
    context.obj = Shell(
        console=Console(as_json=as_json),
        server=server,
        token=token or None,
        ca=ca,
        client_certificate=client_certificate,
        client_key=client_key,
    )
