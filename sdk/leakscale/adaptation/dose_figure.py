"""The dose-response as a figure. Needs matplotlib, which the extra `report` brings."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from leakscale.adaptation.dose import Dose

__all__ = ["draw_doses"]

_CHANCE = 25.0
"""Percent; a blind pick among four candidates."""


def draw_doses(figure: Figure, doses: Sequence[Dose], *, chosen: float) -> None:
    """Draw accuracy by condition on the left and the effect with the control's drift on the right."""
    accuracy, effect = figure.subplots(1, 2)
    strengths = [dose.strength for dose in doses]
    accuracy.plot(strengths, [100 * dose.exposed for dose in doses], "o-", color="C3", label="exposed (C2)")
    accuracy.plot(strengths, [100 * dose.control for dose in doses], "s--", color="C0", label="control (C0)")
    accuracy.axhline(_CHANCE, color="0.6", linewidth=0.8, linestyle=":", label="chance")
    accuracy.set(title="Probability of the reference answer", ylabel="%", ylim=(0, 100))
    effect.plot(strengths, [100 * dose.effect for dose in doses], "o-", color="C3", label="effect")
    effect.plot(strengths, [100 * dose.control_drift for dose in doses], "s--", color="C0", label="control's drift")
    effect.set(title="Change against strength 0", ylabel="percentage points")
    for axes in (accuracy, effect):
        axes.axvline(chosen, color="0.4", linewidth=0.8, label=f"chosen: {chosen:g}")
        axes.set_xlabel("strength (factor of lora_B)")
        axes.legend()
