"""`leakscale shards`: a bank frozen here, answered in parts elsewhere, merged and submitted here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leakscale.base_model import cache_folder
from leakscale.cli.connection import connected
from leakscale.cli.shell import shell_of
from leakscale.reading import parse_json

if TYPE_CHECKING:
    from leakscale.client import Client
    from leakscale.inference import BankFiles, Binding
    from leakscale.models import Bank, ExperimentPlan, Family

__all__ = ["app", "parse_options"]

app = typer.Typer(help="Answer a bank on many machines.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Bank, e.g. experiments/paper/banks/sql-base.")]
Stem = Annotated[Path, typer.Argument(help="Where its files are, without their endings, e.g. banks/sql-base.")]
Model = Annotated[str, typer.Option(help="tiny, smollm2, a folder, or a Hugging Face id.")]


@app.command("freeze")
def freeze(context: typer.Context, name: Name, stem: Stem, model: Model) -> None:
    r"""Fix every question and every seed of a bank in one file, before the first answer.

    For example:

    ```
    leakscale shards freeze experiments/first/banks/sql-base shards/base \
        --model MODEL
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        _, plan, families = _registered(client, name)
    # After the server has answered: loading torch takes seconds.
    from leakscale.inference.freezing import freeze_bank  # noqa: PLC0415

    frozen = freeze_bank(
        _files(stem).plan, families, model=_model(model), bank_seed=plan.bank_seed, draw_count=plan.draw_count
    )
    facts = {"bank": name, "plan": str(frozen.path), "cases": frozen.case_count, "digest": frozen.digest}
    shell.console.result(facts, text=f"{frozen.path}: {frozen.case_count} cases, SHA-256 {frozen.digest}")


@app.command("answer")
def answer(
    context: typer.Context,
    stem: Stem,
    model: Model,
    shard: Annotated[str, typer.Option(help="Part to answer, e.g. 3/8; the whole bank by default.")] = "1/1",
    adapter: Annotated[Path | None, typer.Option(help="Adapter folder of an adapted bank.")] = None,
    engine: Annotated[str, typer.Option(help="exact, transformers, openai or ray.")] = "exact",
    address: Annotated[str | None, typer.Option(help="Of the Ray cluster, with --engine ray.")] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Option of the engine; may be repeated."),
    ] = None,
    invalid_max: Annotated[
        int, typer.Option(min=0, help="Malformed answers that a run bears where the engine promises none.")
    ] = 16,
) -> None:
    """Answer a frozen bank, or one part of it. Needs no server; killed at any moment, the same command goes on.

    For example:

    ```
    leakscale shards answer shards/base --model MODEL --shard 1/4
    ```
    """
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415
    from leakscale.inference import FrozenBank, answer_bank, open_engine  # noqa: PLC0415
    from leakscale.inference.engines import REMOTE_ENGINES  # noqa: PLC0415
    from leakscale.scale import parse_shard, shard_files, shard_range  # noqa: PLC0415

    part = parse_shard(shard)
    given = parse_options(options or [])
    if address is not None:
        if engine != "ray":
            raise InvalidRequestError(f"--address is of a Ray cluster, and the engine is '{engine}'; pass --engine ray")
        given["address"] = address
    files = _files(stem)
    bank = FrozenBank(files.plan)
    indices = shard_range(bank, part)
    own = files if part.count == 1 else shard_files(files, part)
    shell = shell_of(context)
    if adapter is not None:
        from leakscale.adaptation.edition_record import require_exposed_to  # noqa: PLC0415 - loads torch

        require_exposed_to(adapter, ((each.domain, each.family_id) for each in bank.questions()))
    opened = open_engine(
        engine, model=model if engine in REMOTE_ENGINES else _model(model), adapter=adapter, options=given
    )
    with shell.console.progress(f"answer {part}", total=len(indices), unit="cases") as bar:
        binding = answer_bank(
            bank,
            opened,
            own,
            indices=indices,
            invalid_max=invalid_max,
            progress=lambda at: bar.update(at.done_count, at.case_count),
        )
    text = f"shard {part}: {binding.case_count} cases in {own.results}\n{binding.validity}"
    shell.console.result(_facts(own, binding), text=text)


@app.command("merge")
def merge(
    context: typer.Context,
    stem: Stem,
    count: Annotated[int, typer.Option(help="Parts that the bank was answered in.")],
) -> None:
    """Put the parts together: byte for byte the files of one run over the whole bank.

    For example:

    ```
    leakscale shards merge shards/base --count 4
    ```
    """
    from leakscale.inference import FrozenBank  # noqa: PLC0415
    from leakscale.scale import merge_shards  # noqa: PLC0415

    files = _files(stem)
    binding = merge_shards(FrozenBank(files.plan), files, shard_count=count)
    text = f"{files.results}: {binding.case_count} cases, SHA-256 {binding.results}\n{binding.validity}"
    shell_of(context).console.result(_facts(files, binding), text=text)


@app.command("submit")
def submit(context: typer.Context, name: Name, stem: Stem) -> None:
    """Check that answers are whole and belong to the bank, submit them and seal it.

    For example:

    ```
    leakscale shards submit experiments/first/banks/sql-base shards/base
    ```
    """
    from leakscale.inference import verify_bank  # noqa: PLC0415
    from leakscale.inference.belonging import check_belongs  # noqa: PLC0415

    files = _files(stem)
    binding = verify_bank(files)
    shell = shell_of(context)
    with connected(shell) as client:
        check_belongs(files, *_registered(client, name))
        client.banks.submit(name, files.read_answers())
        receipt = client.banks.seal(name)
    facts = {
        "bank": name,
        "cases": receipt.case_count,
        "valid": binding.valid_count,
        "answers_digest": receipt.answers_digest.hex(),
    }
    text = f"{name} sealed: {receipt.case_count} cases, {receipt.answers_digest.hex()}\n{binding.validity}"
    shell.console.result(facts, text=text)


def parse_options(given: list[str]) -> dict[str, Any]:
    """Read `name=value` pairs; a value is JSON where it can be, and a dot in a name goes one level down.

    Raises:
        InvalidRequestError: If one is not of that form, or a name is both a value and a level.
    """
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415

    options: dict[str, Any] = {}
    for each in given:
        name, equals, text = each.partition("=")
        *levels, last = name.split(".")
        place = options
        for level in levels:
            place = place.setdefault(level, {}) if isinstance(place, dict) else place
        if not equals or not last or not isinstance(place, dict) or last in place:
            raise InvalidRequestError(f"--option {each!r} is not NAME=VALUE, or comes twice; e.g. dtype=bfloat16")
        place[last] = _value(text)
    return options


def _value(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text


def _registered(client: Client, name: str) -> tuple[Bank, ExperimentPlan, list[Family]]:
    """Return a bank as the server has it, the plan of its experiment, and its public families."""
    bank = client.banks.get(name)
    plan = client.experiments.get("/".join(name.split("/")[:2])).plan
    public = client.editions.families(plan.edition, ring=bank.ring)
    return bank, plan, [family for family in public if family.domain is bank.domain]


def _files(stem: Path) -> BankFiles:
    from leakscale.inference import BankFiles  # noqa: PLC0415

    return BankFiles.of(stem)


def _model(source: str) -> str | Path:
    from leakscale.study.models import resolve_model  # noqa: PLC0415

    return resolve_model(source, cache=cache_folder()).path


def _facts(files: BankFiles, binding: Binding) -> dict[str, str | int]:
    return {
        "results": str(files.results),
        "first_case": binding.first_case,
        "cases": binding.case_count,
        "attempts": binding.attempt_count,
        "valid": binding.valid_count,
        "results_digest": binding.results,
    }
