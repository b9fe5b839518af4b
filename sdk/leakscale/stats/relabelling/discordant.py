"""Parents whose forms differ, and the law of the number of correct originals among them at any odds ratio.

Given that t of a parent's m forms are correct, its original is with odds G t / (m - t), independently of the others.

Source: METHODS 13.3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from leakscale.stats.errors import NoInformationError, ScoreError
from leakscale.stats.form_scores import FormScores
from leakscale.stats.independent_sums import Summand, law_of_sum
from leakscale.stats.resampling import SumDistribution

__all__ = ["DiscordantParents"]

_HALVINGS: Final = 64
"""Of an interval of log G, which leaves less than one rounding error."""


@dataclass(frozen=True, slots=True)
class DiscordantParents:
    """Parents with some forms right and some wrong; the others say nothing about G."""

    odds: tuple[float, ...]
    """Distinct odds t / (m - t) that the original is correct at G = 1."""
    copies: tuple[int, ...]
    """Parents with these odds."""
    correct_count: int
    """Parents among them whose original is correct."""

    @classmethod
    def of(cls, correct: ArrayLike) -> DiscordantParents:
        """Take 0/1 outcomes of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.

        Raises:
            EmptySampleError: If no parent has an original and a fresh form.
            NoInformationError: If no parent has forms that differ.
            ScoreError: If an outcome is not 0 or 1, or the shape is another.
        """
        forms = FormScores.of(correct)
        if forms.denominator != 1:
            raise ScoreError("a score is neither 0 nor 1; an odds ratio needs right and wrong: grade with a threshold")
        totals, counts = forms.totals, forms.form_counts
        differs = (totals > 0) & (totals < counts)
        if not differs.any():
            raise NoInformationError("no parent has forms that differ; the bank says nothing about an odds ratio")
        wrong = (counts - totals)[differs]
        odds = Counter((totals[differs] / wrong).tolist())
        return cls(tuple(odds), tuple(odds.values()), int(forms.numerators[differs, 0].sum()))

    @property
    def count(self) -> int:
        """Number of such parents."""
        return sum(self.copies)

    def mirrored(self) -> DiscordantParents:
        """Exchange right and wrong, so that G becomes 1 / G."""
        return DiscordantParents(tuple(1 / odds for odds in self.odds), self.copies, self.count - self.correct_count)

    def expected(self, log_gamma: float) -> float:
        """Return the expected number of correct originals."""
        return sum(
            copies / (1 + math.exp(-log_gamma) / odds) for odds, copies in zip(self.odds, self.copies, strict=True)
        )

    def law(self, log_gamma: float) -> SumDistribution:
        """Return the law of the number of correct originals."""
        probabilities = [1 / (1 + math.exp(-log_gamma) / odds) for odds in self.odds]
        return law_of_sum(
            [Summand((0, 1), (1 - p, p), copies) for p, copies in zip(probabilities, self.copies, strict=True)]
        )

    def likelihood_root(self) -> float:
        """Return the log G at which the expected number of correct originals is the observed one.

        An observed number at either end, whose root is infinite, is moved half a parent inwards.
        """
        target = min(max(self.correct_count, 0.5), self.count - 0.5)
        reach = math.log(4 * self.count * max(*self.odds, 1 / min(self.odds)))
        return _root(lambda log_gamma: self.expected(log_gamma) - target, -reach, reach)

    def upper_tail(self) -> Callable[[float], float]:
        """Return log G -> P(at least as many correct originals as observed), which rises from 0 to 1.

        Precise around the likelihood root, where the bounds of any level in use lie.

        The law is convolved once, at the likelihood root, and tilted to other G: in an exponential family the
        probability of j correct originals is proportional to its value there times the ratio of the two G to the j.
        """
        centre = self.likelihood_root()
        with np.errstate(divide="ignore"):  # far tails may underflow to 0, and stay there
            logs = np.log(self.law(centre).probabilities)
        correct = np.arange(logs.size)

        def tail(log_gamma: float) -> float:
            tilted = logs + (log_gamma - centre) * correct
            weights = np.exp(tilted - tilted.max())
            return float(weights[self.correct_count :].sum() / weights.sum())

        return tail

    def upper_tail_root(self, level: float) -> float:
        """Return the log G at which the upper tail has this probability; at least one original must be correct."""
        tail = self.upper_tail()
        reach = 1.0
        while tail(-reach) > level or tail(reach) < level:
            reach *= 2
        return _root(lambda log_gamma: tail(log_gamma) - level, -reach, reach)


def _root(increasing: Callable[[float], float], low: float, high: float) -> float:
    """Halve the interval around the sign change; `scipy.optimize` needs fewer steps, and 0.1 s to import."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if increasing(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
