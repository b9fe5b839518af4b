"""`leakscale demo`: a whole study with one command."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.base_model import cache_folder
from leakscale.cli.connection import SandboxBackend
from leakscale.cli.shell import shell_of
from leakscale.reading import parse_json

if TYPE_CHECKING:
    from leakscale.cli.console import Console
    from leakscale.models import ShapeFile
    from leakscale.study.config import Study
    from leakscale.study.layout import StudyDirectory
    from leakscale.study.models import ResolvedModel
    from leakscale.study.pipeline import StudyOutcome
    from leakscale.study.proving import Proof

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
    model_id: Annotated[str | None, typer.Option("--of", help="Which model of a study that has several.")] = None,
) -> None:
    """Certify a study, expose a model, and print the effect with its interval.

    Starts a server of its own, which stops with the command. Interrupted at any moment, the same command goes on. A
    finished study is never overwritten: it is moved aside, and the new run is compared with it.

    For example:

    ```
    leakscale demo
    leakscale demo --study studies/demo.toml --out runs/mine
    ```
    """
    from leakscale.report import render_summary_table, summary_text  # noqa: PLC0415 - keeps --help quick
    from leakscale.resources import catalog_folder, studies_folder  # noqa: PLC0415
    from leakscale.study.config import StudyShapes, load_study  # noqa: PLC0415

    console = shell_of(context).console
    path = study_file or studies_folder() / "demo.toml"
    study = load_study(path, model_id=model_id).with_overrides(seed=seed, model=model)
    files = StudyShapes(catalog_folder(), beside=path.parent)
    shapes, background = files.read(study), files.background(study)
    console.note(f"study {study.name}, seed {study.seed}: loading the model")
    from leakscale.study.models import resolve_model  # noqa: PLC0415 - loads torch, which a typo need not wait for
    from leakscale.study.pipeline import prepare_study  # noqa: PLC0415

    # Before the directory: what cannot be used must leave an earlier run where it is.
    resolved = resolve_model(study.model.source, cache=cache_folder())
    prepare_study(study, resolved, background=background)
    from leakscale.study.layout import open_directory  # noqa: PLC0415 - what training needs is asked for first

    with open_directory(out or Path("runs") / study.name, study, shapes) as directory:
        console.note(f"results go to {directory.root}")
        if directory.previous is not None:
            console.note(f"the finished run that was there is now {directory.previous}")
        outcome = _run(
            console,
            study,
            directory,
            shapes,
            background=background,
            model=resolved,
            backend=backend,
            rerun_command=_rerun_command(sys.argv),
        )
        lines = _closing_lines(directory, outcome.summary, outcome.proof)
    console.result(
        outcome.summary,
        text="\n".join([summary_text(outcome.disclosure), "", *lines]),
        rich=lambda: _with_lines(render_summary_table(outcome.disclosure), lines),
    )


def _run(
    console: Console,
    study: Study,
    directory: StudyDirectory,
    shapes: list[ShapeFile],
    *,
    background: Path | None,
    model: ResolvedModel,
    backend: SandboxBackend,
    rerun_command: str,
) -> StudyOutcome:
    from leakscale.client import Client  # noqa: PLC0415
    from leakscale.study.local_server import local_server  # noqa: PLC0415
    from leakscale.study.pipeline import run_study  # noqa: PLC0415

    with (
        local_server(directory.server_data, backend=backend, log=directory.server_log) as server,
        Client(server.target, token=server.token) as client,
    ):
        if server.notice:
            console.note(server.notice)
        return run_study(
            study,
            directory=directory,
            shapes=shapes,
            client=client,
            model=model,
            watcher=console,
            rerun_command=rerun_command,
            background=background,
        )


def _rerun_command(arguments: list[str]) -> str:
    """Return what was typed; a program that was found on the PATH by its name alone."""
    program = Path(arguments[0])
    if program.name == "__main__.py":
        return shlex.join(["python", "-m", "leakscale.cli", *arguments[1:]])
    return shlex.join([program.name if program.is_absolute() else str(program), *arguments[1:]])


def _closing_lines(directory: StudyDirectory, summary: dict[str, Any], proof: Proof) -> list[str]:
    masses, counts = summary["unconstrained_valid_mass"], summary["counts"]
    moved = [
        f"{domain} {100 * masses[f'{domain}-base']:.1f} -> {100 * masses[f'{domain}-adapted']:.1f} %"
        for domain in summary["domains"]
        if f"{domain}-base" in masses
    ]
    lines = [
        f"sandbox  {summary['backend']}; {counts['certified']} of {counts['families']} families certified",
        f"answers  {counts['valid_answers']} of {counts['answers']} valid, {summary['mode']}",
        *([f"         unconstrained valid mass: {', '.join(moved)}"] if moved else []),
        f"report   {directory.report}",
        f"evidence {directory.evidence}/ ({_verified(proof)})",
        f"manifest {proof.manifest_digest}",
        f"study    {directory.root}/ (summary.json holds every number)",
    ]
    return lines + _comparison(directory, summary)


def _verified(proof: Proof) -> str:
    holding = sum(step.status == "holds" for step in proof.steps)
    others = ", ".join(f"{step.name} {step.status}" for step in proof.steps if step.status != "holds")
    return f"{holding} of {len(proof.steps)} steps hold" + (f"; {others}" if others else "")


def _comparison(directory: StudyDirectory, summary: dict[str, Any]) -> list[str]:
    """Say whether an earlier run of the same study gave the same certificates, answers and numbers."""
    if directory.previous is None:
        return []
    try:
        earlier = parse_json((directory.previous / "summary.json").read_text(encoding="utf-8"))
        is_same = all(earlier[name] == summary[name] for name in ("format", "study", "seed", "model"))
        then, now = earlier["identity"], summary["identity"]
        backends = f"{earlier['backend']} then, {summary['backend']} now"
    except (OSError, ValueError, KeyError, TypeError):
        return [f"repeat   {directory.previous}/summary.json cannot be read, so nothing was compared"]
    if not is_same:
        return []
    differing = [name for name, value in now.items() if then.get(name) != value]
    if not differing:
        return [f"repeat   certificates, answers, totals and interval are identical to {directory.previous}/"]
    if set(differing) <= {"certificates", "disclosure"}:
        # A certificate names the sandbox, and the disclosure names the certificates.
        return [
            f"repeat   answers, totals and interval are identical to {directory.previous}/;",
            f"         certificates differ ({backends})",
        ]
    return [f"repeat   differs from {directory.previous}/ in: {', '.join(differing)}"]


def _with_lines(table: Any, lines: list[str]) -> Any:
    from rich.console import Group  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    return Group(table, Text("\n" + "\n".join(lines)))
