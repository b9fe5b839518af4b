"""`leakscale bank`: answer a bank with a model, submit it, seal it; hold answers against exact laws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leakscale.base_model import cache_folder
from leakscale.cli.connection import connected
from leakscale.cli.exits import ExitCode
from leakscale.cli.shards import parse_options
from leakscale.cli.shell import shell_of

__all__ = ["app"]

_P_VALUE_MIN = 1e-4
"""Below this the answers are not from those laws; one right sampler in ten thousand is told so."""

app = typer.Typer(help="Answer the banks of an experiment.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Bank, e.g. experiments/demo/banks/sql-base.")]


@app.command("answer")
def answer(
    context: typer.Context,
    name: Name,
    model: Annotated[str, typer.Option(help="tiny, smollm2, a folder, or a Hugging Face id.")],
    files: Annotated[
        Path,
        typer.Option("--files", "--log", help="Where its files go, without endings; run again with the same to go on."),
    ],
    adapter: Annotated[Path | None, typer.Option(help="Adapter folder of an adapted bank.")] = None,
    engine: Annotated[str, typer.Option(help="exact, transformers, openai or ray.")] = "exact",
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Option of the engine; may be repeated."),
    ] = None,
    invalid_max: Annotated[
        int, typer.Option(min=0, help="Malformed answers that a run bears where the engine promises none.")
    ] = 16,
) -> None:
    r"""Answer every case of a bank, submit the answers and seal it.

    For example:

    ```
    leakscale bank answer experiments/first/banks/sql-base \
        --model smollm2 --files answers/sql-base
    leakscale bank answer experiments/first/banks/sql-adapted \
        --model smollm2 --files answers/sql-adapted --adapter adapters/spring
    ```
    """
    from leakscale.errors import InvalidRequestError  # noqa: PLC0415
    from leakscale.models import ModelState  # noqa: PLC0415

    shell = shell_of(context)
    given = parse_options(options or [])
    with connected(shell) as client:
        bank = client.banks.get(name)
        if (bank.state is ModelState.ADAPTED) != (adapter is not None):
            word = "needs" if adapter is None else "takes no"
            raise InvalidRequestError(f"bank {name!r} is of the {bank.state.value} model and {word} --adapter")
        plan = client.experiments.get("/".join(name.split("/")[:2])).plan
        public = client.editions.families(plan.edition, ring=bank.ring)
        families = [family for family in public if family.domain is bank.domain]
        # After the server has answered: loading torch takes seconds.
        from leakscale.inference import BankFiles, answer_bank, open_engine  # noqa: PLC0415
        from leakscale.inference.engines import REMOTE_ENGINES  # noqa: PLC0415
        from leakscale.inference.freezing import freeze_bank  # noqa: PLC0415
        from leakscale.study.models import resolve_model  # noqa: PLC0415

        path, stem = (
            resolve_model(model, cache=cache_folder()).path,
            BankFiles.of(files.with_name(files.name.removesuffix(".jsonl"))),
        )
        frozen = freeze_bank(stem.plan, families, model=path, bank_seed=plan.bank_seed, draw_count=plan.draw_count)
        if adapter is not None:
            from leakscale.adaptation.edition_record import require_exposed_to  # noqa: PLC0415

            require_exposed_to(adapter, ((family.domain, family.family_id) for family in families))
        served = model if engine in REMOTE_ENGINES else path
        opened = open_engine(engine, model=served, adapter=adapter, options=given)
        with shell.console.progress("answer", total=frozen.case_count, unit="answers") as bar:
            binding = answer_bank(
                frozen,
                opened,
                stem,
                invalid_max=invalid_max,
                progress=lambda at: bar.update(at.done_count, at.case_count),
            )
        client.banks.submit(name, stem.read_answers())
        receipt = client.banks.seal(name)
    facts = {
        "bank": name,
        "mode": opened.mode.value,
        "cases": receipt.case_count,
        "attempts": binding.attempt_count,
        "valid": binding.valid_count,
        "answers_digest": receipt.answers_digest.hex(),
        "results_digest": binding.results,
        "attempts_digest": binding.attempts,
    }
    text = f"{name} sealed: {receipt.case_count} cases, {receipt.answers_digest.hex()}\n{binding.validity}"
    shell.console.result(facts, text=text)


@app.command("compare")
def compare(
    context: typer.Context,
    exact: Annotated[Path, typer.Argument(help="Files of a bank answered by the engine exact, without endings.")],
    drawn: Annotated[Path, typer.Argument(help="Files of the same families answered by any engine.")],
) -> None:
    """Test whether the answers of one bank were drawn from the exact laws of another; exit code 1 where not.

    For example:

    ```
    leakscale bank compare exact/sql-base drawn/sql-base
    ```
    """
    from leakscale.inference import BankFiles  # noqa: PLC0415
    from leakscale.inference.agreement import compare_banks  # noqa: PLC0415

    found = compare_banks(BankFiles.of(exact), BankFiles.of(drawn))
    agrees = found.p_value >= _P_VALUE_MIN
    facts = {
        "agrees": agrees,
        "chi_square": found.statistic,
        "degrees_of_freedom": found.degrees_of_freedom,
        "p_value": found.p_value,
        "expected": list(found.expected),
        "observed": list(found.observed),
    }
    verdict = "agree with" if agrees else "were not drawn from"
    law = f"chi-square {found.statistic:.2f} on {found.degrees_of_freedom}, p = {found.p_value:.3g}"
    shell_of(context).console.result(facts, text=f"the answers {verdict} the exact laws: {law}")
    if not agrees:
        raise typer.Exit(ExitCode.NEGATIVE)


@app.command("show")
def show(context: typer.Context, name: Name) -> None:
    """Show how far a bank is.

    For example:

    ```
    leakscale bank show experiments/first/banks/sql-base
    ```
    """
    shell = shell_of(context)
    with connected(shell) as client:
        bank = client.banks.get(name)
    facts = {
        "name": bank.name,
        "domain": bank.domain.value,
        "state": bank.state.value,
        "ring": bank.ring.value,
        "phase": bank.phase.value,
        "is_sealed": bank.is_sealed,
        "cases": bank.case_count,
        "answered": bank.answered_count,
    }
    shell.console.result(facts, text="\n".join(f"{key:<10}{value}" for key, value in facts.items()))
