"""`leakscale adapt`: redeem an exposure grant and train an adapter."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leakscale.base_model import cache_folder
from leakscale.cli.connection import connected, full_name
from leakscale.cli.exits import telling_what_is_kept
from leakscale.cli.exposing import exposed_records
from leakscale.cli.shell import shell_of
from leakscale.cli.values import COUNT_MAX, SEED_MAX
from leakscale.training_files import kept_of_training

if TYPE_CHECKING:
    from leakscale.adaptation.epoch_run import StepHook
    from leakscale.models import Family, TrainingRecord

__all__ = ["adapt"]


def adapt(
    context: typer.Context,
    edition: Annotated[str, typer.Argument(help="Frozen edition, e.g. demo.")],
    model: Annotated[str, typer.Option(help="tiny, smollm2, a folder, or a Hugging Face id.")],
    output: Annotated[Path, typer.Option(help="Adapter folder; appears complete or not at all.")],
    request_id: Annotated[
        str, typer.Option(help="Names this exposure of the edition; the same one returns the same corpus.")
    ] = "exposure",
    preservation: Annotated[
        int, typer.Option(min=0, max=COUNT_MAX, help="Public-format tasks of families that are never banked.")
    ] = 512,
    learning_rate: Annotated[float | None, typer.Option(help="Peak learning rate; default: the model's own.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="Order of the records and start of lora_A.")] = 0,
    grant: Annotated[
        str | None,
        typer.Option(help="Grant that was approved for you; default: ask for one, and approve it if you may."),
    ] = None,
    holder_key: Annotated[
        Path | None, typer.Option(help="Key that the grant is sealed to; default: holder.key of your configuration.")
    ] = None,
    background: Annotated[
        Path | None, typer.Option(help="Recipe of unrelated supervision, e.g. studies/background/plain.toml.")
    ] = None,
    watch: Annotated[
        int, typer.Option(min=0, help="Steps between two measurements of the effect; practice editions only. 0: none.")
    ] = 0,
) -> None:
    r"""Expose a model to the C2 families of an edition with LoRA. The corpus stays in memory.

    For example:

    ```
    leakscale adapt editions/spring \
        --model HuggingFaceTB/SmolLM2-135M-Instruct --output adapters/spring
    ```
    """
    shell = shell_of(context)
    with telling_what_is_kept(lambda: kept_of_training(output)):
        from leakscale.errors import InvalidRequestError  # noqa: PLC0415
        from leakscale.models import EditionKind  # noqa: PLC0415

        with connected(shell) as client:
            name = full_name(edition, "editions")
            if watch and client.editions.get(name).kind is not EditionKind.PRACTICE:
                raise InvalidRequestError(
                    f"edition {edition!r} is private, so its effect is only disclosed; watch a practice edition instead"
                )
            records = exposed_records(
                client,
                name,
                grant=grant,
                request_id=request_id,
                preservation=preservation,
                holder_key=holder_key,
            )
            families = client.editions.families(name)
        # After the server, which answers at once, and not before: loading torch takes seconds.
        import dataclasses  # noqa: PLC0415

        from leakscale.adaptation import adapt as train  # noqa: PLC0415
        from leakscale.background import recipe_records  # noqa: PLC0415
        from leakscale.study.models import resolve_model  # noqa: PLC0415

        resolved = resolve_model(model, cache=cache_folder())
        changes = {"seed": seed} | ({"learning_rate": learning_rate} if learning_rate is not None else {})
        config = dataclasses.replace(resolved.defaults, **changes)  # type: ignore[arg-type]
        records += recipe_records(background)
        hook = _effect_hook(resolved.path, families, records, output, every_step_count=watch) if watch else None
        with shell.console.progress("adapt", total=None, unit="tokens") as bar:
            identity = train(
                resolved.path,
                records,
                config,
                output_dir=output,
                families=families,
                progress=lambda at: bar.update(at.token_count, at.token_total),
                hook=hook,
                note=shell.console.note,
            )
        facts = {"adapter": str(output), "records": len(records), "identity": asdict(identity)}
        shell.console.result(facts, text=f"adapter {output}, {len(records)} records, SHA-256 {identity.adapter}")


def _effect_hook(
    model: str | Path,
    families: tuple[Family, ...],
    records: list[TrainingRecord],
    output: Path,
    *,
    every_step_count: int,
) -> StepHook:
    """Log the effect on an edition's own families to `<output>.effect.jsonl` while the adapter is trained."""
    from leakscale.adaptation.callback import EffectCallback  # noqa: PLC0415
    from leakscale.adaptation.development import development_set  # noqa: PLC0415
    from leakscale.adaptation.loading import open_model_folder  # noqa: PLC0415

    development = development_set(open_model_folder(model).tokenizer, families, records, seed=0)
    log = output.with_name(f"{output.name}.effect.jsonl")
    return EffectCallback(development, log=log, every_step_count=every_step_count).hook
