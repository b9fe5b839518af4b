"""The relabelling test beside the interval: what it rejects of a planted advantage, and what without any.

The test sees much at budgets at which the interval sees nothing, and it says less. Its null is a joint one, no exposure
and no form mismatch, so that a mismatch alone makes it reject. `compare_detection` shows the first, with the same
audits put to both; `false_rejection_rate` the second, on audits without exposure.

Source: CleanScore 7.10, Tables 12 and 13, Figure 10; METHODS 3.3 and 3.4, whose open point, the penalty, is settled so:
each right answer to a fresh form is lost by chance, independently, until fresh accuracy has fallen by the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import ParameterError
from leakscale.stats.mean_intervals.guardrails import guardrail_bounds
from leakscale.stats.planning.drawing import AUDIT_MAX, chunked, drawn_counts, shuffled, simulation_error
from leakscale.stats.relabelling.patterns import Patterns
from leakscale.stats.significance import Alternative

__all__ = ["DetectionComparison", "FalseRejectionRate", "compare_detection", "false_rejection_rate"]


@dataclass(frozen=True, slots=True)
class DetectionComparison:
    """How many simulated audits the registered interval detects, and how many the relabelling test rejects."""

    advantage: float
    """Planted advantage as a share."""
    n: int
    """Parents of each audit."""
    detected: int
    """Audits whose interval lies above zero."""
    rejected: int
    """Audits that the test rejects with the public form ahead; no detection, because the null is a joint one."""
    replicates: int
    alternative: str
    """Of the test."""
    method: str
    """Rule of the interval."""

    @property
    def detection_rate(self) -> float:
        """Share of the audits that the interval detected."""
        return self.detected / self.replicates

    @property
    def rejection_rate(self) -> float:
        """Share of the audits that the test rejected upwards."""
        return self.rejected / self.replicates

    def to_dict(self) -> dict[str, float | int | str]:
        """Return counts, rates and settings as JSON-ready values."""
        return {
            "advantage": self.advantage,
            "n": self.n,
            "detected": self.detected,
            "rejected": self.rejected,
            "replicates": self.replicates,
            "detection_rate": self.detection_rate,
            "rejection_rate": self.rejection_rate,
            "alternative": self.alternative,
            "method": self.method,
        }

    def __str__(self) -> str:
        return (
            f"of {100 * self.advantage:g} points in audits of {self.n} parents {self.method} detects "
            f"{100 * self.detection_rate:.1f} %, the {self.alternative} relabelling test rejects "
            f"{100 * self.rejection_rate:.1f} %"
        )


@dataclass(frozen=True, slots=True)
class FalseRejectionRate:
    """How many simulated audits without any exposure the relabelling test rejected."""

    penalty: float
    """By which fresh forms are harder, as a share; 0: forms are exchangeable, and the rate is the test's level."""
    n: int
    """Parents of each audit."""
    rejected: int
    """Audits with a p-value of at most `alpha`, on whichever side the alternative counts."""
    replicates: int
    alternative: str
    alpha: float

    @property
    def rate(self) -> float:
        """Share of the audits that were rejected."""
        return self.rejected / self.replicates

    @property
    def standard_error(self) -> float:
        """Simulation error of the rate; with Laplace's two added audits, so that it is never zero."""
        return simulation_error(self.rejected, self.replicates)

    def to_dict(self) -> dict[str, float | int | str]:
        """Return counts, rate and settings as JSON-ready values."""
        return {
            "penalty": self.penalty,
            "n": self.n,
            "rejected": self.rejected,
            "replicates": self.replicates,
            "rate": self.rate,
            "standard_error": self.standard_error,
            "alternative": self.alternative,
            "alpha": self.alpha,
        }

    def __str__(self) -> str:
        return (
            f"without exposure, and {100 * self.penalty:g} points of form mismatch, {100 * self.rate:.1f} % of audits "
            f"of {self.n} parents are rejected at {self.alpha:g} ({self.alternative})"
        )


def compare_detection(
    correct: ArrayLike,
    design: FinitePopulationDesign,
    *,
    n: int,
    advantage: float,
    bound: str = "hoeffding",
    min_parents: int = 200,
    min_nonzero: int = 30,
    alternative: str = "two-sided",
    replicates: int = 2_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> DetectionComparison:
    """Plant an advantage as `detection_rate` does, and put the same audits to the interval and to the relabelling test.

    Args:
        correct: Right/wrong scores of a pilot, shape (parents, 1 + K), column 0 the original; NaN marks a missing form.
            The pilot's own gap stays in.
        design: The benchmark that audits are drawn from, without strata.
        n: Parents of each audit.
        advantage: As a share, from 0 to the pilot's share of parents whose forms are all right or all wrong.
        bound: What the guardrail falls back to.
        min_parents, min_nonzero: Thresholds of the guardrail.
        alternative: Of the test.
        replicates: Audits to simulate.
        seed: Of the audits; required.
        alpha: Level of interval and test.

    Raises:
        DesignError: If the benchmark has fewer than n parents.
        ParameterError: If the advantage cannot be planted, or n, replicates or alpha is out of range.
        SeedRequiredError: If there is no seed.
        UnsupportedMethodError: If the scores are graded, the bound does not exist, or the design has strata.
    """
    n, replicates = parameters.count(n, "n", 1, AUDIT_MAX), parameters.count(replicates, "replicates", 1)
    advantage, alpha = parameters.number(advantage, "advantage"), parameters.level(alpha)
    side = Alternative.of(alternative)
    rng, _ = parameters.seeded(seed)
    pilot = _planted(Patterns.of(correct), advantage)
    gaps, detected, rejected = pilot.gaps, 0, 0
    for count in chunked(replicates, n):
        audits = drawn_counts(pilot.shares, design, n=n, replicates=count, rng=rng)
        detected += guardrail_bounds(
            shuffled(gaps, audits, rng),
            pilot.denominator,
            design,
            bound=bound,
            min_parents=min_parents,
            min_nonzero=min_nonzero,
            alpha=alpha,
        ).above_zero_count
        rejected += int(((pilot.p_values(audits, side) <= alpha) & (audits @ gaps > 0)).sum())
    return DetectionComparison(
        advantage,
        n,
        detected,
        rejected,
        replicates,
        str(side),
        f"guardrail({bound}, {min_parents}, {min_nonzero})",
    )


def false_rejection_rate(
    correct: ArrayLike,
    *,
    n: int,
    penalty: float = 0.0,
    alternative: str = "two-sided",
    replicates: int = 2_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> FalseRejectionRate:
    """Simulate audits without exposure, with fresh forms that are harder by a penalty, and count rejections.

    Parents are drawn from the pilot with replacement, and any of a parent's forms is its original: that takes every
    exposure out, and every mismatch. Then fresh answers are lost.

    Args:
        correct: Right/wrong scores of a pilot, as for `compare_detection`.
        n: Parents of each audit.
        penalty: As a share, from 0 to the pilot's accuracy.
        alternative: Of the test.
        replicates: Audits to simulate.
        seed: Of the audits; required.
        alpha: Level of the test.

    Raises:
        ParameterError: If the penalty exceeds the accuracy, or n, replicates or alpha is out of range.
        SeedRequiredError: If there is no seed.
        UnsupportedMethodError: If the scores are graded.
    """
    n, replicates = parameters.count(n, "n", 1, AUDIT_MAX), parameters.count(replicates, "replicates", 1)
    penalty, alpha = parameters.number(penalty, "penalty", 0, 1), parameters.level(alpha)
    side = Alternative.of(alternative)
    rng, _ = parameters.seeded(seed)
    pilot = _penalized(Patterns.of(correct), penalty)
    audits = rng.multinomial(n, pilot.shares, replicates)
    rejected = int((pilot.p_values(audits, side) <= alpha).sum())
    return FalseRejectionRate(penalty, n, rejected, replicates, str(side), alpha)


def _planted(pilot: Patterns, advantage: float) -> Patterns:
    """Let a share of parents whose forms are all alike be right on the public form only."""
    alike = (pilot.right == 0) | (pilot.right == pilot.forms)
    room = round(float(pilot.shares[alike].sum()), 12)
    if not 0 <= advantage <= room:
        raise ParameterError(
            f"an advantage of {advantage} cannot be planted; it lies between 0 and the pilot's share of parents whose "
            f"forms are all right or all wrong, {room:.3f}"
        )
    moved = np.where(alike, pilot.shares * (advantage / room if room else 0.0), 0.0)
    kept = np.stack([pilot.forms, pilot.right, pilot.originals], axis=1)
    planted = np.stack([pilot.forms, np.ones_like(pilot.right), np.ones_like(pilot.right)], axis=1)
    return Patterns.counted(
        np.concatenate([kept, planted]), np.concatenate([np.maximum(0.0, pilot.shares - moved), moved])
    )


def _penalized(pilot: Patterns, penalty: float) -> Patterns:
    """Exchange the forms of each parent, then lose right fresh answers, each with the same probability."""
    accuracy = pilot.accuracy
    if penalty > accuracy:
        raise ParameterError(
            f"a penalty of {penalty:g} cannot be taken from an accuracy of {accuracy:.3f}; pass a smaller one"
        )
    kept = 1 - penalty / accuracy if penalty else 1.0
    rows: list[NDArray[np.int64]] = []
    shares: list[NDArray[np.float64]] = []
    for original in (0, 1):
        fresh = pilot.right - original
        chance = pilot.shares * np.where(original, pilot.right, pilot.forms - pilot.right) / pilot.forms
        for left in range(int(pilot.right.max()) + 1):
            reached = (chance > 0) & (fresh >= left)
            ways = comb(fresh[reached], left) * kept**left * (1 - kept) ** (fresh[reached] - left)
            right = np.full(int(reached.sum()), left + original)
            rows.append(np.stack([pilot.forms[reached], right, np.full_like(right, original)], axis=1))
            shares.append(chance[reached] * ways)
    return Patterns.counted(np.concatenate(rows), np.concatenate(shares))
