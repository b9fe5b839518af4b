"""Scores of every form of each parent item, and the gap that each form would have as the original.

Source: METHODS 0 and 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EmptySampleError, EnumerationError, ScoreError
from leakscale.stats.lattice import common_denominator, on_lattice, rounding_of

__all__ = ["FormScores"]


@dataclass(frozen=True, slots=True, eq=False)
class FormScores:
    """Scores of the parents that have an original and a fresh form, as whole numerators over one denominator."""

    numerators: NDArray[np.int64]
    """Shape (parents, 1 + K), column 0 the original; 0 where the form is missing."""
    denominator: int
    """1 for right/wrong scores."""
    present: NDArray[np.bool_]
    """Shape (parents, 1 + K): whether the form has a score."""
    form_counts: NDArray[np.int64]
    """Forms with a score, original included, shape (parents,); at least 2."""
    rows: NDArray[np.int64]
    """Row number of each parent in the scores given, shape (parents,)."""
    excluded_count: int
    """Parents left out, because the original or every fresh form has no score."""

    @classmethod
    def of(cls, correct: ArrayLike) -> FormScores:
        """Take scores in [0, 1] of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.

        Raises:
            EmptySampleError: If no parent has an original and a fresh form.
            ScoreError: If the shape is another, or a score lies outside [0, 1].
        """
        scores = parameters.floats(correct, "scores", error=ScoreError)
        if scores.ndim != 2 or scores.shape[1] < 2:
            raise ScoreError(f"scores have shape {scores.shape}; pass (parents, 1 + K), column 0 the original")
        given = scores.shape[0]
        rows = np.arange(given)
        present = ~np.isnan(scores)
        if not present.all():
            kept = present[:, 0] & present[:, 1:].any(axis=1)
            scores, present, rows = np.where(present, scores, 0.0)[kept], present[kept], rows[kept]
        if rows.size == 0:
            raise EmptySampleError("no parent has both an original and a fresh form; there is nothing to relabel")
        counts = np.count_nonzero(present, axis=1)
        return cls(*_on_lattice(scores, present, rounding_of(correct)), present, counts, rows, given - rows.size)

    @property
    def parent_count(self) -> int:
        """Number of parents with a gap."""
        return int(self.numerators.shape[0])

    @property
    def totals(self) -> NDArray[np.int64]:
        """Sum of the numerators of each parent's forms, shape (parents,)."""
        return np.asarray(self.numerators.sum(axis=1))

    @property
    def gap_denominator(self) -> int:
        """Denominator of `placebo_gaps`.

        Raises:
            EnumerationError: If the parents have so many different numbers of forms that it would pass 2^53.
        """
        found = self.denominator * self._spread
        if found > parameters.COUNT_MAX:
            raise EnumerationError(
                f"the gaps of these parents share no denominator below {found:,}, because the numbers of their forms "
                "differ too much; compare parents with one number of forms"
            )
        return found

    @property
    def placebo_gaps(self) -> NDArray[np.int64]:
        """Gap that the parent would have with each form as its original, shape (parents, 1 + K); 0 where missing.

        With m forms that score t together, form J has the gap y_J - (t - y_J) / (m - 1). Column 0 is the real gap.

        Raises:
            EnumerationError: As `gap_denominator`.
        """
        spread = self.gap_denominator // self.denominator
        counts = self.form_counts[:, np.newaxis]
        gaps = (counts * self.numerators - self.totals[:, np.newaxis]) * (spread // (counts - 1))
        return np.where(self.present, gaps, 0)

    @property
    def _spread(self) -> int:
        """Least common multiple of the numbers of fresh forms, so that each mean over them is a whole number."""
        return math.lcm(*(int(count) - 1 for count in np.unique(self.form_counts)))


def _on_lattice(
    scores: NDArray[np.float64], present: NDArray[np.bool_], rounding: float
) -> tuple[NDArray[np.int64], int]:
    if np.all((scores == 0) | (scores == 1)):
        return scores.astype(np.int64), 1
    if scores.min() < 0 or scores.max() > 1:
        raise ScoreError("a score lies outside 0..1; pass shares of the full score")
    denominator = common_denominator(scores[present], rounding=rounding)
    return on_lattice(scores, denominator, rounding=rounding), denominator
