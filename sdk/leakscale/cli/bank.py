"""`leakscale bank`: answer a bank with a model, submit it, seal it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.connection import cache_folder, connected
from leakscale.cli.shell import shell_of

__all__ = ["app"]

app = typer.Typer(help="Answer the banks of an experiment.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Bank, e.g. experiments/demo/banks/sql-base.")]


@app.command("answer")
def answer(
    context: typer.Context,
    name: Name,
    model: Annotated[str, typer.Option(help="tiny, smollm2, a folder, or a Hugging Face id.")],
    log: Annotated[Path, typer.Option(help="Append-only file; run again with the same one to go on.")],
    adapter: Annotated[Path | None, typer.Option(help="Adapter folder of an adapted bank.")] = None,
) -> None:
    """Answer every case of a bank, submit the answers and seal it."""
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415
    from leakscale.models import ModelState  # noqa: PLC0415

    shell = shell_of(context)
    with connected(shell) as client:
        bank = client.banks.get(name)
        if (bank.state is ModelState.ADAPTED) != (adapter is not None):
            word = "needs" if adapter is None else "takes no"
            raise InvalidRequestError(f"bank {name!r} is of the {bank.state.value} model and {word} --adapter")
        experiment = client.experiments.get("/".join(name.split("/")[:2]))
        public = client.editions.families(experiment.plan.edition, ring=bank.ring)
        families = [family for family in public if family.domain is bank.domain]
        # After the server has answered: loading torch takes seconds.
        from leakscale.inference import draw_answers, measure_bank  # noqa: PLC0415
        from leakscale.study.models import resolve_model  # noqa: PLC0415

        with shell.console.progress("answer", total=len(families), unit="families") as bar:
            choices = measure_bank(
                resolve_model(model, cache=cache_folder()).path,
                families,
                adapter=adapter,
                bank_seed=experiment.plan.bank_seed,
                log=log,
                progress=lambda at: bar.update(at.done_count, at.family_count),
            )
        answers = draw_answers(choices, bank_seed=experiment.plan.bank_seed, draw_count=experiment.plan.draw_count)
        client.banks.submit(name, answers)
        receipt = client.banks.seal(name)
    facts = {"bank": name, "cases": receipt.case_count, "answers_digest": receipt.answers_digest.hex()}
    shell.console.result(facts, text=f"{name} sealed: {receipt.case_count} cases, {receipt.answers_digest.hex()}")


@app.command("show")
def show(context: typer.Context, name: Name) -> None:
    """Show how far a bank is."""
    shell = shell_of(context)
    with connected(shell) as client:
        bank = client.banks.get(name)
    facts = {
        "name": bank.name,
        "domain": bank.domain.value,
        "state": bank.state.value,
        "ring": bank.ring.value,
        "is_sealed": bank.is_sealed,
        "cases": bank.case_count,
        "answered": bank.answered_count,
    }
    shell.console.result(facts, text="\n".join(f"{key:<10}{value}" for key, value in facts.items()))
