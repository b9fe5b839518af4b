"""An estimate with its interval, and the states in which an interval says less, or more, than it seems to."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Interval", "IntervalState", "IntervalUnit"]


class IntervalState(enum.StrEnum):
    """How the bounds of an interval are to be read."""

    ESTIMATED = "estimated"
    """The data vary; the bounds mean what the method promises."""
    CENSUS = "census"
    """Every member of the population was observed: nothing was left to sample, and the width is truly zero."""
    UNBOUNDED = "unbounded"
    """The data leave one side, or both, without a limit; the infinite bound is the answer, not a failure."""
    CONSTANT = "constant"
    """All observations are equal: the bounds collapse to the estimate, and that is no precision."""
    SINGLE_FAMILY = "single_family"
    """One family shows no variation between families: the bounds are the whole range that the quantity can take."""
    SINGLE_CLUSTER = "single_cluster"
    """One cluster shows no variation between clusters: the bounds are the whole range that the quantity can take."""
    SINGLE_OBSERVATION = "single_observation"
    """One observation has no variance: the bounds are the whole range that the quantity can take."""
    SINGLE_IN_STRATUM = "single_in_stratum"
    """A stratum that was not fully observed holds one observation: the bounds are the whole range."""
    COLLAPSED = "collapsed"
    """The units vary, but both quantiles fall on one value of their resamples; that is no precision."""
    ASSUMED = "assumed"
    """Everything that could err was taken for known: the width is zero by assumption, and that is no precision."""
    DRIFTING = "drifting"
    """The draws trend more than draws in random order do, so no value is plausible; the bounds span the trend."""


_DEGENERATE = {
    IntervalState.CONSTANT: "no variation between observations",
    IntervalState.SINGLE_FAMILY: "a single family",
    IntervalState.SINGLE_CLUSTER: "a single cluster",
    IntervalState.SINGLE_OBSERVATION: "a single observation",
    IntervalState.SINGLE_IN_STRATUM: "a stratum with a single observation",
    IntervalState.COLLAPSED: "both quantiles of the resamples are one value",
    IntervalState.ASSUMED: "everything that could err was taken for known",
    IntervalState.DRIFTING: "the draws are not in random order",
}


class IntervalUnit(enum.StrEnum):
    """How a person reads the numbers of an interval."""

    SHARE = "share"
    """Shares of 1, printed as percentage points: 0.1 is ten points."""
    RATIO = "ratio"
    """Plain numbers, e.g. an odds ratio or the share of one effect in another."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its bounds: a difference of accuracies as a share, or a ratio (`unit` tells which)."""

    estimate: float
    low: float
    """Lower bound; `-inf` only in the state `unbounded`."""
    high: float
    """Upper bound; `inf` only in the state `unbounded`."""
    standard_error: float | None
    """Of the estimate, where the method has one; None where it has none or the data show no variation."""
    method: str
    """Formula behind the bounds, e.g. `percentile`."""
    alpha: float
    """Nominal probability outside the bounds, e.g. 0.05."""
    state: IntervalState = IntervalState.ESTIMATED
    unit: IntervalUnit = IntervalUnit.SHARE

    @property
    def half_width(self) -> float:
        """Half the distance between the bounds; infinite where one of them is."""
        return (self.high - self.low) / 2

    @property
    def is_degenerate(self) -> bool:
        """Tell whether the bounds come from the lack of variation rather than from variation.

        A census is not degenerate (its zero width is knowledge), and neither is an unbounded interval.
        """
        return self.state in _DEGENERATE

    def excludes(self, value: float) -> bool:
        """Tell whether the bounds shut out a value; degenerate bounds shut out nothing."""
        return not self.is_degenerate and not self.low <= value <= self.high

    @property
    def bounds_text(self) -> str:
        """The bounds as a person reads them, or why there are none; every printed interval goes through here."""
        if self.is_degenerate:
            return f"no interval: {_DEGENERATE[self.state]}"
        if self.state is IntervalState.CENSUS:
            return "exact: every member of the population was observed"
        return f"{self._words(self.low)} to {self._words(self.high)}"

    def to_dict(self) -> dict[str, float | str | None]:
        """Return the fields as JSON-ready values; an infinite one is written as the text `inf` or `-inf`."""
        return {
            "estimate": _json_ready(self.estimate),
            "low": _json_ready(self.low),
            "high": _json_ready(self.high),
            "half_width": _json_ready(self.half_width),
            "standard_error": self.standard_error,
            "method": self.method,
            "alpha": self.alpha,
            "state": self.state.value,
            "unit": self.unit.value,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Interval:
        """Read what `to_dict` wrote.

        Raises:
            ValueError, KeyError, TypeError: If it is none.
        """
        error = fields["standard_error"]
        return cls(
            estimate=float(fields["estimate"]),
            low=float(fields["low"]),
            high=float(fields["high"]),
            standard_error=None if error is None else float(error),
            method=str(fields["method"]),
            alpha=float(fields["alpha"]),
            state=IntervalState(fields["state"]),
            unit=IntervalUnit(fields["unit"]),
        )

    def __str__(self) -> str:
        estimate = self._words(self.estimate)
        if self.unit is IntervalUnit.SHARE:
            estimate += " points"
        if self.is_degenerate or self.state is IntervalState.CENSUS:
            return f"{estimate} ({self.bounds_text})"
        return f"{estimate} ({100 * (1 - self.alpha):g} % interval {self.bounds_text}; {self.method})"

    def _words(self, value: float) -> str:
        return f"{100 * value:+.2f}" if self.unit is IntervalUnit.SHARE else f"{value:.3g}"


def _json_ready(value: float) -> float | str:
    """Write an infinity as text, because JSON has no number for it."""
    return value if math.isfinite(value) else str(value)
