"""`leakscale lab`: measure what the estimators promise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.shell import shell_of

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Simulate coverage, transport, power and exposure effects.")

_Out = Annotated[Path, typer.Option(help="Folder for table, figure and numbers.")]
_Seed = Annotated[int, typer.Option(min=0, help="Root of all randomness.")]
_Workers = Annotated[int | None, typer.Option(min=1, help="Processes; default: one a core.")]
_Quick = Annotated[bool, typer.Option("--quick", help="Few replicates: seconds, and nothing to cite.")]

_OUT = Path("runs/lab")
_SEED = 1


@app.command("coverage")
def coverage(
    context: typer.Context, out: _Out = _OUT, seed: _Seed = _SEED, workers: _Workers = None, quick: _Quick = False
) -> None:
    """How often each interval for a mean gap covers, and how wide it is.

    For example:

    ```
    leakscale lab coverage --out lab --quick
    ```
    """
    _run(context, "coverage", out, seed, workers, quick)


@app.command("transport")
def transport(
    context: typer.Context, out: _Out = _OUT, seed: _Seed = _SEED, workers: _Workers = None, quick: _Quick = False
) -> None:
    """What a transport radius that is too small costs the sensitivity interval.

    For example:

    ```
    leakscale lab transport --out lab --quick
    ```
    """
    _run(context, "transport", out, seed, workers, quick)


@app.command("power")
def power(
    context: typer.Context, out: _Out = _OUT, seed: _Seed = _SEED, workers: _Workers = None, quick: _Quick = False
) -> None:
    """Which planted advantage each rule detects at which size, and what the relabelling test rejects by mistake.

    For example:

    ```
    leakscale lab power --out lab --quick
    ```
    """
    _run(context, "power", out, seed, workers, quick)


@app.command("did")
def did(
    context: typer.Context, out: _Out = _OUT, seed: _Seed = _SEED, workers: _Workers = None, quick: _Quick = False
) -> None:
    """How often the intervals for an exposure effect and a transfer share cover.

    For example:

    ```
    leakscale lab did --out lab --quick
    ```
    """
    _run(context, "did", out, seed, workers, quick)


def _run(context: typer.Context, name: str, out: Path, seed: int, workers: int | None, quick: bool) -> None:
    from leakscale.lab import Size, laboratory_named, run_laboratory, usable_cores  # noqa: PLC0415 - keeps --help quick

    console = shell_of(context).console
    laboratory = laboratory_named(name)
    size = Size.QUICK if quick else Size.FULL
    with console.progress(f"lab {name}", total=len(laboratory.cells(size)), unit="cells") as progress:
        finished = run_laboratory(
            laboratory, out, size=size, seed=seed, workers=workers or usable_cores(), advance=progress.advance
        )
    if finished.reused_count:
        console.note(f"{finished.reused_count} cells were measured by an earlier run")
    if len(finished.files) < 3:
        console.note("no figure: matplotlib is not installed; run `pip install 'leakscale[report]'`")
    files = [str(path) for path in finished.files]
    console.result({**finished.record, "files": files}, text="\n".join([finished.markdown, *files]))
