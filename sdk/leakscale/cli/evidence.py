"""`leakscale evidence`: put what a finished study rests on into one tree that nobody changes any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.cli.connection import SandboxBackend
from leakscale.cli.exits import ExitCode
from leakscale.cli.shell import shell_of
from leakscale.reading import read_object

if TYPE_CHECKING:
    from leakscale.evidence.building import ExportServer

__all__ = ["app"]

app = typer.Typer(help="Build the tree of evidence of a finished study.", no_args_is_help=True)


@app.command("build")
def build(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="Directory of a finished study, e.g. runs/demo.")],
    output: Annotated[Path | None, typer.Option(help="A name that is free; default: STUDY/evidence.")] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="What `leakscale ledger export` wrote; default: the study's own server is started."),
    ] = None,
    backend: Annotated[SandboxBackend, typer.Option(help="Sandbox of that server; nothing is run in it.")] = (
        SandboxBackend.AUTO
    ),
) -> None:
    """Copy, derive, verify and list everything; exit code 1 where the evidence does not hold, 2 where it is incomplete.

    Nothing is overwritten. The digest that is printed at the end tells later whether the tree is this one.

    For example:

    ```
    leakscale evidence build runs/demo --output evidence
    ```
    """
    from leakscale.errors import IntegrityError, NotFoundError  # noqa: PLC0415 - keeps --help quick
    from leakscale.evidence.building import build_tree  # noqa: PLC0415
    from leakscale.evidence.layout import EVIDENCE_FOLDER  # noqa: PLC0415
    from leakscale.evidence.steps import steps_to_json, verdict_of  # noqa: PLC0415
    from leakscale.evidence.watching import showing_steps  # noqa: PLC0415
    from leakscale.whole_files import held  # noqa: PLC0415

    console = shell_of(context).console
    try:
        summary = read_object(study / "summary.json", advice="run the study again")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(f"'{study}' is no finished study (no summary.json); run it to its end first") from error
    if not {"finding", "finished_at"} <= summary.keys():
        raise IntegrityError(f"'{study / 'summary.json'}' lacks the finding; run the study again")
    with (
        held(study / "lock", subject=f"'{study}'", advice="wait for it"),
        _exporting(study, export, backend) as fetch,
        showing_steps(console.progress) as advance,
    ):
        tree = build_tree(study, output or study / EVIDENCE_FOLDER, summary=summary, export=fetch, advance=advance)
    lines = [
        *(step.to_text() for step in tree.steps),
        f"evidence {tree.root}/",
        f"manifest {tree.manifest_digest} (keep it: `leakscale verify --manifest-digest` compares)",
    ]
    facts = {"evidence": str(tree.root), "manifest": tree.manifest_digest, **steps_to_json(tree.steps)}
    console.result(facts, text="\n".join(lines))
    raise typer.Exit(exit_code_of(verdict_of(tree.steps)))


def exit_code_of(verdict: str) -> ExitCode:
    """Return 0 where evidence holds, 1 where it fails, 2 where something could not be checked."""
    return {"holds": ExitCode.OK, "fails": ExitCode.NEGATIVE, "unchecked": ExitCode.USAGE}[verdict]


@contextmanager
def _exporting(study: Path, export: Path | None, backend: SandboxBackend) -> Iterator[ExportServer]:
    """Yield what writes the server's word into a new directory."""
    import shutil  # noqa: PLC0415

    from leakscale.errors import NotFoundError  # noqa: PLC0415

    if export is not None:
        if not (export / "head.json").is_file():
            raise NotFoundError(f"'{export}' is no export of a server; fetch one with `leakscale ledger export`")
        yield lambda root: shutil.copytree(export, root)
        return
    if not (study / "server").is_dir():
        raise NotFoundError(f"'{study}' has no server of its own; name what it said, `--export DIR`")
    from leakscale.client import Client  # noqa: PLC0415
    from leakscale.study.local_server import local_server  # noqa: PLC0415
    from leakscale.verify.exporting import export_server  # noqa: PLC0415

    with (
        local_server(study / "server", backend=backend, log=study / "server.log") as server,
        Client(server.target, token=server.token) as client,
    ):
        yield lambda root: export_server(client, root)
