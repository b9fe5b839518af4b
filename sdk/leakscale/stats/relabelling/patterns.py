"""Right and wrong answers of many audits at once, as counts of patterns, and the relabelling test of each of them.

All that an interval or the relabelling test reads of a parent is how many forms it has, how many of them are right,
and whether the original is. So an audit is a row of counts, one a pattern, and audits that agree in the numbers of
right forms share one reference law.

Source: CleanScore Proposition 6; METHODS 13.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats.errors import UnsupportedMethodError
from leakscale.stats.form_scores import FormScores
from leakscale.stats.independent_sums import Summand, law_of_sum, law_of_total
from leakscale.stats.resampling import SumDistribution
from leakscale.stats.significance import Alternative, exact_p_value

__all__ = ["Patterns"]


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Distinct patterns of right and wrong answers, with the share of parents of each; one place a pattern."""

    forms: NDArray[np.int64]
    """Forms of the parent, original included; at least 2."""
    right: NDArray[np.int64]
    """Right answers among them."""
    originals: NDArray[np.int64]
    """1 where the original is right."""
    shares: NDArray[np.float64]
    """They sum to 1."""
    denominator: int
    """Of the gaps: the least common multiple of the numbers of fresh forms."""

    @classmethod
    def of(cls, correct: ArrayLike) -> Self:
        """Count the patterns of right/wrong scores of shape (parents, 1 + K), column 0 the original.

        Raises:
            EmptySampleError, EnumerationError, ScoreError: As `FormScores`.
            UnsupportedMethodError: If the scores are graded.
        """
        found = FormScores.of(correct)
        if found.denominator != 1:
            raise UnsupportedMethodError(
                "answers are planted and lost as right or wrong ones, and these scores are graded; pass right/wrong "
                "scores"
            )
        columns = np.stack([found.form_counts, found.totals, found.numerators[:, 0]], axis=1)
        return cls.counted(columns, np.full(found.parent_count, 1 / found.parent_count))

    @classmethod
    def counted(cls, columns: NDArray[np.int64], shares: NDArray[np.float64]) -> Self:
        """Add up the shares of equal rows (forms, right, original), and drop those of nothing."""
        patterns, places = np.unique(columns, axis=0, return_inverse=True)
        summed = np.bincount(places.ravel(), shares, len(patterns))
        patterns, summed = patterns[summed > 0], summed[summed > 0]
        denominator = math.lcm(*(int(count) - 1 for count in np.unique(patterns[:, 0])))
        forms, right, originals = patterns.T
        return cls(forms, right, originals, summed / summed.sum(), denominator)

    @property
    def gaps(self) -> NDArray[np.int64]:
        """Gap of each pattern, over `denominator`."""
        return (self.forms * self.originals - self.right) * (self.denominator // (self.forms - 1))

    @property
    def accuracy(self) -> float:
        """Mean share of right forms, of a parent drawn at random."""
        return float(self.shares @ (self.right / self.forms))

    def p_values(self, audits: NDArray[np.int64], alternative: Alternative) -> NDArray[np.float64]:
        """Return the exact p-value of the relabelling test of each audit, shape (audits,).

        Args:
            audits: How many parents of each pattern an audit has, shape (audits, patterns).
            alternative: Which departures count.
        """
        kinds, counts = self._varying(audits)

        @cache
        def of_kind(place: int, copies: int) -> SumDistribution:
            return law_of_sum([replace(kinds[place], copies=copies)])

        distinct, places = np.unique(np.column_stack([counts, audits @ self.gaps]), axis=0, return_inverse=True)
        found = np.empty(len(distinct))
        copies: list[int] | None = None
        for number, (*own, total) in enumerate(distinct.tolist()):
            if own != copies:  # rows are sorted, so audits of one law stand together
                law, copies = law_of_total([of_kind(place, n) for place, n in enumerate(own)]), own
            found[number] = exact_p_value(law, total, alternative)
        return found[places.ravel()]

    def _varying(self, audits: NDArray[np.int64]) -> tuple[list[Summand], NDArray[np.int64]]:
        """Return the laws of parents whose forms are not all alike, and how many of each kind every audit has."""
        varying = np.flatnonzero((self.right > 0) & (self.right < self.forms))
        columns = np.stack([self.forms[varying], self.right[varying]], axis=1)
        kinds, places = np.unique(columns, axis=0, return_inverse=True)
        is_of_kind = places.ravel()[:, np.newaxis] == np.arange(len(kinds))
        return [self._law(forms, right) for forms, right in kinds.tolist()], audits[:, varying] @ is_of_kind

    def _law(self, forms: int, right: int) -> Summand:
        scale = self.denominator // (forms - 1)
        return Summand((-right * scale, (forms - right) * scale), ((forms - right) / forms, right / forms))
