"""`leakscale ledger`: read the server's log, and keep what it says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.connection import connected
from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.models import LedgerEntry

__all__ = ["app"]

app = typer.Typer(help="Read the server's append-only log, and keep what it says.", no_args_is_help=True)


@app.command("show")
def show(context: typer.Context) -> None:
    """List the entries of the ledger; of another project's there is the leaf alone.

    For example:

    ```
    leakscale ledger show
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        head = client.ledger.head()
        entries = [_to_dict(entry) for entry in client.ledger.entries() if entry.position < head.entry_count]
    lines = [*map(_line, entries), f"{head.entry_count} entries, root {head.root.hex()}"]
    shell.console.result({"entries": entries, "root": head.root.hex()}, text="\n".join(lines))


@app.command("export")
def export(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory, or the one of the last export.")],
) -> None:
    """Fetch ledger, frozen editions and your disclosures into a directory, for `leakscale verify`.

    For example:

    ```
    leakscale ledger export export
    ```
    """
    from leakscale.verify.exporting import export_server  # noqa: PLC0415 - loads gRPC

    shell = shell_of(context)
    files: list[str] = []
    left_out: list[str] = []
    with connected(shell) as client:
        export_server(client, directory, written=files.append, left_out=left_out.append)
        key = client.server.info().public_key.hex()
    text = (
        f"{len(files)} files written to {directory}; check them with\nleakscale verify {directory} --public-key {key}"
    )
    if left_out:
        text += f"\nleft out, as the token lacks disclosures:read: {', '.join(left_out)}; verify editions one by one"
    facts = {"directory": str(directory), "files": files, "left_out": left_out, "public_key": key}
    shell.console.result(facts, text=text)


def _to_dict(entry: LedgerEntry) -> dict[str, Any]:
    from leakscale.verify.directory import facts_of  # noqa: PLC0415 - keeps --help quick

    return {"position": entry.position, "leaf": entry.leaf.hex(), **facts_of(entry)}


def _line(entry: dict[str, Any]) -> str:
    if "kind" not in entry:
        return f"{entry['position']:>6}  {'':<20}  another project's"
    what = next((f"{name} {entry[name]}" for name in ("bank", "experiment", "grant", "edition") if name in entry), "")
    return f"{entry['position']:>6}  {entry['time'][:19]:<20}  {entry['kind']:<22} {what}"
