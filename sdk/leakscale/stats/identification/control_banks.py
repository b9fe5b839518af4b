"""How much a control bank can bear: three readings of its uncertainty, and the size it should have had.

The paper's banks hold 40 and 60 parents against 200 audited ones, and their uncertainty decides the width of every
sensitivity interval. Its design rule: a control bank is at least as large as the audit, and its size follows from the
precision that the audit is after.

Source: CleanScore 7.4 and Table 5; METHODS 2.5 and 2.7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import NoInformationError, ParameterError
from leakscale.stats.gaps import Gaps
from leakscale.stats.identification.sensitivity import RHO_HEADLINE, sensitivity_interval
from leakscale.stats.intervals import Interval
from leakscale.stats.mean_intervals import mean_half_width

__all__ = ["ControlBankSize", "ControlReadings", "control_bank_size_for", "control_readings"]

READINGS = ("wald", "guardrail", "fixed")


@dataclass(frozen=True, slots=True)
class ControlReadings:
    """The sensitivity interval under each reading of the control bank."""

    intervals: Mapping[str, Interval]
    """By reading: `wald` (registered), `guardrail` and `fixed`."""
    rho: float

    @property
    def agree(self) -> bool | None:
        """Tell whether all readings say the same about zero; None where one of them can say nothing."""
        if any(interval.is_degenerate for interval in self.intervals.values()):
            return None
        return len({interval.excludes(0) for interval in self.intervals.values()}) == 1

    @property
    def method(self) -> str:
        """Name the readings."""
        return f"control readings {', '.join(self.intervals)} at rho {self.rho:g}"

    def to_dict(self) -> dict[str, object]:
        """Return the intervals and whether they agree as JSON-ready values."""
        intervals = {reading: interval.to_dict() for reading, interval in self.intervals.items()}
        return {"method": self.method, "rho": self.rho, "agree": self.agree, "intervals": intervals}

    def __str__(self) -> str:
        parts = [f"{name} {one.bounds_text}" for name, one in self.intervals.items()]
        verdict = {True: "agree", False: "disagree", None: "cannot be compared"}[self.agree]
        return f"exposure-related part in points: {'; '.join(parts)}; the readings {verdict} about zero"


def control_readings(
    gaps: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    control_gaps: Gaps | ArrayLike,
    *,
    rho: float = RHO_HEADLINE,
    alpha: float = 0.05,
    component: str = "primary",
    bound: str = "hoeffding",
) -> ControlReadings:
    """Read the control bank in three ways: as Wald, by the guardrail's own standard, and as if it were known.

    An exclusion of zero under `fixed` alone is no finding: it comes from the noise of the bank. `fixed` has one
    interval to cover, so that interval gets the whole alpha.

    Arguments and errors as `sensitivity_interval`.
    """
    rho = parameters.radius(rho, "rho")
    intervals = {
        reading: sensitivity_interval(
            gaps, design, control_gaps, rho=rho, alpha=alpha, component=component, control=reading, bound=bound
        )
        for reading in READINGS
    }
    return ControlReadings(intervals, rho)


@dataclass(frozen=True, slots=True)
class ControlBankSize:
    """How many control parents a target precision takes."""

    parent_count: int
    half_width: float
    """Half-width of the control gap that a bank of this size is expected to give."""
    target_half_width: float
    alpha: float
    method: str
    is_set_by_audit: bool
    """True where the precision would need fewer parents than the audit has, and the audit's size decides."""

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "parent_count": self.parent_count,
            "half_width": self.half_width,
            "target_half_width": self.target_half_width,
            "alpha": self.alpha,
            "method": self.method,
            "is_set_by_audit": self.is_set_by_audit,
        }

    def __str__(self) -> str:
        reason = "the size of the audit" if self.is_set_by_audit else f"a half-width of {self.target_half_width:.3f}"
        return f"{self.parent_count} control parents for {reason}; expected half-width {self.half_width:.3f}"


def control_bank_size_for(
    half_width: float,
    *,
    pilot: Gaps | ArrayLike,
    audit_parents: int = 1,
    alpha: float = 0.05,
    method: str = "wald_fpc",
) -> ControlBankSize:
    """Find the smallest control bank whose expected half-width is at most the audit's.

    Args:
        half_width: Half-width that the control gap may have, e.g. that of the audited gap.
        pilot: Gaps that are as variable as the bank's will be: an earlier bank, or the audit itself.
        audit_parents: Parents of the audit; the bank is never smaller.
        alpha: Level of the control interval; alpha / 2 of the whole under `union`.
        method: A method of `mean_ci` with a formula; there is no finite population to correct for.

    Raises:
        NoInformationError: If the pilot shows no variation, which says nothing about that of a larger bank.
        ParameterError: If the half-width is not above 0, or no bank below ten million parents reaches it.
        UnsupportedMethodError: If the method has no formula.

    Source: METHODS 2.7.
    """
    sample = pilot if isinstance(pilot, Gaps) else Gaps.of(pilot)
    half_width, alpha = parameters.tolerance(half_width, "half_width"), parameters.level(alpha)
    audit_parents = parameters.count(audit_parents, "audit_parents")
    if not sample.variance:
        raise NoInformationError("the pilot gaps do not vary; pass gaps of a bank in which some parent has a gap")
    variance = sample.variance

    def expected(n: int) -> float:
        return mean_half_width(method, n=n, population_size=None, variance=variance, alpha=alpha)

    # Rounding must not ask for one parent more than the audit whose half-width is the target.
    needed = _first_at_most(half_width * (1 + 1e-12), expected)
    count = max(needed, audit_parents)
    return ControlBankSize(count, expected(count), half_width, alpha, method, is_set_by_audit=count > needed)


_PARENTS_MAX = 10**7


def _first_at_most(target: float, expected: Callable[[int], float]) -> int:
    """Return the least n from 2 whose half-width is at most the target; half-widths fall as n grows."""
    if expected(_PARENTS_MAX) > target:
        raise ParameterError(f"no bank below {_PARENTS_MAX:,} parents has a half-width of {target}; ask for less")
    low, high = 2, _PARENTS_MAX
    while low < high:
        middle = (low + high) // 2
        if expected(middle) <= target:
            high = middle
        else:
            low = middle + 1
    return low
