"""Run a LeakScale server: `leakscale-server --data-dir DIR`; issue its tokens, look at its sandbox or at a catalog."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from leakscale.usage import usage_text
from leakscale_server.config import METRICS_LISTEN, ConfigError, ServerConfig, TlsFiles
from leakscale_server.edition_cli import edition_app
from leakscale_server.experiment_cli import experiment_app
from leakscale_server.limits import CallLimits
from leakscale_server.sandbox_cli import sandbox_app
from leakscale_server.sandbox_pool import BackendUnavailable, SandboxFault
from leakscale_server.token_cli import token_app

__all__ = ["main"]

_NAME = "leakscale-server"
DEFAULT_LISTEN = "127.0.0.1:7443"
_USAGE, _INTERRUPTED = 2, 130
_LIMITS = CallLimits()
# Base of all complaints about arguments. Typer does not export it; every version derives BadParameter from it.
_USAGE_BASE: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks print local variables, and some are secrets
    help="Serve LeakScale: certify families, freeze editions, score privately.",
    invoke_without_command=True,
)
app.add_typer(sandbox_app)
app.add_typer(token_app)
app.add_typer(edition_app)
app.add_typer(experiment_app)


_HANDED_ON: dict[str, Any] = {
    "add_help_option": False,
    "context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False},
}
"""Everything behind the name of such a command is for another one, which is loaded when it is asked for."""


@app.command(**_HANDED_ON)
def catalog(
    context: typer.Context, arguments: Annotated[list[str] | None, typer.Argument(metavar="COMMAND")] = None
) -> None:
    """Write shapes of your own, check them in the local sandbox, and audit catalogs and editions."""
    # Loads the statistics and the parsers, which a server does not need.
    from leakscale_server.catalog_cli import catalog_app  # noqa: PLC0415

    _hand_on(context, catalog_app, arguments or ["--help"])


@app.command(**_HANDED_ON)
def attack(
    context: typer.Context, arguments: Annotated[list[str] | None, typer.Argument(metavar="OPTION")] = None
) -> None:
    """Attack the secrecy of fresh editions in this process, and say what each attack won."""
    from leakscale_server.attack.command import attack_app  # noqa: PLC0415 - loads the statistics

    _hand_on(context, attack_app, arguments or [])


def _hand_on(context: typer.Context, command: typer.Typer, arguments: list[str]) -> None:
    """Run another command in place of this one, and end as it does."""
    name = f"{context.parent.params['called_as'] if context.parent else _NAME} {context.info_name}"
    try:
        code = command(arguments, prog_name=name, standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt) as error:
        sys.stderr.write("error: interrupted; nothing was kept\n")
        raise typer.Exit(_INTERRUPTED) from error
    except _USAGE_BASE as error:
        from leakscale_server.catalog_cli.ending import say_usage  # noqa: PLC0415

        say_usage(error, as_json="--json" in arguments)
        raise typer.Exit(_USAGE) from error
    raise typer.Exit(code if isinstance(code, int) else 0)


@app.callback()
def run(
    context: typer.Context,
    data_dir: Annotated[
        Path | None, typer.Option(help="Registry, vault, signing key, token and editions live here.")
    ] = None,
    listen: Annotated[
        str, typer.Option(help="host:port (port 0: a free one) or unix:PATH; off loopback with TLS only.")
    ] = DEFAULT_LISTEN,
    backend: Annotated[str, typer.Option(help="Sandbox: auto, docker or bubblewrap.")] = "auto",
    docker_runtime: Annotated[
        str, typer.Option(help="A stronger container runtime that the daemon knows, such as runsc.")
    ] = "",
    lanes: Annotated[int | None, typer.Option(help="Warm sandboxes, an even number; default: one a core.")] = None,
    ray_address: Annotated[
        str, typer.Option(help="Ray cluster on whose nodes the sandboxes run, HOST:PORT or auto; needs --backend.")
    ] = "",
    cache_dir: Annotated[Path | None, typer.Option(help="Where sandbox images are kept.")] = None,
    tls_certificate: Annotated[
        Path | None,
        typer.Option(help="PEM file: the certificate and those above it; read again when renewed."),
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file: the certificate's private key.")] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="PEM file: clients must show a certificate of these authorities.")
    ] = None,
    vault_key_command: Annotated[
        str, typer.Option(help="Program that prints the vault's key; else LEAKSCALE_VAULT_KEY or the file vault.key.")
    ] = "",
    replica_of: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Serve what `leakscale ledger export` wrote there, read-only: no vault, no sandbox."
        ),
    ] = None,
    calls_per_second: Annotated[
        float, typer.Option(min=0, help="Calls that one principal may begin in a second, on average; 0: any number.")
    ] = _LIMITS.principal_calls_per_s,
    calls_at_once: Annotated[
        int, typer.Option(min=1, help="Calls that one principal may have in flight.")
    ] = _LIMITS.principal_call_count_max,
    http_listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="The unary calls as JSON over HTTP; off loopback with TLS only."),
    ] = "",
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of a page for Prometheus; 0: a free one.")
    ] = None,
    metrics_listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="IP address of that page, which takes no token: off loopback only where nobody else reaches it.",
        ),
    ] = METRICS_LISTEN,
    reflection: Annotated[
        bool, typer.Option("--reflection", help="Describe the services to tools such as grpcurl; needs a token.")
    ] = False,
    ready_fd: Annotated[int | None, typer.Option(help="Write one JSON line here once serving.", hidden=True)] = None,
    stop_with_stdin: Annotated[bool, typer.Option(help="Stop when standard input ends.", hidden=True)] = False,
    called_as: Annotated[str, typer.Option(help="Command in whose place this one runs.", hidden=True)] = _NAME,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the calls in flight and stop."""
    if context.invoked_subcommand is not None:
        return
    if data_dir is None:
        raise typer.BadParameter("a server needs a folder; see --help", param_hint="--data-dir")
    # Before anything starts a thread: this process begins again without the key.
    from leakscale_server.scorer_process.key_keeper import KeyKeeper  # noqa: PLC0415

    key_keeper = KeyKeeper.hand_over()
    # Loads gRPC, which a verb of the sandbox does not need.
    from leakscale_server.serving import serve_until_stopped  # noqa: PLC0415

    config = ServerConfig(
        replica_of=replica_of,
        http_listen=http_listen,
        metrics_port=metrics_port,
        metrics_listen=metrics_listen,
        reflection=reflection,
        call_limits=CallLimits(principal_calls_per_s=calls_per_second, principal_call_count_max=calls_at_once),
        tls=_tls_files(tls_certificate, tls_key, tls_client_ca),
        listen=listen,
        data_dir=data_dir,
        cache_dir=cache_dir or ServerConfig.default_cache_dir(),
        backend=backend,
        docker_runtime=docker_runtime,
        ray_address=ray_address,
        vault_key_command=vault_key_command,
        lane_count=ServerConfig.default_lane_count() if lanes is None else lanes,
    )
    try:
        serve_until_stopped(config, ready_fd=ready_fd, stop_with_stdin=stop_with_stdin, key_keeper=key_keeper)
    except (ConfigError, BackendUnavailable, SandboxFault, OSError, sqlite3.Error, ValueError) as error:
        sys.stderr.write(f"leakscale-server: {error}\n")
        raise typer.Exit(3) from error


def _tls_files(certificate: Path | None, key: Path | None, client_ca: Path | None) -> TlsFiles | None:
    if certificate is not None and key is not None:
        return TlsFiles(certificate, key, client_ca)
    if certificate is None and key is None and client_ca is None:
        return None
    raise typer.BadParameter("TLS takes --tls-certificate and --tls-key together", param_hint="--tls-certificate")


def main() -> None:
    """Run the command line; what is wrong with its arguments is one line."""
    try:
        code = app(prog_name=_NAME, standalone_mode=False)
    except _USAGE_BASE as error:
        sys.stderr.write(f"leakscale-server: {usage_text(error) or 'missing verb'}; see --help\n")
        sys.exit(_USAGE)
    except typer.Abort:
        sys.exit(_INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
