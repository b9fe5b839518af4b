"""`leakscale study`: what a study needs before anything of it is run, and what it holds once it is finished."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.base_model import cache_folder
from leakscale.cli.connection import SandboxBackend
from leakscale.cli.shell import shell_of

if TYPE_CHECKING:
    from leakscale.models import TrainingRecord
    from leakscale.study.config import Study, StudyShapes
    from leakscale.study.plan import ModelNeeds

__all__ = ["app"]

app = typer.Typer(help="Plan a study, or open a finished one.", no_args_is_help=True)


@app.command("plan")
def plan(
    context: typer.Context,
    study_file: Annotated[Path, typer.Argument(metavar="STUDY", help="Study file, e.g. studies/paper.toml.")],
    models: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="ID=FOLDER", help="Count tokens with this model's tokenizer; may be repeated."),
    ] = None,
) -> None:
    """Print records, tokens, generations, GPU-hours and disk of a study. Nothing is run, and no GPU is needed.

    Hours follow from the rates that the study file states. Tokens are counted with the model's own tokenizer where the
    study names a local model or --model gives its folder, and reckoned from characters otherwise.

    For example:

    ```
    leakscale study plan studies/demo.toml
    ```
    """
    from leakscale.resources import catalog_folder  # noqa: PLC0415
    from leakscale.study.config import StudyShapes, load_studies  # noqa: PLC0415
    from leakscale.study.plan import plan_text, plan_to_dict  # noqa: PLC0415

    studies = load_studies(study_file)
    folders = _folders(models or [], known=list(studies))
    shapes = StudyShapes(catalog_folder(), beside=study_file.parent)
    needs = [_needs(study, shapes, folder=folders.get(model_id)) for model_id, study in studies.items()]
    shell_of(context).console.result(plan_to_dict(needs), text=plan_text(needs))


@app.command("open")
def open_finished(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="STUDY", help="Directory of a finished study, e.g. runs/demo.")],
    backend: Annotated[SandboxBackend, typer.Option(help="Sandbox of its server; nothing is run in it.")] = (
        SandboxBackend.AUTO
    ),
) -> None:
    """Retire the practice edition of a finished study, and write its results by family beside its numbers.

    `leakscale analyze` and `leakscale report` then show every table and figure. Starts the study's own server, which
    stops with the command. Nothing can be measured with the edition any more. A private edition is not retired here:
    retire it on that server first.

    For example:

    ```
    leakscale study open runs/demo
    ```
    """
    from leakscale.client import Client  # noqa: PLC0415
    from leakscale.report import read_disclosure  # noqa: PLC0415
    from leakscale.study.local_server import local_server  # noqa: PLC0415
    from leakscale.study.opening import open_study  # noqa: PLC0415

    read_disclosure(directory)  # a folder that holds no finished study is told apart before a server is started in it
    with (
        local_server(directory / "server", backend=backend, log=directory / "server.log") as server,
        Client(server.target, token=server.token) as client,
    ):
        path = open_study(directory, client)
    shell_of(context).console.result({"results": str(path)}, text=f"results by family: {path}")


def _folders(given: list[str], *, known: list[str]) -> dict[str, Path]:
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415

    folders = {}
    for each in given:
        model_id, equals, folder = each.rpartition("=")
        if not equals and len(known) == 1:
            model_id = known[0]
        if model_id not in known:
            raise InvalidRequestError(f"--model {each!r} names none of the study's models; give {known[0]}=FOLDER")
        folders[model_id] = Path(folder)
    return folders


def _needs(study: Study, shapes: StudyShapes, *, folder: Path | None) -> ModelNeeds:
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415
    from leakscale.study.plan import counted_by_characters, counted_by_tokenizer, plan_study, sketch_family  # noqa: PLC0415

    families = [sketch_family(shape) for shape in shapes.read(study)]
    background = _background(shapes.background(study))
    model = folder or _local_model(study.model.source)
    if model is not None:
        tokens = counted_by_tokenizer(model, families, background)
    elif study.model.plan is not None:
        tokens = counted_by_characters(study.model.plan, families, background)
    else:
        raise InvalidRequestError(
            f"study '{study.name}' states nothing about model '{study.model.source}'; pass --model with its folder, or "
            "give the model a table [plan] (docs/scale-out.md)"
        )
    return plan_study(study, domain_count=len({family.domain for family in families}), tokens=tokens)


def _background(recipe: Path | None) -> list[TrainingRecord]:
    if recipe is None:
        return []
    from leakscale.background import recipe_records  # noqa: PLC0415

    return recipe_records(recipe)


def _local_model(source: str) -> str | Path | None:
    """Return the model if it needs no download: one that comes with a package, or a folder."""
    if source in ("tiny", "smollm2"):
        from leakscale.study.models import resolve_model  # noqa: PLC0415

        return resolve_model(source, cache=cache_folder()).path
    return Path(source) if Path(source).is_dir() else None
