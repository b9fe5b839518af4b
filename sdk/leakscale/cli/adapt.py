"""`leakscale adapt`: redeem an exposure grant and train an adapter."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from leakscale.cli.connection import cache_folder, connected, full_name
from leakscale.cli.shell import shell_of

__all__ = ["adapt"]


def adapt(
    context: typer.Context,
    edition: Annotated[str, typer.Argument(help="Frozen edition, e.g. demo.")],
    model: Annotated[str, typer.Option(help="tiny, smollm2, a folder, or a Hugging Face id.")],
    output: Annotated[Path, typer.Option(help="Adapter folder; appears complete or not at all.")],
    request_id: Annotated[str, typer.Option(help="Names this exposure; repeat it to go on after an interruption.")],
    preservation: Annotated[int, typer.Option(help="Public-format tasks of families that are never banked.")] = 512,
    learning_rate: Annotated[float | None, typer.Option(help="Peak learning rate; default: the model's own.")] = None,
    seed: Annotated[int, typer.Option(help="Order of the records and start of lora_A.")] = 0,
) -> None:
    """Expose a model to the C2 families of an edition with LoRA. The corpus stays in memory."""
    shell = shell_of(context)
    with connected(shell) as client:
        grant = client.grants.create(
            full_name(edition, "editions"), request_id=request_id, preservation_count=preservation
        )
        records = list(client.grants.redeem(grant.name, request_id=request_id))
    # After the server, which answers at once, and not before: loading torch takes seconds.
    import dataclasses  # noqa: PLC0415

    from leakscale.adaptation import adapt as train  # noqa: PLC0415
    from leakscale.study.models import resolve_model  # noqa: PLC0415

    resolved = resolve_model(model, cache=cache_folder())
    changes = {"seed": seed} | ({"learning_rate": learning_rate} if learning_rate is not None else {})
    config = dataclasses.replace(resolved.defaults, **changes)  # type: ignore[arg-type]
    with shell.console.progress("adapt", total=None, unit="steps") as bar:
        identity = train(
            resolved.path,
            records,
            config,
            output_dir=output,
            progress=lambda at: bar.update(at.step, at.step_count),
        )
    facts = {"adapter": str(output), "records": len(records), "identity": asdict(identity)}
    shell.console.result(facts, text=f"adapter {output}, {len(records)} records, SHA-256 {identity.adapter}")
