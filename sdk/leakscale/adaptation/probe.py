"""Proof that an adapter does something: without it, an adapter that was never attached reports an effect of zero.

An engine may load an adapter and ignore it: module names that do not match, a request that does not name it, a server
that answers from a cache of the base model. So the probe knows no engine. It asks whatever answers, by the interface
it will answer with, for the log-probability of the same target tokens with the adapter on and off.

It does not show that the adapter acts *rightly*, only that it acts; its identity says which one it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

from peft import PeftModel
from transformers import PreTrainedModel

from leakscale.adaptation.batching import collate
from leakscale.adaptation.loss import target_log_probabilities
from leakscale.adaptation.rendering import EncodedRecord
from leakscale.errors import ModelError

__all__ = ["ACTIVITY_MIN", "PROBED_COUNT", "ActivityReport", "LocalScorer", "TargetScorer", "probe_adapter"]

ACTIVITY_MIN: Final = 1e-7
"""Nats. Source: LeakScale D.4 (adapter activity gate)."""
PROBED_COUNT: Final = 8
"""Records that are enough: an adapter that acts, acts on every one."""


class TargetScorer(Protocol):
    """Whatever can say how probable the tokens of an answer are."""

    def target_log_probabilities(self, records: Sequence[EncodedRecord], *, adapter: bool) -> Sequence[float]:
        """Return log p in nats of every supervised token of the records, in order, with the adapter on or off."""


@dataclass(frozen=True, slots=True)
class ActivityReport:
    """What a probe found."""

    activity: float
    """Largest |change of log p| of a target token, in nats."""
    token_count: int
    strength: float


def probe_adapter(scorer: TargetScorer, records: Sequence[EncodedRecord], *, strength: float = 1.0) -> ActivityReport:
    """Compare the log-probabilities of target tokens with the adapter on against off.

    Args:
        scorer: The engine, asked by the way it will answer.
        records: Prompts with target tokens: exposed records, or families with their candidates' answers for whoever
            holds no association. The first `PROBED_COUNT` are asked.
        strength: What the adapter's lora_B was scaled by; at 0 nothing may change at all.

    Raises:
        ModelError: If no change is above `ACTIVITY_MIN`, or if there is one at strength 0, or if the engine returns
            another number of tokens than it was asked for.
    """
    asked = records[:PROBED_COUNT]
    count = sum(len(record.completion_ids) for record in asked)
    active = scorer.target_log_probabilities(asked, adapter=True)
    plain = scorer.target_log_probabilities(asked, adapter=False)
    if not count == len(active) == len(plain):
        raise ModelError(
            f"the engine scored {len(active)} and {len(plain)} target tokens of {count}; it cannot be probed, so its "
            "adapter cannot be trusted"
        )
    activity = max(abs(on - off) for on, off in zip(active, plain, strict=True))
    if strength == 0 and activity != 0:
        raise ModelError(
            f"the adapter at strength 0 changes a target token by {activity:g} nats, which must be exactly 0; the "
            "engine answers from another adapter, or not the same twice"
        )
    if strength != 0 and not activity > ACTIVITY_MIN:  # NaN fails too
        raise ModelError(
            f"the adapter changes no target token by more than {ACTIVITY_MIN:g} nats (largest: {activity:g}); it is "
            "not attached, or its learning rate is zero"
        )
    return ActivityReport(activity, count, strength)


class LocalScorer:
    """A peft model in this process."""

    def __init__(self, model: PeftModel, *, plain_head: bool) -> None:
        self._model, self._plain_head = model, plain_head

    def target_log_probabilities(self, records: Sequence[EncodedRecord], *, adapter: bool) -> Sequence[float]:
        """Score all records in one padded forward pass."""
        if adapter:
            return self._score(records)
        with self._model.disable_adapter():
            return self._score(records)

    def _score(self, records: Sequence[EncodedRecord]) -> list[float]:
        core = cast("PreTrainedModel", self._model.get_base_model())
        batch = collate(records).to(core.device)
        scores: list[float] = target_log_probabilities(core, batch, plain_head=self._plain_head).tolist()
        return scores
