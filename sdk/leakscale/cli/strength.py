"""`leakscale strength`: choose how strongly an adapter acts, and write it at that strength."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from leakscale.base_model import cache_folder
from leakscale.cli.connection import connected, full_name
from leakscale.cli.exposing import exposed_records
from leakscale.cli.shell import shell_of
from leakscale.cli.values import COUNT_MAX

__all__ = ["app"]

app = typer.Typer(help="Choose and set the strength of an adapter.", no_args_is_help=True)


@app.command("choose")
def choose(
    context: typer.Context,
    edition: Annotated[str, typer.Argument(help="Development edition; never the one that is reported.")],
    model: Annotated[str, typer.Option(help="tiny, smollm2, a folder, or a Hugging Face id.")],
    adapter: Annotated[Path, typer.Option(help="Adapter trained on the development edition.")],
    output: Annotated[Path, typer.Option(help="Folder for the rule, the doses and the figure.")],
    request_id: Annotated[str, typer.Option(help="As given to `leakscale adapt`.")] = "exposure",
    preservation: Annotated[int, typer.Option(min=0, max=COUNT_MAX, help="As given to `leakscale adapt`.")] = 512,
    grant: Annotated[
        str | None,
        typer.Option(help="Grant that was approved for you; default: ask for one, and approve it if you may."),
    ] = None,
    holder_key: Annotated[
        Path | None, typer.Option(help="Key that the grant is sealed to; default: holder.key of your configuration.")
    ] = None,
    background: Annotated[Path | None, typer.Option(help="As given to `leakscale adapt`.")] = None,
    strengths: Annotated[str, typer.Option(help="Candidates, rising, with commas.")] = "0.25,0.5,0.75,1",
    drift_max: Annotated[float, typer.Option(help="Points that the control may drift either way.")] = 10.0,
    tolerance: Annotated[float, typer.Option(help="Points below the largest effect that count as equal.")] = 1.0,
    reported: Annotated[str | None, typer.Option(help="Edition to be reported; refused if it shares a family.")] = None,
) -> None:
    r"""Measure the dose-response on development families and apply the rule, which is written down first.

    For example:

    ```
    leakscale strength choose editions/spring --model MODEL \
        --adapter adapters/spring --output adapters/chosen
    ```
    """
    shell, candidates = shell_of(context), _numbers(strengths)
    with connected(shell) as client:
        name = full_name(edition, "editions")
        records = exposed_records(
            client,
            name,
            grant=grant,
            request_id=request_id,
            preservation=preservation,
            holder_key=holder_key,
        )
        families = client.editions.families(name)
        others = client.editions.families(full_name(reported, "editions")) if reported else ()
    # After the server, which answers at once, and not before: loading torch takes seconds.
    from leakscale.adaptation.choosing import choose_on_development  # noqa: PLC0415
    from leakscale.adaptation.development import require_disjoint  # noqa: PLC0415
    from leakscale.adaptation.dose import StrengthRule, dose_table, doses_to_json  # noqa: PLC0415
    from leakscale.background import recipe_records  # noqa: PLC0415
    from leakscale.study.models import resolve_model  # noqa: PLC0415

    require_disjoint(families, others)
    rule = StrengthRule(candidates, drift_max / 100, tolerance / 100)
    with shell.console.progress("measure", total=len(rule.strengths) + 1, unit="strengths") as bar:
        choice = choose_on_development(
            resolve_model(model, cache=cache_folder()).path,
            adapter,
            families,
            [*records, *recipe_records(background)],
            rule,
            output=output,
            progress=bar.update,
        )
    if importlib.util.find_spec("matplotlib") is None:
        shell.console.note("no figure: matplotlib is not installed; run `pip install 'leakscale[report]'`")
    else:
        from leakscale.adaptation.dose_figure import draw_doses  # noqa: PLC0415
        from leakscale.lab.figures import write_figure  # noqa: PLC0415

        write_figure(output / "dose.svg", lambda figure: draw_doses(figure, choice.doses, chosen=choice.strength))
    facts = {"strength": choice.strength, "rule": rule.digest, "doses": doses_to_json(choice.doses)}
    table = dose_table(choice.doses, chosen=choice.strength)
    shell.console.result(facts, text=f"{table}\n\nstrength {choice.strength:g}, by rule {rule.digest[:12]} in {output}")


@app.command("scale")
def scale(
    context: typer.Context,
    adapter: Annotated[Path, typer.Argument(help="Adapter that `leakscale adapt` trained.")],
    strength: Annotated[float, typer.Option(help="Factor of lora_B: 0 the base model, 1 the adapter itself.")],
    output: Annotated[Path, typer.Option(help="Folder of the scaled adapter; appears complete or not at all.")],
) -> None:
    r"""Write an adapter at another strength; only its lora_B tensors differ.

    For example:

    ```
    leakscale strength scale adapters/spring --strength 0.5 \
        --output adapters/half
    ```
    """
    from leakscale.adaptation import scale_adapter  # noqa: PLC0415 - keeps --help quick

    completion = scale_adapter(adapter, output, strength)
    digest = completion.identity.adapter
    facts = {"adapter": str(output), "strength": strength, "identity": digest}
    shell_of(context).console.result(facts, text=f"adapter {output} at strength {strength:g}, SHA-256 {digest}")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a list of numbers with commas", param_hint="--strengths") from error
