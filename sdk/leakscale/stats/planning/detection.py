"""How often a rule detects an advantage that was planted into a pilot bank.

The pilot's gaps are blown up to a benchmark of the right size, and an advantage is planted where exposure to a public
form puts it: parents without a gap, right on every form or wrong on every form, become right on the public form only
(gap +1). This keeps the variance of the bank and its concentration at zero, which a normal model has not. Audits are
then drawn as real ones are, without replacement and in random order.

Source: CleanScore 7.9; METHODS 8.3, whose open points are settled so: the benchmark holds each gap value as often as
the pilot does, to the nearest parent; the planted advantage is exact; and an audit is a sample of that benchmark. The
paper draws audits with replacement and corrects their intervals for sampling without, which lets an audit of most of a
benchmark stray farther than it can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import ParameterError, SeedRequiredError, UnsupportedMethodError
from leakscale.stats.gaps import Gaps
from leakscale.stats.mean_intervals import MEAN_METHODS, mean_bounds
from leakscale.stats.mean_intervals.guardrails import guardrail_bounds
from leakscale.stats.planning.drawing import AUDIT_MAX, chunked, drawn_counts, shuffled, simulation_error

__all__ = ["RULES", "DetectionRate", "detection_rate", "planted_samples"]

GUARDRAIL = "guardrail"
RULES = (GUARDRAIL, *MEAN_METHODS)
"""What decides: the whole registered rule, or one interval by itself."""


@dataclass(frozen=True, slots=True)
class DetectionRate:
    """How many simulated audits declared the planted advantage."""

    advantage: float
    """Planted advantage as a share."""
    n: int
    """Parents of each audit."""
    detected: int
    """Audits whose interval lies above zero."""
    replicates: int
    method: str

    @property
    def rate(self) -> float:
        """Share of the audits that detected it."""
        return self.detected / self.replicates

    @property
    def standard_error(self) -> float:
        """Simulation error of the rate; with Laplace's two added audits, so that it is never zero."""
        return simulation_error(self.detected, self.replicates)

    def to_dict(self) -> dict[str, float | int | str]:
        """Return counts, rate and settings as JSON-ready values."""
        return {
            "advantage": self.advantage,
            "n": self.n,
            "detected": self.detected,
            "replicates": self.replicates,
            "rate": self.rate,
            "standard_error": self.standard_error,
            "method": self.method,
        }

    def __str__(self) -> str:
        return (
            f"{100 * self.advantage:g} points are detected in {100 * self.rate:.1f} % of audits of {self.n} parents "
            f"({self.method})"
        )


def detection_rate(
    pilot: Gaps | ArrayLike,
    design: FinitePopulationDesign,
    *,
    n: int,
    advantage: float,
    rule: str = GUARDRAIL,
    bound: str = "hoeffding",
    min_parents: int = 200,
    min_nonzero: int = 30,
    replicates: int = 2_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> DetectionRate:
    """Simulate audits of n parents with a planted advantage and count those whose interval lies above zero.

    Args:
        pilot: Observed gaps; their mean stays in, so a pilot with an advantage of its own adds to the planted one.
        design: The benchmark that audits are drawn from, without strata.
        n: Parents of each audit.
        advantage: Planted advantage as a share, from 0 to the pilot's share of zero gaps.
        rule: One of `RULES`; `guardrail` is the registered rule.
        bound: What the guardrail falls back to.
        min_parents, min_nonzero: Thresholds of the guardrail.
        replicates: Audits to simulate.
        seed: Of the audits; required.
        alpha: Level of the interval.

    Raises:
        DesignError: If the benchmark has fewer than n parents.
        ParameterError: If the advantage cannot be planted, or n, replicates or alpha is out of range.
        SeedRequiredError: If there is no seed.
        UnsupportedMethodError: If the rule does not exist, or the design has strata.
    """
    if rule not in RULES:
        raise UnsupportedMethodError(f"rule {rule!r} is not one of {', '.join(RULES)}")
    if seed is None:
        raise SeedRequiredError("a simulated detection rate needs a seed; pass `seed=`")
    n, replicates = parameters.count(n, "n", 1, AUDIT_MAX), parameters.count(replicates, "replicates", 1)
    min_parents = parameters.count(min_parents, "min_parents")
    min_nonzero = parameters.count(min_nonzero, "min_nonzero")
    advantage, alpha = parameters.number(advantage, "advantage"), parameters.level(alpha)
    rng, _ = parameters.seeded(seed)
    sample = pilot if isinstance(pilot, Gaps) else Gaps.of(pilot)
    detected = 0
    for count in chunked(replicates, n):
        audits = planted_samples(sample, design, n=n, advantage=advantage, replicates=count, rng=rng)
        if rule == GUARDRAIL:
            found = guardrail_bounds(
                audits,
                sample.denominator,
                design,
                bound=bound,
                min_parents=min_parents,
                min_nonzero=min_nonzero,
                alpha=alpha,
            )
        else:
            found = mean_bounds(audits, sample.denominator, design, method=rule, alpha=alpha)
        detected += found.above_zero_count
    name = f"guardrail({bound}, {min_parents}, {min_nonzero})" if rule == GUARDRAIL else rule
    return DetectionRate(advantage, n, detected, replicates, name)


def planted_samples(
    pilot: Gaps,
    design: FinitePopulationDesign,
    *,
    n: int,
    advantage: float,
    replicates: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Plant an advantage into a benchmark made of a pilot's gaps, and draw audits from it.

    Returns:
        Numerators over the pilot's denominator, shape (replicates, n), each row in random order.

    Raises:
        DesignError: If the benchmark has fewer than n parents.
        ParameterError: If the pilot has too few zero gaps to hold the advantage.
    """
    values, shares = _planted_law(pilot, advantage)
    return shuffled(values, drawn_counts(shares, design, n=n, replicates=replicates, rng=rng), rng)


def _planted_law(pilot: Gaps, advantage: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the distinct gaps, zero and one among them, and their shares after planting."""
    room = 1 - pilot.nonzero_count / pilot.count
    if not 0 <= advantage <= room:
        raise ParameterError(
            f"an advantage of {advantage} cannot be planted; it lies between 0 and the pilot's share of zero gaps, "
            f"{room:.3f}"
        )
    values, places = np.unique(np.concatenate((pilot.numerators, [0, pilot.denominator])), return_inverse=True)
    shares = np.bincount(places[:-2], minlength=values.size) / pilot.count
    shares[values == 0] = max(0.0, room - advantage)
    shares[values == pilot.denominator] += advantage
    return values, shares / shares.sum()
