"""Whether a planted effect was planted, and whether nothing gives nothing.

Each check states the rule it was registered with, the number it saw, and how finely it could see.

Source: CleanScore 7.12 and 7.15; METHODS 9.6 and 9.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leakscale.stats import parameters
from leakscale.stats.errors import EmptyCellError
from leakscale.stats.exposure.did import DidResult

__all__ = [
    "ManipulationCheck",
    "NegativeControl",
    "manipulation_check",
    "negative_control_run",
]


@dataclass(frozen=True, slots=True, eq=False)
class ManipulationCheck:
    """Whether training planted an effect on the very form it showed."""

    public: DidResult
    floor: float
    method: str = "estimate at or above the floor"

    @property
    def is_passed(self) -> bool:
        """Tell whether the estimate reaches the floor: the registered rule. A failure stops the study."""
        return self.public.effect.estimate >= self.floor

    @property
    def is_clear(self) -> bool:
        """Tell whether the whole interval lies above the floor, which the rule does not ask for."""
        return self.public.effect.low > self.floor and not self.public.effect.is_degenerate

    def to_dict(self) -> dict[str, object]:
        """Return the rule and what it saw as JSON-ready values."""
        return {
            "is_passed": self.is_passed,
            "is_clear": self.is_clear,
            "floor": self.floor,
            "effect": self.public.effect.to_dict(),
            "method": self.method,
        }

    def __str__(self) -> str:
        verdict = "passed" if self.is_passed else "failed, no transfer can be claimed"
        return f"manipulation check {verdict}: {self.public.effect}, floor {100 * self.floor:+.1f} points"


def manipulation_check(public: DidResult, *, floor: float = 0.05) -> ManipulationCheck:
    """Check that exposure moved accuracy on the public form by at least `floor` (0.05 in the paper).

    Raises:
        ParameterError: If the floor is not above zero; a share of an effect of zero or less is not a share.
    """
    return ManipulationCheck(public, parameters.tolerance(floor, "floor"))


@dataclass(frozen=True, slots=True, eq=False)
class NegativeControl:
    """The effects of a run that had nothing to find, beside those of the runs that had."""

    effects: Mapping[str, DidResult]
    """Of each form type, without any planted item."""
    planted: Mapping[str, float]
    """Effect of each form type with planted items; may be empty."""
    threshold: float
    method: str = "all estimates within the threshold, all intervals contain zero"

    @property
    def largest(self) -> float:
        """Greatest absolute effect of the empty run."""
        return max(abs(result.effect.estimate) for result in self.effects.values())

    @property
    def resolution(self) -> float | None:
        """Greatest half-width, i.e. how large an effect the run could have missed; None where one is degenerate."""
        if any(result.effect.is_degenerate for result in self.effects.values()):
            return None
        return max(result.effect.half_width for result in self.effects.values())

    @property
    def is_clean(self) -> bool:
        """Tell whether every estimate is within the threshold and no interval excludes zero."""
        return self.largest <= self.threshold and not any(one.effect.excludes(0) for one in self.effects.values())

    @property
    def planted_ratio(self) -> tuple[float, float] | None:
        """Least and greatest planted effect over the largest empty one; None without either."""
        if not self.planted or self.largest == 0:
            return None
        return min(self.planted.values()) / self.largest, max(self.planted.values()) / self.largest

    def to_dict(self) -> dict[str, object]:
        """Return the rule and what it saw as JSON-ready values."""
        return {
            "is_clean": self.is_clean,
            "largest": self.largest,
            "threshold": self.threshold,
            "resolution": self.resolution,
            "effects": {str(form): result.effect.to_dict() for form, result in self.effects.items()},
            "planted": {str(form): effect for form, effect in self.planted.items()},
            "planted_ratio": self.planted_ratio,
            "method": self.method,
        }

    def __str__(self) -> str:
        verdict = "clean" if self.is_clean else "not clean"
        seen = f"largest effect {100 * self.largest:.1f} points, threshold {100 * self.threshold:.1f}"
        if self.resolution is None:
            return f"negative control {verdict}: {seen}; outcomes do not vary, so what it could have missed is unknown"
        return f"negative control {verdict}: {seen}; effects of {100 * self.resolution:.1f} could have been missed"


def negative_control_run(
    effects: Mapping[str, DidResult], *, threshold: float = 0.05, planted: Mapping[str, float] | None = None
) -> NegativeControl:
    """Judge a run of the whole pipeline on background data alone.

    It bounds what the procedure makes up by itself. It says nothing about how much the procedure varies where there is
    something to find; that is what `seed_replication` is for.

    Args:
        effects: Exposure effect of each form type in the empty run.
        threshold: Greatest absolute effect of a clean procedure; 0.05 in the paper.
        planted: Effects of each form type in the run with planted items.

    Raises:
        EmptyCellError: If there is no effect.
        ParameterError: If the threshold is not above zero, or a planted effect is no finite number.
    """
    if not effects:
        raise EmptyCellError("a negative control without an effect; pass the result of at least one form type")
    threshold = parameters.tolerance(threshold, "threshold")
    found = {form: parameters.number(effect, f"planted effect of {form!r}") for form, effect in (planted or {}).items()}
    return NegativeControl(dict(effects), found, threshold)
