"""Proof that an adapter does something: without it, an adapter that was never attached reports an effect of zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from peft import PeftModel
from transformers import PreTrainedModel

from leakscale.adaptation.batching import collate
from leakscale.adaptation.loss import target_log_probabilities
from leakscale.adaptation.rendering import EncodedRecord
from leakscale.errors import ModelError

__all__ = ["ACTIVITY_MIN", "adapter_activity"]

ACTIVITY_MIN: Final = 1e-7
"""Nats. Source: LeakScale F.4 (adapter activity gate)."""

_PROBED_COUNT: Final = 8


def adapter_activity(model: PeftModel, records: Sequence[EncodedRecord], *, plain_head: bool) -> float:
    """Return the largest |change of log p| of target tokens with the adapter on against off, over a few records.

    Raises:
        ModelError: If it is not above `ACTIVITY_MIN`.
    """
    batch = collate(records[:_PROBED_COUNT])
    core = cast("PreTrainedModel", model.get_base_model())
    active = target_log_probabilities(core, batch, plain_head=plain_head)
    with model.disable_adapter():
        plain = target_log_probabilities(core, batch, plain_head=plain_head)
    activity = float((active - plain).abs().max())
    if not activity > ACTIVITY_MIN:
        raise ModelError(
            f"the adapter changes no target token by more than {ACTIVITY_MIN:g} nats (largest: {activity:g}); it is "
            "not attached, or its learning rate is zero"
        )
    return activity
