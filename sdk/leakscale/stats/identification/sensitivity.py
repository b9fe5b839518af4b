"""What an audit says about exposure, when its control bank may not carry over exactly.

The mean gap of a benchmark is an ordinary form gap b_B, which nobody observes, plus the part tau owed to exposure. A
control bank that was never public shows the ordinary gap b_C of its own items. If the two differ by no more than a
radius, |b_B - b_C| <= rho, then

    tau lies in [L_gap - U_control - rho, U_gap - L_control + rho]

whenever both intervals cover. The radius is an assumption and no estimate: it is fixed before unblinding, and the
whole grid is shown.

Source: CleanScore 3.3 and Proposition 3; METHODS 2 and 13.8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import ParameterError
from leakscale.stats.gaps import Gaps
from leakscale.stats.identification.sensitivity_components import Components
from leakscale.stats.intervals import Interval, IntervalState

__all__ = [
    "RHO_GRID",
    "RHO_HEADLINE",
    "BreakdownRadius",
    "SensitivityCurve",
    "breakdown_radius",
    "sensitivity_curve",
    "sensitivity_interval",
]

RHO_GRID = (0.0, 0.01, 0.02, 0.05, 0.10)
"""The radii that the paper registered."""
RHO_HEADLINE = 0.02
"""The radius of the paper's claim rule."""


def sensitivity_interval(
    gaps: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    control_gaps: Gaps | ArrayLike,
    *,
    rho: float,
    alpha: float = 0.05,
    component: str = "primary",
    combine: str = "union",
    control: str | None = None,
    bound: str = "hoeffding",
) -> Interval:
    """Bound the part of the mean gap that is owed to exposure, at one transport radius.

    Args:
        gaps: Gaps of the audited parents, in draw order.
        design: The benchmark they were sampled from.
        control_gaps: Gaps of the control bank, one realisation of its writing procedure.
        rho: Transport radius as a share, at least 0.
        alpha: Probability left outside the whole interval; a component gets the part that `combine` gives it.
        component: Interval of the audited gap: `primary` (what the guardrail says), `wald` (the paper's registered
            form) or `betting`.
        combine: `union`, or `independent` for banks whose errors have nothing to do with each other, with 200
            control parents or more, or with betting on both sides.
        control: Reading of the control bank, one of `CONTROLS`; None: `betting` beside a
            betting component, else `wald`, which is the paper's registered form.
        bound: Method that the guardrail falls back to.

    Returns:
        Mean gap minus control gap with its bounds. Where a component is degenerate, e.g. a control bank without a
        nonzero gap under `wald`, so is the result: `state` says why, and it excludes nothing. So it is where
        nothing is left that could err: a full audit beside a `fixed` control at radius 0.

    Raises:
        ParameterError: If rho is negative or no number, or alpha is out of range.
        UnsupportedMethodError: If a name is unknown.
        StatisticsError: As `mean_ci`.

    Under `union` the coverage is at least 1 - alpha, as far as each component covers and the radius is large enough.
    `independent` is approximate; `leakscale lab transport` prints what it covers.

    Source: METHODS 2.4, 2.5 and 13.8. Paper: `component="wald"`, `combine="union"`, `control="wald"`.
    """
    rho = parameters.radius(rho, "rho")
    parts = Components.of(
        _gaps(gaps),
        design,
        _gaps(control_gaps),
        alpha=alpha,
        component=component,
        control=control or ("betting" if component == "betting" else "wald"),
        combine=combine,
        bound=bound,
    )
    below, above = parts.distances
    is_point = below + above + rho == 0
    return Interval(
        estimate=parts.estimate,
        low=parts.estimate - below - rho,
        high=parts.estimate + above + rho,
        standard_error=None if is_point else parts.standard_error,
        method=f"{parts.method} at rho {rho:g}",
        alpha=parts.alpha,
        state=IntervalState.ASSUMED if is_point and not parts.is_degenerate else parts.state,
    )


@dataclass(frozen=True, slots=True)
class SensitivityCurve:
    """The interval at each radius of a grid."""

    rhos: tuple[float, ...]
    intervals: tuple[Interval, ...]

    @property
    def method(self) -> str:
        """Name the construction, whatever the radius."""
        return self.intervals[0].method.partition(" at rho ")[0]

    def to_dict(self) -> dict[str, object]:
        """Return radii and intervals as JSON-ready values."""
        pairs = zip(self.rhos, self.intervals, strict=True)
        return {"method": self.method, "curve": [{"rho": rho, **interval.to_dict()} for rho, interval in pairs]}

    def __str__(self) -> str:
        parts = [
            f"rho {rho:g}: {interval.bounds_text}" for rho, interval in zip(self.rhos, self.intervals, strict=True)
        ]
        return f"exposure-related part in points, {'; '.join(parts)}"


def sensitivity_curve(
    gaps: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    control_gaps: Gaps | ArrayLike,
    *,
    rhos: Iterable[float] = RHO_GRID,
    alpha: float = 0.05,
    component: str = "primary",
    combine: str = "union",
    control: str | None = None,
    bound: str = "hoeffding",
) -> SensitivityCurve:
    """Bound the exposure-related part over a grid of radii; arguments and errors as `sensitivity_interval`.

    Raises:
        ParameterError: If the grid is empty, or a radius is no finite number from 0.
    """
    radii = tuple(parameters.radius(rho, "rho") for rho in rhos)
    if not radii:
        raise ParameterError("the grid of radii is empty; pass at least one, e.g. RHO_GRID")
    audited, bank = _gaps(gaps), _gaps(control_gaps)
    intervals = tuple(
        sensitivity_interval(
            audited,
            design,
            bank,
            rho=rho,
            alpha=alpha,
            component=component,
            combine=combine,
            control=control,
            bound=bound,
        )
        for rho in radii
    )
    return SensitivityCurve(radii, intervals)


@dataclass(frozen=True, slots=True)
class BreakdownRadius:
    """How wrong the transport assumption may be before the exclusion of zero breaks down."""

    radius: float
    """Least radius at which the sensitivity interval reaches zero; 0 if it excludes nothing at radius 0 already."""
    interval: Interval
    """The sensitivity interval at radius 0."""

    @property
    def method(self) -> str:
        """Name the construction of the interval."""
        return f"breakdown of {self.interval.method}"

    def to_dict(self) -> dict[str, object]:
        """Return radius and interval as JSON-ready values."""
        return {"radius": self.radius, "method": self.method, "interval": self.interval.to_dict()}

    def __str__(self) -> str:
        if self.interval.is_degenerate:
            return f"the exposure-related part has no breakdown radius ({self.interval.bounds_text})"
        if self.radius == 0:
            return "the exposure-related part cannot be told from zero, even at radius 0"
        side = "above" if self.interval.low > 0 else "below"
        return f"the exposure-related part stays {side} zero up to a transport radius of {self.radius:.3f}"


def breakdown_radius(
    gaps: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    control_gaps: Gaps | ArrayLike,
    *,
    alpha: float = 0.05,
    component: str = "primary",
    combine: str = "union",
    control: str | None = None,
    bound: str = "hoeffding",
) -> BreakdownRadius:
    """Find the radius that undoes the exclusion of zero: max(0, L_gap - U_control), or its mirror below zero.

    Arguments and errors as `sensitivity_interval`. Source: METHODS 13.8.
    """
    zero = sensitivity_interval(
        gaps,
        design,
        control_gaps,
        rho=0.0,
        alpha=alpha,
        component=component,
        combine=combine,
        control=control,
        bound=bound,
    )
    return BreakdownRadius(max(zero.low, -zero.high) if zero.excludes(0) else 0.0, zero)


def _gaps(gaps: Gaps | ArrayLike) -> Gaps:
    return gaps if isinstance(gaps, Gaps) else Gaps.of(gaps)
