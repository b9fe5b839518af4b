"""`leakscale trace`: whose corpus a text was met in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.connection import connected, full_name
from leakscale.cli.shell import shell_of

__all__ = ["trace"]

_FOUND = 1


def trace(
    context: typer.Context,
    edition: Annotated[str, typer.Argument(help="An edition of your project.")],
    files: Annotated[
        list[Path], typer.Argument(help="Texts: a training corpus, a model's output.", exists=True, dir_okay=False)
    ],
) -> None:
    """Look for the decoys and canaries of an edition's grants in texts, and name the grant that leaked.

    Exit code 1 where one is found, 0 where none is. A corpus from which its decoys were taken out is not found.

    For example:

    ```
    leakscale trace editions/spring crawl.txt
    ```
    """
    shell = shell_of(context)
    found: list[dict[str, object]] = []
    with connected(shell) as client, shell.console.progress("trace", total=len(files), unit="files") as bar:
        for path in files:
            text = path.read_text(encoding="utf-8", errors="replace")
            for one in client.grants.trace(full_name(edition, "editions"), text):
                found.append({"file": str(path), "grant": one.grant, "markers": list(one.markers)})
            bar.advance()
    lines = [f"{one['file']}  {one['grant']}  {', '.join(map(str, one['markers']))}" for one in found]  # type: ignore[call-overload]
    shell.console.result({"traces": found}, text="\n".join(lines) or "no marker of any grant")
    if found:
        raise typer.Exit(_FOUND)
