"""A plan as people and as programs read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from leakscale.study.plan.needs import Answering, ModelNeeds, Records

__all__ = ["plan_text", "plan_to_dict"]


def plan_to_dict(needs: Sequence[ModelNeeds]) -> dict[str, Any]:
    """Return every number as JSON-ready values, with the sums over models."""
    models = []
    for model in needs:
        fields = asdict(model)
        fields["throughput"] = model.throughput.model_dump() if model.throughput else None
        fields["epoch_tokens"], fields["epoch_supervised_tokens"] = model.epoch_tokens, model.epoch_supervised_tokens
        models.append(fields)
    return {"models": models, "generations": sum(model.case_count for model in needs)}


def plan_text(needs: Sequence[ModelNeeds]) -> str:
    """Arrange a plan in plain characters, at most 80 columns wide."""
    lines: list[str] = []
    for model in needs:
        lines += [*_model_lines(model), ""]
    if len(needs) > 1:
        lines.append(f"{sum(model.case_count for model in needs):,} generations over {len(needs)} models")
    return "\n".join(lines).rstrip()


def _model_lines(needs: ModelNeeds) -> Iterator[str]:
    yield f"{needs.study}: {needs.model}"
    yield _row(
        "families",
        f"{needs.family_count:,}",
        f"{needs.shape_count} shapes; {needs.exposed_family_count:,} C0, {needs.exposed_family_count:,} C2",
    )
    yield _row("certification", f"{needs.program_run_count:,}", "runs of programs on hidden fixtures")
    for records in (each for each in needs.records if each.physical_count):
        yield _row(records.source, f"{records.epoch_count:,}", _records(records))
    epoch = f"{needs.epoch_supervised_tokens / 1e6:,.2f} M of them supervised"
    yield _row("training tokens", f"{needs.epoch_tokens / 1e6:,.2f} M", epoch)
    yield _row(
        "generations",
        f"{needs.case_count:,}",
        f"{needs.family_count:,} families in {'+'.join(needs.rings)}, 2 states, {needs.draw_count} draws",
    )
    yield _row("banks", f"{needs.bank_count}", f"{needs.case_count // needs.bank_count:,} cases each")
    for answering in needs.answering:
        yield _row(answering.mode, f"{answering.prompt_count:,}", _answering(answering))
    yield from _hours(needs)
    for what, size in needs.disk_bytes.items():
        yield _row(f"disk, {what}", _size(size), "")
    yield f"  tokens: {needs.tokens.how}"


def _hours(needs: ModelNeeds) -> Iterator[str]:
    stated = needs.throughput
    if stated is None:
        yield _row("GPU-hours", "-", "state rates in the model's table [plan]")
        return
    on = f"on {stated.device_count} x {stated.device}, at"
    yield _row("GPU-hours, adapt", f"{needs.train_gpu_hours:,.2g}", f"{on} {stated.train_tokens_per_s:,.0f} tokens/s")
    rates = f"at {stated.prompt_tokens_per_s:,.0f} read, {stated.answer_tokens_per_s:,.0f} written tokens/s"
    for answering in needs.answering:
        yield _row(f"GPU-hours, {answering.mode}", f"{answering.gpu_hours:,.2g}", rates)


def _records(records: Records) -> str:
    repeated = f" x {records.repeat_count}" if records.repeat_count > 1 else ""
    return f"{records.physical_count:,} records{repeated}, {records.tokens:,.0f} tokens each"


def _answering(answering: Answering) -> str:
    written = f", {answering.written_tokens / 1e6:,.2f} M written" if answering.written_tokens else ""
    return f"prompts, {answering.read_tokens / 1e6:,.2f} M tokens read{written}"


def _row(name: str, value: str, note: str) -> str:
    return f"  {name:<23} {value:>9}  {note}".rstrip()


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"
