"""The smallest effect that an audit declares.

An audit declares an advantage when its primary interval lies above zero. The paper calls the half-width h the minimum
detectable effect, which an audit declares every second time only; the usual power of 80 % takes h + 0.84 se.

Source: CleanScore 7.9; METHODS 8.2 and 13.9.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.special import ndtri

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import NoInformationError, ParameterError
from leakscale.stats.gaps import Gaps
from leakscale.stats.mean_intervals.guardrails import guardrail

__all__ = ["MinimumDetectableEffect", "minimum_detectable_effect"]

_WALD = "wald_fpc"


@dataclass(frozen=True, slots=True)
class MinimumDetectableEffect:
    """The smallest advantage that an audit like this one declares with a given probability."""

    effect: float
    """As a share."""
    power: float
    half_width: float
    """Of the primary interval: the effect with power 1/2."""
    standard_error: float | None
    """Of the mean gap; None where the gaps show no variation."""
    primary: str
    """Method of the primary interval."""
    alpha: float

    @property
    def method(self) -> str:
        """Name the formula."""
        return f"half-width ({self.primary}) + z({self.power:g}) se"

    def to_dict(self) -> dict[str, float | str | None]:
        """Return the fields as JSON-ready values."""
        return {
            "effect": self.effect,
            "power": self.power,
            "half_width": self.half_width,
            "standard_error": self.standard_error,
            "primary": self.primary,
            "alpha": self.alpha,
            "method": self.method,
        }

    def __str__(self) -> str:
        return f"{100 * self.effect:.1f} points are declared with probability {self.power:g} ({self.primary})"


def minimum_detectable_effect(
    gaps: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    *,
    power: float = 0.5,
    bound: str = "hoeffding",
    alpha: float = 0.05,
) -> MinimumDetectableEffect:
    """Find the advantage that an audit with gaps like these declares with the given power.

    Args:
        gaps: Gaps of an audit.
        design: Its benchmark.
        power: Probability of declaring, in [0.5, 1): below, the formula ends under zero. 0.5 is the paper's
            definition, 0.8 the usual one.
        bound: What the guardrail falls back to.
        alpha: Level of the primary interval.

    Raises:
        NoInformationError: If the gaps do not vary and the power is not 1/2.
        ParameterError: If power or alpha is out of range.
        StatisticsError: As `guardrail`.
    """
    power, alpha = parameters.level(power, "power"), parameters.level(alpha)
    if power < 0.5:
        raise ParameterError(f"power is {power:g}; it lies from 0.5 (half of all audits) to below 1, e.g. 0.8")
    found = guardrail(gaps, design, bound=bound, alpha=alpha)
    error = found.intervals[_WALD].standard_error
    margin = 0.0
    if power != 0.5:
        if error is None:
            raise NoInformationError(
                "the gaps do not vary, so nothing says how far a mean strays; only power=0.5 exists"
            )
        margin = float(ndtri(power)) * error
    half_width = found.primary.half_width
    return MinimumDetectableEffect(half_width + margin, power, half_width, error, found.primary.method, alpha)
