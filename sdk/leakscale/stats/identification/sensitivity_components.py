"""The two intervals that a sensitivity interval is made of, and the ways to put them together.

Source: METHODS 2.4, 2.5 and 13.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import UnsupportedMethodError
from leakscale.stats.gaps import Gaps
from leakscale.stats.intervals import Interval, IntervalState
from leakscale.stats.mean_intervals import mean_ci
from leakscale.stats.mean_intervals.guardrails import guardrail

__all__ = [
    "COMBINATIONS",
    "COMPONENTS",
    "CONTROLS",
    "SUPERPOPULATION",
    "Components",
    "control_interval",
    "require_choice",
]

COMPONENTS = ("primary", "wald", "betting")
"""Interval of the audited gap: what the guardrail makes primary (recommended), `wald` always (the paper's registered
form, which covers too rarely where the guardrail fires), or the distribution-free `betting`."""
CONTROLS = ("wald", "wald-or-bound", "guardrail", "betting", "fixed")
"""Reading of the control bank: `wald` (the paper's registered form), `wald-or-bound` (the bound where all control gaps
are equal, so that a bank which never varies does not disarm the claim rule), `guardrail` (the bound below 200 parents),
`betting`, or `fixed`, which takes the bank's mean for the truth. `fixed` turns a small bank's noise into claims; it is
here to be shown beside the others."""
COMBINATIONS = ("union", "independent")
"""`union` halves alpha between the components and holds whatever the two banks have to do with each other.
`independent` gives each component the whole alpha and adds the distances to their bounds at right angles, which for
Wald components is z sqrt(se² + se²)."""

SUPERPOPULATION = FinitePopulationDesign(None)
"""A control bank is one realisation of the procedure that wrote it; there is no frame it was drawn from."""


@dataclass(frozen=True, slots=True)
class Components:
    """Intervals of the audited gap and of the control gap, each at the level that the combination asks for."""

    audit: Interval
    control: Interval
    combine: str
    alpha: float
    """Of the whole."""

    @classmethod
    def of(
        cls,
        gaps: Gaps,
        design: FinitePopulationDesign,
        control_gaps: Gaps,
        *,
        alpha: float,
        component: str,
        control: str,
        combine: str,
        bound: str,
    ) -> Components:
        """Build both intervals.

        Raises:
            ParameterError: If alpha is out of range.
            UnsupportedMethodError: If a name is unknown.
            StatisticsError: As `mean_ci`.
        """
        alpha = parameters.level(alpha)
        require_choice("component", component, COMPONENTS)
        require_choice("control", control, CONTROLS)
        require_choice("combine", combine, COMBINATIONS)
        # One event needs no union bound: a control gap taken as known cannot fail to cover.
        level = alpha / 2 if combine == "union" and control != "fixed" else alpha
        return cls(
            _interval(gaps, design, component, bound, level),
            control_interval(control_gaps, control=control, bound=bound, alpha=level),
            combine,
            alpha,
        )

    @property
    def estimate(self) -> float:
        """Mean gap minus control gap."""
        return self.audit.estimate - self.control.estimate

    @property
    def distances(self) -> tuple[float, float]:
        """How far the bounds lie below and above the estimate, before the transport radius."""
        audit, control = self.audit, self.control
        below = audit.estimate - audit.low, control.high - control.estimate
        above = audit.high - audit.estimate, control.estimate - control.low
        if self.combine == "independent":
            return math.hypot(*below), math.hypot(*above)
        return sum(below), sum(above)

    @property
    def state(self) -> IntervalState:
        """The state of the first component that is degenerate; what rests on it is degenerate, too."""
        degenerate = (part.state for part in (self.audit, self.control) if part.is_degenerate)
        return next(degenerate, IntervalState.ESTIMATED)

    @property
    def is_degenerate(self) -> bool:
        """Tell whether a component is."""
        return self.audit.is_degenerate or self.control.is_degenerate

    @property
    def standard_error(self) -> float | None:
        """Of the difference, where both components have one."""
        if self.audit.standard_error is None or self.control.standard_error is None:
            return None
        return math.hypot(self.audit.standard_error, self.control.standard_error)

    @property
    def method(self) -> str:
        """Name the two formulas and the combination."""
        return f"sensitivity({self.audit.method}, control {self.control.method}, {self.combine})"


def control_interval(gaps: Gaps, *, control: str, bound: str, alpha: float) -> Interval:
    """Return the interval of a control bank's own gap.

    Args:
        gaps: Of the control bank.
        control: One of `CONTROLS`.
        bound: Method that the guardrail and `wald-or-bound` fall back to.
        alpha: Probability left outside it.

    Raises:
        StatisticsError: As `mean_ci`.
    """
    found = _interval(gaps, SUPERPOPULATION, "wald" if control == "wald-or-bound" else control, bound, alpha)
    if control == "wald-or-bound" and found.is_degenerate:
        return mean_ci(gaps, SUPERPOPULATION, method=bound, alpha=alpha)
    return found


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a name that is none of the choices.

    Raises:
        UnsupportedMethodError: If it is not.
    """
    if value not in choices:
        raise UnsupportedMethodError(f"{name} {value!r} is not one of {', '.join(choices)}")


def _interval(gaps: Gaps, design: FinitePopulationDesign, kind: str, bound: str, alpha: float) -> Interval:
    if kind in {"primary", "guardrail"}:
        return guardrail(gaps, design, bound=bound, alpha=alpha).primary
    if kind == "fixed":
        return Interval(gaps.mean, gaps.mean, gaps.mean, 0.0, "fixed", alpha)
    return mean_ci(gaps, design, method="wald_fpc" if kind == "wald" else kind, alpha=alpha)
