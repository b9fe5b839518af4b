"""The registered claim rule: when an audit may say that it found an advantage of the public form.

    claim an exposure-consistent advantage of the public form if and only if
        the primary interval of the mean gap lies above zero, and
        the sensitivity interval at the headline radius lies above zero.

Source: CleanScore 7.1 and 7.4; METHODS 2.6.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from numpy.typing import ArrayLike

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.gaps import Gaps
from leakscale.stats.identification.sensitivity import RHO_HEADLINE, sensitivity_interval
from leakscale.stats.intervals import Interval
from leakscale.stats.mean_intervals.guardrails import Guardrail, guardrail

__all__ = ["Claim", "ClaimVerdict", "claim_rule"]


class ClaimVerdict(enum.StrEnum):
    """What the rule allows to be said."""

    ADVANTAGE = "advantage"
    """The public form is easier by more than sampling, ordinary form mismatch and the radius explain."""
    GAP_ONLY = "gap_only"
    """The public form is easier, but ordinary form mismatch within the radius explains it."""
    NONE = "none"
    """No advantage of the public form was shown. It is not shown to be absent either: read the interval."""
    REVERSED = "reversed"
    """The fresh forms are easier. Exposure does not do that; look at the forms."""


_WORDS = {
    ClaimVerdict.ADVANTAGE: "exposure-consistent advantage of the public form",
    ClaimVerdict.GAP_ONLY: "a gap, but none that exceeds ordinary form mismatch",
    ClaimVerdict.NONE: "no advantage of the public form shown",
    ClaimVerdict.REVERSED: "the fresh forms are easier; check them",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """What may be claimed, and the two intervals that decide it."""

    verdict: ClaimVerdict
    gap: Guardrail
    """The mean gap; its primary interval is the first condition."""
    exposure: Interval
    """The part owed to exposure at the headline radius: the second condition."""
    rho: float

    @property
    def is_claimed(self) -> bool:
        """Tell whether the rule fired."""
        return self.verdict is ClaimVerdict.ADVANTAGE

    @property
    def method(self) -> str:
        """Name the rule."""
        return f"claim({self.gap.method}; {self.exposure.method})"

    def to_dict(self) -> dict[str, object]:
        """Return verdict and intervals as JSON-ready values."""
        return {
            "verdict": self.verdict.value,
            "is_claimed": self.is_claimed,
            "rho": self.rho,
            "method": self.method,
            "gap": self.gap.to_dict(),
            "exposure": self.exposure.to_dict(),
        }

    def __str__(self) -> str:
        return f"{_WORDS[self.verdict]}: gap {self.gap.primary}, exposure-related part {self.exposure}"


def claim_rule(
    gaps: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    control_gaps: Gaps | ArrayLike,
    *,
    rho: float = RHO_HEADLINE,
    alpha: float = 0.05,
    component: str = "primary",
    combine: str = "union",
    control: str | None = None,
    bound: str = "hoeffding",
) -> Claim:
    """Apply the claim rule to an audit and its control bank.

    Both conditions use the guardrail's bound unless `component` says otherwise: the paper registered Wald for the
    second one throughout, which makes a claim easiest where Wald covers worst, and recommends this form instead.

    Arguments and errors as `sensitivity_interval`; a degenerate interval never supports a claim.
    """
    rho = parameters.radius(rho, "rho")
    gap = guardrail(gaps, design, bound=bound, alpha=alpha)
    exposure = sensitivity_interval(
        gaps,
        design,
        control_gaps,
        rho=rho,
        alpha=alpha,
        component=component,
        combine=combine,
        control=control,
        bound=bound,
    )
    return Claim(_verdict(gap.primary, exposure), gap, exposure, rho)


def _verdict(gap: Interval, exposure: Interval) -> ClaimVerdict:
    if not gap.excludes(0):
        return ClaimVerdict.NONE
    if gap.high < 0:
        return ClaimVerdict.REVERSED
    return ClaimVerdict.ADVANTAGE if exposure.excludes(0) and exposure.low > 0 else ClaimVerdict.GAP_ONLY
