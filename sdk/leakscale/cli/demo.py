"""`leakscale demo`: a whole study with one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.cli.connection import SandboxBackend, cache_folder
from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.study.layout import StudyDirectory

__all__ = ["demo"]


def demo(
    context: typer.Context,
    study_file: Annotated[
        Path | None, typer.Option("--study", help="Study file; default: the demo that ships.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Study directory; default: runs/NAME.")] = None,
    seed: Annotated[int | None, typer.Option(help="Another root of all seeds.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Another model: tiny, smollm2, a folder, or a Hugging Face id.")
    ] = None,
    backend: Annotated[SandboxBackend, typer.Option(help="Sandbox.")] = SandboxBackend.AUTO,
) -> None:
    """Certify a study, expose a model, and print the effect with its interval.

    Starts a server of its own, which stops with the command. Interrupted at any moment, the same command goes on. A
    finished study is never overwritten: it is moved aside, and the new run is compared with it.
    """
    from leakscale.client import Client  # noqa: PLC0415 - keeps --help quick, as do the next ones
    from leakscale.report import render_summary_table, summary_text  # noqa: PLC0415
    from leakscale.resources import catalog_folder, studies_folder  # noqa: PLC0415
    from leakscale.study.config import StudyShapes, load_study  # noqa: PLC0415
    from leakscale.study.layout import open_directory  # noqa: PLC0415
    from leakscale.study.local_server import local_server  # noqa: PLC0415

    console = shell_of(context).console
    study = load_study(study_file or studies_folder() / "demo.toml").with_overrides(seed=seed, model=model)
    shapes = StudyShapes(catalog_folder()).read(study)
    directory = open_directory(out or Path("runs") / study.name, study)
    console.note(f"study {study.name}, seed {study.seed}, in {directory.root}")
    if directory.previous is not None:
        console.note(f"the finished run that was there is now {directory.previous}")
    from leakscale.study.pipeline import run_study  # noqa: PLC0415 - loads torch, which a typo need not wait for

    with (
        local_server(directory.server_data, backend=backend, log=directory.server_log) as server,
        Client(server.target, token=server.token) as client,
    ):
        if server.backend == SandboxBackend.BUBBLEWRAP and backend is SandboxBackend.AUTO:
            console.note("no Docker daemon here: candidates run under bubblewrap, and certificates say so")
        outcome = run_study(
            study,
            directory=directory,
            shapes=shapes,
            client=client,
            cache=cache_folder(),
            watcher=console,
            rerun_command=_rerun_command(context, study_file, seed, model),
        )
    repeated = _compare(directory, outcome.summary)
    lines = [f"report   {directory.report}", f"study    {directory.root}/ (summary.json holds every number)"]
    if repeated:
        lines.append(repeated)
    console.result(
        outcome.summary,
        text="\n".join([summary_text(outcome.disclosure), "", *lines]),
        rich=lambda: _with_lines(render_summary_table(outcome.disclosure), lines),
    )


def _rerun_command(context: typer.Context, study_file: Path | None, seed: int | None, model: str | None) -> str:
    options = {"--study": study_file, "--seed": seed, "--model": model}
    given = [f"{name} {value}" for name, value in options.items() if value is not None]
    return " ".join(["leakscale demo", *given])


def _compare(directory: StudyDirectory, summary: dict[str, Any]) -> str:
    """Say whether an earlier run of the same study gave the same certificates, answers and numbers."""
    import json  # noqa: PLC0415

    if directory.previous is None:
        return ""
    try:
        earlier = json.loads((directory.previous / "summary.json").read_text(encoding="utf-8"))
        is_same = all(earlier[name] == summary[name] for name in ("format", "study", "seed", "model"))
    except (ValueError, KeyError, TypeError):
        return f"repeat   {directory.previous}/summary.json cannot be read, so nothing was compared"
    if not is_same:
        return ""
    differing = [name for name, value in summary["identity"].items() if earlier["identity"].get(name) != value]
    if not differing:
        return f"repeat   certificates, answers, totals and interval are identical to {directory.previous}/"
    return f"repeat   differs from {directory.previous}/ in: {', '.join(differing)}"


def _with_lines(table: Any, lines: list[str]) -> Any:
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    return Group(table, Text("\n" + "\n".join(lines)))
