"""Two training conditions compared seed by seed, where the trained run is the unit of analysis.

A run is one number, the public-form advantage of one trained model. Runs of the same seed are paired, because they
share order and initialization, so the differences are the observations: ten seeds are ten, however many parents each
run was scored on.

Source: CleanScore 5 (Table 1, Figure 3); METHODS 5. The paper leaves the interval open; here it is Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from leakscale.stats import parameters
from leakscale.stats.errors import EmptyCellError, EnumerationError, PairingError
from leakscale.stats.intervals import Interval, IntervalState

__all__ = ["SeedContrast", "seed_contrast"]

_SEEDS_MAX = 20
"""Two to this power sign patterns take 8 MiB."""
_TIE = 1e-12
"""Relative to the sum of absolute differences: sums this close count as equal, so that ties survive decimal input."""


@dataclass(frozen=True, slots=True)
class SeedContrast:
    """The mean difference over seeds, with a t interval and an exact sign-flip test."""

    difference: Interval
    """Mean of the differences, in [-2, 2]."""
    by_seed: Mapping[str, float]
    """First less second condition under each seed."""
    standard_deviation: float | None
    """Of the differences; None for one seed."""
    positive_count: int
    p_value: float
    """Two-sided: sign patterns whose mean is at least as far from zero, over all patterns; never below 2^(1 - n)."""
    pattern_count: int
    """All sign patterns, 2^n."""
    method: str = "mean of paired differences, Student's t; exact sign flips"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "difference": self.difference.to_dict(),
            "by_seed": {str(seed): difference for seed, difference in self.by_seed.items()},
            "standard_deviation": self.standard_deviation,
            "positive_count": self.positive_count,
            "p_value": self.p_value,
            "pattern_count": self.pattern_count,
            "method": self.method,
        }

    def __str__(self) -> str:
        signs = f"{self.positive_count} of {len(self.by_seed)} seeds positive"
        return f"seed-paired difference {self.difference}, {signs}, sign-flip p = {self.p_value:.3g}"


def seed_contrast(first: Mapping[str, float], second: Mapping[str, float], *, alpha: float = 0.05) -> SeedContrast:
    """Compare two conditions over the same training seeds.

    Args:
        first: Advantage of the run of each seed under one condition, in [-1, 1].
        second: The same under the other condition.
        alpha: Probability left outside the interval, in (0, 1).

    Raises:
        EmptyCellError: If there is no seed.
        EnumerationError: If there are more than 20 seeds.
        PairingError: If the conditions ran under different seeds.
        ParameterError: If an advantage is not a number in [-1, 1], or `alpha` is out of range.

    One seed, or equal differences, are no errors: the interval's `state` says so.
    """
    alpha = parameters.level(alpha)
    if set(first) != set(second):
        raise PairingError(
            f"seeds {sorted(set(first) ^ set(second), key=str)} ran under one condition only; report every seed"
        )
    if not first:
        raise EmptyCellError("no seed; a contrast needs at least one run under each condition")
    if len(first) > _SEEDS_MAX:
        raise EnumerationError(
            f"{len(first)} seeds have 2^{len(first)} sign patterns; at most {_SEEDS_MAX} are enumerated"
        )
    ours, theirs = _advantages(first, "first"), _advantages(second, "second")
    by_seed = {seed: ours[seed] - theirs[seed] for seed in ours}
    differences = np.array(list(by_seed.values()), np.float64)
    slack = _TIE * float(np.abs(differences).sum())
    return SeedContrast(
        difference=_interval(differences, slack, alpha),
        by_seed=by_seed,
        standard_deviation=float(differences.std(ddof=1)) if differences.size > 1 else None,
        positive_count=int(np.count_nonzero(differences > slack)),
        p_value=_sign_flip_p(differences, slack),
        pattern_count=2**differences.size,
    )


def _advantages(runs: Mapping[str, float], name: str) -> dict[str, float]:
    return {
        seed: parameters.number(advantage, f"the advantage of seed {seed!r} of the {name} condition", -1, 1)
        for seed, advantage in runs.items()
    }


def _interval(differences: NDArray[np.float64], slack: float, alpha: float) -> Interval:
    mean, n = float(differences.mean()), differences.size
    if n == 1:
        return Interval(mean, -2.0, 2.0, None, "t", alpha, IntervalState.SINGLE_OBSERVATION)
    if float(np.ptp(differences)) <= slack:
        return Interval(mean, mean, mean, None, "t", alpha, IntervalState.CONSTANT)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    half_width = float(-special.stdtrit(n - 1, alpha / 2)) * error
    return Interval(mean, max(mean - half_width, -2.0), min(mean + half_width, 2.0), error, "t", alpha)


def _sign_flip_p(differences: NDArray[np.float64], slack: float) -> float:
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate((sums + difference, sums - difference))
    return float(np.count_nonzero(np.abs(sums) >= abs(float(differences.sum())) - slack)) / sums.size
