"""The dose-response of an adapter on development families, and the rule that picks a strength from it.

The rule is written down before anything is measured, so that the strength is a function of the development families
and not of a look at the curve: among the strengths whose control drifts by at most so much, the smallest whose effect
comes within a tolerance of the largest.

Source: LeakScale D.3 (strengths selected on disjoint development families). The paper does not state its rule; this
one is ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from peft import PeftModel
from transformers import PreTrainedModel

from leakscale.adaptation.development import Accuracy, Development
from leakscale.adaptation.identity import is_lora_b, json_digest
from leakscale.adaptation.strength import scaled_tensor
from leakscale.errors import InvalidRequestError, PreconditionError

__all__ = ["Dose", "StrengthRule", "choose_strength", "dose_response", "dose_table", "doses_to_json", "scaled"]


@dataclass(frozen=True, slots=True)
class StrengthRule:
    """How a strength is chosen; registered before the first measurement.

    Raises:
        InvalidRequestError: If a field breaks its range.
    """

    strengths: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    """Candidates, rising, above 0."""
    control_drift_max: float = 0.10
    """Largest |change| of the control's accuracy that is let pass, as a share."""
    effect_tolerance: float = 0.01
    """How far below the largest effect still counts as equal, as a share."""

    def __post_init__(self) -> None:
        rising = list(self.strengths) == sorted(set(self.strengths))
        if not self.strengths or not rising or not all(0 < s < math.inf for s in self.strengths):
            raise InvalidRequestError(f"strengths {list(self.strengths)} are not rising finite numbers above 0")
        for name in ("control_drift_max", "effect_tolerance"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidRequestError(f"{name} {getattr(self, name)!r} is not a share between 0 and 1")

    @property
    def digest(self) -> str:
        """Hex SHA-256 of the rule, to register."""
        return json_digest(asdict(self))


@dataclass(frozen=True, slots=True)
class Dose:
    """What an adapter does at one strength; accuracies are shares in [0, 1]."""

    strength: float
    control: float
    exposed: float
    control_drift: float
    """Change of the control against strength 0."""
    effect: float
    """Change of the exposed families minus the control's."""


def dose_response(
    model: PeftModel,
    development: Development,
    strengths: Sequence[float],
    *,
    progress: Callable[[int], None] | None = None,
) -> list[Dose]:
    """Measure the effect at strength 0 and at each strength; leaves the adapter as it was.

    Args:
        model: With the trained adapter, unscaled.
        development: Families that are not reported.
        strengths: Any order; 0 is measured in any case.
        progress: Called with the number of strengths that are measured.
    """
    core = cast("PreTrainedModel", model.get_base_model())
    with scaled(model, 0.0):
        base = development.accuracy(core)
    doses = [_dose(0.0, base, base)]
    for strength in sorted(set(strengths) - {0.0}):
        if progress is not None:
            progress(len(doses))
        with scaled(model, strength):
            doses.append(_dose(strength, base, development.accuracy(core)))
    if progress is not None:
        progress(len(doses))
    return doses


def choose_strength(rule: StrengthRule, doses: Sequence[Dose]) -> float:
    """Apply a registered rule to a measured dose-response.

    Raises:
        PreconditionError: If a strength of the rule was not measured, or none keeps the control within its drift.
    """
    measured = {dose.strength: dose for dose in doses}
    missing = [strength for strength in rule.strengths if strength not in measured]
    if missing:
        raise PreconditionError(f"strength {missing[0]:g} of the rule was not measured; measure every one of the rule")
    steady = [
        measured[strength]
        for strength in rule.strengths
        if abs(measured[strength].control_drift) <= rule.control_drift_max
    ]
    if not steady:
        least = min(abs(measured[strength].control_drift) for strength in rule.strengths)
        raise PreconditionError(
            f"at every strength the control drifts by more than {100 * rule.control_drift_max:g} points (least: "
            f"{100 * least:.1f}); train with a lower learning rate or more background"
        )
    largest = max(dose.effect for dose in steady)
    return next(dose.strength for dose in steady if dose.effect >= largest - rule.effect_tolerance)


def dose_table(doses: Sequence[Dose], *, chosen: float | None = None) -> str:
    """Write the dose-response as a Markdown table in percentage points; the chosen strength is marked."""
    lines = ["| strength | control % | exposed % | drift | effect | |", "|---:|---:|---:|---:|---:|---|"]
    for dose in doses:
        mark = "chosen" if dose.strength == chosen else ""
        lines.append(
            f"| {dose.strength:g} | {100 * dose.control:.2f} | {100 * dose.exposed:.2f} | "
            f"{100 * dose.control_drift:+.2f} | {100 * dose.effect:+.2f} | {mark} |"
        )
    return "\n".join(lines)


def doses_to_json(doses: Sequence[Dose]) -> list[dict[str, Any]]:
    """Return the dose-response as JSON."""
    return [asdict(dose) for dose in doses]


@contextmanager
def scaled(model: PeftModel, strength: float) -> Iterator[None]:
    """Hold the adapter at a strength while the block runs, with the very tensors that `scale_adapter` writes."""
    factors = {name: parameter for name, parameter in model.named_parameters() if is_lora_b(name)}
    kept = {name: parameter.detach().clone() for name, parameter in factors.items()}
    try:
        with torch.no_grad():
            for name, parameter in factors.items():
                parameter.copy_(scaled_tensor(kept[name], strength))
        yield
    finally:
        with torch.no_grad():
            for name, parameter in factors.items():
                parameter.copy_(kept[name])


def _dose(strength: float, base: Accuracy, now: Accuracy) -> Dose:
    drift = now.control - base.control
    return Dose(strength, now.control, now.exposed, drift, now.exposed - base.exposed - drift)
