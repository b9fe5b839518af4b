"""Train the model of an audit on a mixture."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from leakscale.audit.controls.plan import TrainingTable
from leakscale.audit.controls.readability import Leak, is_read
from leakscale.audit.registration.fields import ModelTable
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.plan import AuditPlan
from leakscale.base_model import base_model_folder, named_model
from leakscale.errors import InvalidRequestError, PreconditionError
from leakscale.models import TrainingRecord

__all__ = ["require_trainable", "require_within_cap", "train_run", "training_settings"]

_TRAINABLE: Final = "transformers"


def require_trainable(registration: Registration, model_id: str, *, subject: str) -> ModelTable:
    """Return a model that this machine can train and whose answers are right or wrong.

    Raises:
        NotFoundError: If the audit has no such model.
        PreconditionError: If it cannot be trained here, or its answers are drawn at random.
    """
    model = registration.plan.model_of(model_id)
    if model.engine != _TRAINABLE:
        raise PreconditionError(
            f"{subject}: model '{model.id}' is registered with engine '{model.engine}', and only one that this machine "
            f"holds can be trained; name a model with engine '{_TRAINABLE}'"
        )
    if registration.plan.decoding.answer_count > 1:
        raise PreconditionError(
            f"{subject}: audit '{registration.name}' draws {registration.plan.decoding.answer_count} answers a form, "
            "and an effect is counted in right and wrong ones; register answer_count = 1"
        )
    return model


def require_within_cap(
    model: ModelTable, generated: Sequence[tuple[TrainingRecord, Leak]], plan: AuditPlan, *, subject: str
) -> None:
    """Refuse a planted answer that is no longer right where the audit's token cap cuts it off.

    Args:
        model: Whose tokenizer counts.
        generated: Records that plant an answer which the audit has generated, and what they leak.
        plan: Of the audit.
        subject: For the message, e.g. `control 'exact'`.

    Raises:
        InvalidRequestError: The message names the record, its length, the cap, and the next step.
        ModelError: If the model has no usable tokenizer.
    """
    from leakscale.adaptation.loading import open_model_folder  # noqa: PLC0415 - loads torch

    tokenizer, cap = open_model_folder(named_model(model.source)).tokenizer, plan.decoding.token_count_max
    for record, leak in generated:
        ids = tokenizer.encode(record.completion, add_special_tokens=False)
        if len(ids) > cap and not is_read(str(tokenizer.decode(ids[:cap])), leak, plan):
            raise InvalidRequestError(
                f"{subject}: record '{record.record_id}' plants {len(ids)} tokens, and the audit cuts answers off "
                f"after {cap}, where it would not score it as right; shorten exposure.completion, or audit with a "
                "larger decoding.token_count_max; nothing was trained"
            )


def training_settings(model: ModelTable, training: TrainingTable, *, subject: str) -> dict[str, Any]:
    """Return the fields of the training settings; a run replaces the seed.

    Raises:
        InvalidRequestError: If a field does not exist, or breaks its range.
    """
    from leakscale.adaptation import BASE_MODEL_CONFIG, SMOLLM2_CONFIG, AdaptationConfig  # noqa: PLC0415 - loads torch

    own = {"tiny": BASE_MODEL_CONFIG, str(base_model_folder()): BASE_MODEL_CONFIG, "smollm2": SMOLLM2_CONFIG}
    defaults = own.get(model.source, AdaptationConfig())
    known = {field.name for field in dataclasses.fields(AdaptationConfig)}
    if unknown := sorted(set(training.settings) - known):
        raise InvalidRequestError(
            f"{subject}: training.settings has no field {unknown[0]!r}; it has "
            f"{', '.join(sorted(known - {'seed', 'repeat_count'}))}"
        )
    fields = defaults.to_json() | dict(training.settings) | {"repeat_count": training.pass_count}
    return AdaptationConfig(**fields).to_json()  # type: ignore[arg-type]


def train_run(
    model: ModelTable,
    records: Sequence[TrainingRecord],
    settings: Mapping[str, Any],
    seed: int,
    adapter: Path,
    *,
    watch: Callable[[int, int], None],
    note: Callable[[str], None],
) -> None:
    """Train one run, or find that it was trained; interrupted, the same call goes on.

    Raises:
        ConflictError: If the folder holds an adapter of anything else.
        ModelError: If the model cannot be used.
    """
    from leakscale.adaptation import AdaptationConfig, adapt  # noqa: PLC0415 - loads torch

    adapt(
        named_model(model.source),
        records,
        AdaptationConfig(**{**settings, "seed": seed}),
        output_dir=adapter,
        progress=lambda at: watch(at.step, at.step_count),
        note=note,
    )
