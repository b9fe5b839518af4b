"""Do independent models stumble over the same parent items? Then the items are to be read first.

One model that fails a parent is evidence about the model; two are evidence about the item. A *fault* is a parent whose
original a model answers correctly and whose fresh forms all incorrectly, as a rewrite that lost information would
cause; the *mirror* is the other way round, as a rewrite that leaked a hint would cause.

The test bounds one failure mode, defects that hit several models at the same parents. It replaces nobody's reading, and
a defect that affects each model at other parents passes it.

Source: METHODS 7.1 and 13.4; CleanScore 7.7, Table 8. The paper permutes at random; here the law is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EmptySampleError, ParameterError, ScoreError, SeedRequiredError
from leakscale.stats.items.overlaps import expected_overlap, overlap_law, simulated_overlaps
from leakscale.stats.significance import Alternative, exact_p_value

__all__ = ["PATTERNS", "CooccurrenceResult", "MonteCarloCheck", "cooccurrence_test"]

PATTERNS: Final = ("fault", "mirror")


@dataclass(frozen=True, slots=True)
class MonteCarloCheck:
    """The same p-value by simulation, to be compared with the exact one."""

    p_value: float
    """(1 + draws at least as extreme) / (1 + draws); never 0."""
    draw_count: int
    standard_error: float
    """Of the p-value, given the exact one."""

    def to_dict(self) -> dict[str, float | int]:
        """Return the fields as JSON-ready values."""
        return {"p_value": self.p_value, "draw_count": self.draw_count, "standard_error": self.standard_error}


@dataclass(frozen=True, slots=True)
class CooccurrenceResult:
    """How many parents two or more models stumble over, against what chance would give."""

    pattern: str
    observed: int
    """Parents on which at least two models show the pattern."""
    expected: float
    """The same number in expectation under the null."""
    p_value: float
    """In (0, 1]."""
    alternative: Alternative
    method: str
    model_totals: tuple[int, ...]
    """Parents with the pattern, of each model; the null keeps them."""
    parent_count: int
    """Parents tested: those without a missing form for any model."""
    excluded_count: int
    """Parents left out, because a form is missing."""
    parents: tuple[int, ...]
    """Row numbers of the observed parents, for a person to read."""
    monte_carlo: MonteCarloCheck | None = None

    @property
    def is_informative(self) -> bool:
        """Tell whether at least two models show the pattern at all; otherwise the number is 0 under any permutation."""
        return sum(total > 0 for total in self.model_totals) > 1

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "pattern": self.pattern,
            "observed": self.observed,
            "expected": self.expected,
            "p_value": self.p_value,
            "alternative": self.alternative.value,
            "method": self.method,
            "model_totals": list(self.model_totals),
            "parent_count": self.parent_count,
            "excluded_count": self.excluded_count,
            "parents": list(self.parents),
            "is_informative": self.is_informative,
            "monte_carlo": self.monte_carlo.to_dict() if self.monte_carlo else None,
        }

    def __str__(self) -> str:
        text = (
            f"{self.pattern} on {self.observed} of {self.parent_count} parents for two or more of "
            f"{len(self.model_totals)} models, {self.expected:.1f} expected, p = {self.p_value:.3g} "
            f"({self.alternative}; {self.method})"
        )
        return text if self.is_informative else f"{text}, uninformative: fewer than two models show the pattern"


def cooccurrence_test(
    correct: ArrayLike,
    *,
    pattern: str = "fault",
    alternative: str = "greater",
    monte_carlo_draws: int = 0,
    seed: parameters.Seed | None = None,
) -> CooccurrenceResult:
    """Test whether models show the pattern on the same parents more often than chance would have it.

    The null keeps how often each model shows the pattern and places each model's occurrences on a uniformly random set
    of parents, independently of the other models.

    Args:
        correct: 0/1 outcomes of shape (models, parents, 1 + K), column 0 the original; NaN marks a missing form.
        pattern: `fault` (original correct, all fresh forms wrong) or `mirror` (original wrong, all fresh correct).
        alternative: `greater` asks for clustering, `less` for the opposite; `two-sided` is not offered.
        monte_carlo_draws: Draws of the simulation that checks the exact p-value; 0 leaves it out.
        seed: Of that simulation.

    Raises:
        EmptySampleError: If no parent has all forms for all models.
        EnumerationError: If the totals are so large that the exact law would take more than a minute.
        ParameterError: If the pattern, the alternative or the number of draws is none.
        ScoreError: If the outcomes are not 0 and 1, or not of that shape with at least two models and two forms.
        SeedRequiredError: If draws are asked for without a seed.

    Source: METHODS 7.1, 13.4; CleanScore 7.7.
    """
    draw_count = parameters.count(monte_carlo_draws, "monte_carlo_draws")
    side = Alternative.of(alternative)
    if side is Alternative.TWO_SIDED:
        raise ParameterError("alternative 'two-sided' is not offered for a count of clustered parents; use 'greater'")
    outcomes = _outcomes(correct)
    rows = np.flatnonzero(~np.isnan(outcomes).any(axis=(0, 2)))
    if rows.size == 0:
        raise EmptySampleError("no parent has all its forms for every model; there is nothing to compare")
    shows = _shows(outcomes[:, rows], pattern)
    totals = tuple(int(total) for total in shows.sum(axis=1))
    clustered = shows.sum(axis=0) >= 2
    observed, parent_count = int(clustered.sum()), rows.size
    p_value = exact_p_value(overlap_law(totals, parent_count), observed, side)
    check = None
    if draw_count:
        overlaps = simulated_overlaps(totals, parent_count, draw_count, _generator(seed))
        check = _check(overlaps, observed, side, p_value)
    return CooccurrenceResult(
        pattern=pattern,
        observed=observed,
        expected=expected_overlap(totals, parent_count),
        p_value=p_value,
        alternative=side,
        method="exact by dynamic programming",
        model_totals=totals,
        parent_count=parent_count,
        excluded_count=outcomes.shape[1] - parent_count,
        parents=tuple(int(row) for row in rows[clustered]),
        monte_carlo=check,
    )


def _outcomes(correct: ArrayLike) -> NDArray[np.float64]:
    outcomes = parameters.floats(correct, "outcomes", error=ScoreError)
    if outcomes.ndim != 3 or outcomes.shape[0] < 2 or outcomes.shape[2] < 2:
        raise ScoreError(f"outcomes have shape {outcomes.shape}; pass (models, parents, 1 + K), two models or more")
    if not np.all(np.isnan(outcomes) | (outcomes == 0) | (outcomes == 1)):
        raise ScoreError("outcomes hold a value other than 0, 1 and NaN; a fault is defined for right and wrong only")
    return outcomes


def _shows(outcomes: NDArray[np.float64], pattern: str) -> NDArray[np.bool_]:
    """Tell for each model and parent whether the pattern shows, shape (models, parents)."""
    if pattern not in PATTERNS:
        raise ParameterError(f"pattern {pattern!r} is not one of {', '.join(PATTERNS)}")
    original = 1 if pattern == "fault" else 0
    return np.asarray((outcomes[:, :, 0] == original) & np.all(outcomes[:, :, 1:] == 1 - original, axis=2))


def _check(overlaps: NDArray[np.int64], observed: int, side: Alternative, p_value: float) -> MonteCarloCheck:
    extreme = overlaps >= observed if side is Alternative.GREATER else overlaps <= observed
    error = math.sqrt(p_value * (1 - p_value) / overlaps.size)
    return MonteCarloCheck((1 + int(extreme.sum())) / (1 + overlaps.size), overlaps.size, error)


def _generator(seed: parameters.Seed | None) -> np.random.Generator:
    if seed is None:
        raise SeedRequiredError("a Monte Carlo check needs a seed; pass `seed=`, or leave `monte_carlo_draws` at 0")
    return parameters.seeded(seed)[0]
