"""The set of ratios of two means that the data do not reject, which can be an interval, two rays, or everything.

Source: Fieller 1954; METHODS 13.7 (coverage .946 to .953, where a plain percentile interval of the ratio covers .574
once the denominator is small).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Final

from scipy import special

from leakscale.stats import parameters

__all__ = ["RatioSet", "RatioShape", "fieller"]


_LARGEST: Final = 1e50
"""Of an estimate: the discriminant is of the fourth power, which the doubles must hold."""


class RatioShape(enum.StrEnum):
    """What the set looks like."""

    BOUNDED = "bounded"
    """Every ratio from `low` to `high`: the denominator is clearly not zero."""
    TWO_RAYS = "two_rays"
    """Every ratio up to `low` and from `high`: the denominator may be zero, the numerator is clearly not."""
    EVERYTHING = "everything"
    """Every ratio: numerator and denominator may both be zero."""


@dataclass(frozen=True, slots=True)
class RatioSet:
    """Ratios that are compatible with the data at a level."""

    shape: RatioShape
    low: float | None
    """End of the set, or of its lower ray; None where there is no such end."""
    high: float | None
    """End of the set, or of its upper ray; None where there is no such end."""

    @property
    def is_bounded(self) -> bool:
        """Tell whether the set is an interval."""
        return self.shape is RatioShape.BOUNDED

    def contains(self, ratio: float) -> bool:
        """Tell whether a ratio is compatible with the data."""
        if self.shape is RatioShape.EVERYTHING:
            return True
        below_low = self.low is not None and ratio <= self.low
        above_high = self.high is not None and ratio >= self.high
        if self.shape is RatioShape.TWO_RAYS:
            return below_low or above_high
        return not (below_low or above_high) or ratio in (self.low, self.high)

    def to_dict(self) -> dict[str, str | float | None]:
        """Return the shape and its ends as JSON-ready values."""
        return {"shape": self.shape.value, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        if self.shape is RatioShape.EVERYTHING:
            return "unbounded: any value"
        if self.shape is RatioShape.BOUNDED:
            return f"{self.low:.3g} to {self.high:.3g}"
        rays = [f"{self.low:.3g} or less"] if self.low is not None else []
        rays += [f"{self.high:.3g} or more"] if self.high is not None else []
        return f"unbounded: {' and '.join(rays)}"


def fieller(
    numerator: float,
    denominator: float,
    *,
    numerator_variance: float,
    denominator_variance: float,
    covariance: float,
    alpha: float,
) -> RatioSet:
    """Collect the ratios r for which numerator - r * denominator is not significantly different from zero.

    Args:
        numerator: Estimate with about normal error.
        denominator: The same; it may be near zero, which is what the method is for.
        numerator_variance: Squared standard error of the numerator.
        denominator_variance: Squared standard error of the denominator, at least 0.
        covariance: Of the two estimates.
        alpha: One less the level, in (0, 1).

    Raises:
        ParameterError: If an argument is no finite number, a variance is negative, or `alpha` is out of range.

    A ratio is kept where (numerator - r denominator)^2 <= z^2 var(numerator - r denominator); z is a normal quantile.
    """
    square = _LARGEST**2
    numerator = parameters.number(numerator, "numerator", -_LARGEST, _LARGEST)
    denominator = parameters.number(denominator, "denominator", -_LARGEST, _LARGEST)
    numerator_variance = parameters.radius(numerator_variance, "numerator_variance", 0, square)
    denominator_variance = parameters.radius(denominator_variance, "denominator_variance", 0, square)
    covariance = parameters.number(covariance, "covariance", -square, square)
    critical = float(special.ndtri(parameters.level(alpha) / 2)) ** 2
    a = denominator**2 - critical * denominator_variance
    b = numerator * denominator - critical * covariance
    c = numerator**2 - critical * numerator_variance
    discriminant = b * b - a * c
    if a > 0:
        # The estimate itself is in the set, so a negative discriminant is rounding.
        root = math.sqrt(max(discriminant, 0.0))
        return RatioSet(RatioShape.BOUNDED, (b - root) / a, (b + root) / a)
    if a == 0 and b != 0:
        end = c / (2 * b)
        return RatioSet(RatioShape.TWO_RAYS, end if b < 0 else None, end if b > 0 else None)
    if discriminant <= 0:
        return RatioSet(RatioShape.EVERYTHING, None, None)
    root = math.sqrt(discriminant)
    return RatioSet(RatioShape.TWO_RAYS, (b + root) / a, (b - root) / a)
