"""An estimate with its interval, and the states in which an interval says less than it seems to."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["Interval", "IntervalState"]


class IntervalState(enum.StrEnum):
    """How far the bounds of an interval can be read."""

    ESTIMATED = "estimated"
    """The data vary; the bounds mean what the method promises."""
    CONSTANT = "constant"
    """Every family changed by the same amount: the bounds collapse to the estimate, and that is no precision."""
    SINGLE_FAMILY = "single_family"
    """One family shows no variation between families: the bounds are the whole range that the quantity can take."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A difference of accuracies with its bounds, as shares (0.1 is ten percentage points)."""

    estimate: float
    low: float
    high: float
    standard_error: float | None
    """Standard deviation of the bootstrap distribution; None where families show no variation to resample."""
    method: str
    """Formula behind the bounds, e.g. `percentile`."""
    alpha: float
    """Nominal probability outside the bounds, e.g. 0.05."""
    state: IntervalState = IntervalState.ESTIMATED

    @property
    def half_width(self) -> float:
        """Half the distance between the bounds."""
        return (self.high - self.low) / 2

    @property
    def is_degenerate(self) -> bool:
        """Tell whether the bounds come from the lack of variation rather than from variation."""
        return self.state is not IntervalState.ESTIMATED

    def to_dict(self) -> dict[str, float | str | None]:
        """Return the fields as JSON-ready values."""
        return {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "half_width": self.half_width,
            "standard_error": self.standard_error,
            "method": self.method,
            "alpha": self.alpha,
            "state": self.state.value,
        }

    def __str__(self) -> str:
        estimate = f"{100 * self.estimate:+.2f} points"
        if self.state is IntervalState.CONSTANT:
            return f"{estimate} (no interval: every family changed by the same amount)"
        if self.state is IntervalState.SINGLE_FAMILY:
            return f"{estimate} (no interval: a single family)"
        bounds = f"{100 * self.low:+.2f} to {100 * self.high:+.2f}"
        return f"{estimate} ({100 * (1 - self.alpha):g} % interval {bounds}; {self.method})"
