"""`leakscale grant`: ask for exposure grants, approve them, look at them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.exposing import holder_key_file
from leakscale.cli.shell import shell_of
from leakscale.cli.values import COUNT_MAX, lifetime_of

if TYPE_CHECKING:
    from leakscale.models import Grant

__all__ = ["app"]

app = typer.Typer(help="Ask for an exposure grant, approve it, list grants.", no_args_is_help=True)

_Name = Annotated[
    str, typer.Argument(metavar="GRANT", help="editions/EDITION/grants/GRANT, as `grant request` prints.")
]


@app.command("request")
def request(
    context: typer.Context,
    edition: Annotated[str, typer.Argument(help="A frozen edition.")],
    request_id: Annotated[str, typer.Option(help="The same id returns the same grant.")] = "exposure",
    preservation: Annotated[
        int, typer.Option(min=0, max=COUNT_MAX, help="Public-format tasks of families that are never banked.")
    ] = 512,
    holder_key: Annotated[
        Path | None, typer.Option(help="Key that the corpus is sealed to; default: holder.key of your configuration.")
    ] = None,
) -> None:
    """Ask for the corpus of an edition's C2 families, sealed to your key. Somebody of its project approves.

    For example:

    ```
    leakscale grant request editions/spring --preservation 512
    ```
    """
    from leakscale.sealing import HolderKey  # noqa: PLC0415 - needs cryptography

    shell = shell_of(context)
    path = holder_key or holder_key_file()
    key = HolderKey.kept_in(path)
    with connected(shell) as client:
        grant = client.grants.request(
            full_name(edition, "editions"),
            holder_key=key.public,
            request_id=request_id,
            preservation_count=preservation,
        )
    shell.console.note(f"sealed to {path}; whoever has that file and your token can redeem it")
    shell.console.result(_facts(grant), text=_line(grant))


@app.command("approve")
def approve(
    context: typer.Context,
    name: _Name,
    days: Annotated[float, typer.Option(help="How long it may be redeemed; at most 7.")] = 7.0,
) -> None:
    """Approve a request of an edition of your project.

    For example:

    ```
    leakscale grant approve editions/spring/grants/GRANT --days 7
    ```
    """
    shell, lifetime = shell_of(context), lifetime_of(days, option="--days")
    with connected(shell) as client:
        grant = client.grants.approve(name, lifetime=lifetime)
    if grant.approve_time and grant.expire_time and grant.expire_time - grant.approve_time != lifetime:
        shell.console.note("it was approved before, for another time; the first approval stands")
    shell.console.result(_facts(grant), text=_line(grant))


@app.command("list")
def list_(context: typer.Context, edition: Annotated[str, typer.Argument(help="An edition.")]) -> None:
    """List the grants of an edition that you may see, newest first.

    For example:

    ```
    leakscale grant list editions/spring
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        grants = list(client.grants.list(full_name(edition, "editions")))
    shell.console.result(
        {"grants": [_facts(grant) for grant in grants]}, text="\n".join(map(_line, grants)) or "no grant"
    )


@app.command("show")
def show(context: typer.Context, name: _Name) -> None:
    """Show one grant.

    For example:

    ```
    leakscale grant show editions/spring/grants/GRANT
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        grant = client.grants.get(name)
    shell.console.result(_facts(grant), text=_line(grant))


def _facts(grant: Grant) -> dict[str, Any]:
    times = {
        name: moment.isoformat() if (moment := getattr(grant, name)) else None
        for name in ("create_time", "approve_time", "expire_time", "redeem_time")
    }
    return {
        "name": grant.name,
        "phase": str(grant.phase),
        "holder": grant.holder,
        "holder_key": grant.holder_key.hex(),
        "preservation_count": grant.preservation_count,
        "approver": grant.approver,
        **times,
    }


def _line(grant: Grant) -> str:
    until = f", until {grant.expire_time:%Y-%m-%d %H:%M} UTC" if grant.expire_time else ""
    by = f", approved by {grant.approver}" if grant.approver else ""
    return f"{grant.name}  {grant.phase}, asked for by {grant.holder}{by}{until}"
