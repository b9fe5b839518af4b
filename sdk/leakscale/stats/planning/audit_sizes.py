"""Which size of audit sees an effect.

An audit declares an advantage when its primary interval lies above zero. With half-width h and standard error se that
happens, for a true advantage d, with probability about Phi((d - h) / se).

Source: METHODS 8.3 and 13.9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.special import bdtrc, ndtr

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import NoInformationError, ParameterError, UnsupportedMethodError
from leakscale.stats.gaps import Gaps
from leakscale.stats.mean_intervals import mean_half_width
from leakscale.stats.mean_intervals.guardrails import require_bound

__all__ = ["AuditSize", "approximate_power", "size_for"]

_WALD = "wald_fpc"


@dataclass(frozen=True, slots=True)
class AuditSize:
    """The smallest audit that declares an advantage with a given power."""

    parent_count: int
    power: float
    """Power that this size has, at least the one asked for."""
    advantage: float
    primary: str
    """Method of the interval that is expected to be primary at this size."""
    alpha: float

    @property
    def method(self) -> str:
        """Name the formula."""
        return f"Phi((advantage - half-width) / se), {self.primary}"

    def to_dict(self) -> dict[str, float | int | str]:
        """Return the fields as JSON-ready values."""
        return {
            "parent_count": self.parent_count,
            "power": self.power,
            "advantage": self.advantage,
            "primary": self.primary,
            "alpha": self.alpha,
            "method": self.method,
        }

    def __str__(self) -> str:
        return (
            f"{self.parent_count} parents declare {100 * self.advantage:g} points with probability {self.power:.2f} "
            f"({self.primary})"
        )


def approximate_power(
    pilot: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    *,
    n: int,
    advantage: float,
    bound: str = "hoeffding",
    min_parents: int = 200,
    min_nonzero: int = 30,
    alpha: float = 0.05,
) -> float:
    """Return about how often an audit of n parents declares an advantage under the registered rule.

    Phi((advantage - h) / se), averaged over the chance that the guardrail fires. The pilot gives the variance and the
    share of nonzero gaps, to which the planted parents are added, and not its mean.

    Args:
        bound: What the guardrail falls back to; a method with a formula. `detection_rate` simulates the others.

    Raises:
        NoInformationError: If neither pilot nor advantage makes the gaps vary.
        ParameterError, DesignError: As `detection_rate`.
        UnsupportedMethodError: If the bound has no formula, or the design has strata.
    """
    plan = _Plan.of(
        pilot,
        design,
        advantage=advantage,
        bound=bound,
        min_parents=min_parents,
        min_nonzero=min_nonzero,
        alpha=alpha,
    )
    n = parameters.count(n, "n", 1)
    design.require_sample(n)
    return plan.power(n)


def size_for(
    pilot: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    *,
    advantage: float,
    power: float = 0.8,
    bound: str = "hoeffding",
    min_parents: int = 200,
    min_nonzero: int = 30,
    alpha: float = 0.05,
) -> AuditSize:
    """Find the smallest audit with the given power against an advantage, by `approximate_power`.

    Raises:
        ParameterError: If advantage or power is out of range, or no audit below ten million parents has the power.
        StatisticsError: As `approximate_power`.
    """
    power, advantage = parameters.level(power, "power"), parameters.tolerance(advantage, "advantage")
    if power < 0.5:
        raise ParameterError(f"power is {power:g}; an audit is planned for a power from 0.5 to below 1, e.g. 0.8")
    plan = _Plan.of(
        pilot,
        design,
        advantage=advantage,
        bound=bound,
        min_parents=min_parents,
        min_nonzero=min_nonzero,
        alpha=alpha,
    )
    largest = min(design.population_size or _PARENTS_MAX, _PARENTS_MAX)
    if plan.power(largest) < power:
        raise ParameterError(
            f"no audit below {_PARENTS_MAX:,} parents has power {power} against {advantage}; ask for less"
        )
    n = _first_reaching(power, plan.power, 2, largest)
    return AuditSize(n, plan.power(n), advantage, plan.primary(n), plan.alpha)


_PARENTS_MAX = 10**7


@dataclass(frozen=True, slots=True)
class _Plan:
    """An audit in planning: what its gaps will look like, and the rule that will be applied to them."""

    variance: float
    nonzero_share: float
    population_size: int | None
    advantage: float
    bound: str
    min_parents: int
    min_nonzero: int
    alpha: float

    @classmethod
    def of(
        cls,
        pilot: Gaps | ArrayLike,
        design: FinitePopulationDesign,
        *,
        advantage: float,
        bound: str,
        min_parents: int,
        min_nonzero: int,
        alpha: float,
    ) -> _Plan:
        require_bound(bound)
        advantage, alpha = parameters.number(advantage, "advantage"), parameters.level(alpha)
        min_parents = parameters.count(min_parents, "min_parents")
        min_nonzero = parameters.count(min_nonzero, "min_nonzero")
        if design.strata is not None:
            raise UnsupportedMethodError("power is planned for simple random samples; leave the strata out")
        sample = pilot if isinstance(pilot, Gaps) else Gaps.of(pilot)
        nonzero = sample.nonzero_count / sample.count
        if not 0 <= advantage <= 1 - nonzero:
            raise ParameterError(
                f"advantage is {advantage}; it lies between 0 and the pilot's share of zero gaps, {1 - nonzero:.3f}"
            )
        # Planted gaps are 1 where they were 0: the mean square grows by the advantage, the mean by as much.
        variance = (sample.variance or 0.0) + advantage - 2 * sample.mean * advantage - advantage**2
        if not variance > 0:
            raise NoInformationError("neither pilot nor advantage makes the gaps vary; pass a pilot with some gaps")
        return cls(
            variance, nonzero + advantage, design.population_size, advantage, bound, min_parents, min_nonzero, alpha
        )

    def primary(self, n: int) -> str:
        """Name the interval that most audits of this size will have as primary."""
        return _WALD if self._wald_share(n) >= 0.5 else self.bound

    def power(self, n: int) -> float:
        """Average the power of either interval over the chance that it is the primary one."""
        if n == self.population_size:
            return 1.0 if self.advantage > 0 else 0.0
        share = self._wald_share(n)
        return share * self._power_with(_WALD, n) + (1 - share) * self._power_with(self.bound, n)

    def _wald_share(self, n: int) -> float:
        """Return the share of audits on which the guardrail does not fire; the count of nonzero gaps is binomial."""
        if n == self.population_size or self.min_nonzero == 0:
            return float(n == self.population_size or n >= self.min_parents)
        if n < max(self.min_parents, self.min_nonzero):
            return 0.0
        return float(bdtrc(self.min_nonzero - 1, n, min(1.0, self.nonzero_share)))

    def _power_with(self, method: str, n: int) -> float:
        half_width = mean_half_width(
            method, n=n, population_size=self.population_size, variance=self.variance, alpha=self.alpha
        )
        unsampled = 1.0 if self.population_size is None else 1 - n / self.population_size
        return float(ndtr((self.advantage - half_width) / math.sqrt(unsampled * self.variance / n)))


def _first_reaching(target: float, power: Callable[[int], float], low: int, high: int) -> int:
    """Return the least n whose power reaches a target of at least 1/2; from there on power rises with n.

    As n grows, half-widths and standard error fall, and the guardrail fires less often.
    """
    while low < high:
        middle = (low + high) // 2
        if power(middle) >= target:
            high = middle
        else:
            low = middle + 1
    return low
