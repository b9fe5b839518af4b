"""How much more likely is the public form to be the correct one, given how many forms of the parent are correct?

In a Rasch model in which the public form is easier by log G, the total t of a parent's m forms carries its difficulty,
and given t the original is correct with odds G t / (m - t), whatever the difficulties are. The number of parents whose
original is correct is then Poisson-binomial with a known parameter, and inverting its tails gives an exact interval.

G measures a shift of the public form; exposure and ordinary form mismatch both shift it. A control bank has its own G,
and only the part beyond that speaks of exposure.

Source: METHODS 13.3. The conditional likelihood is that of Rasch models and of matched case-control studies (Andersen
1970; Breslow and Day 1980); the sensitivity bound is Rosenbaum's for matched sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from leakscale.stats import parameters
from leakscale.stats.errors import ParameterError
from leakscale.stats.intervals import Interval, IntervalState, IntervalUnit
from leakscale.stats.relabelling.discordant import DiscordantParents
from leakscale.stats.significance import Alternative, exact_p_value

__all__ = ["GammaSensitivity", "conditional_odds_ratio", "gamma_sensitivity"]


def conditional_odds_ratio(correct: ArrayLike, *, alpha: float = 0.05) -> Interval:
    """Estimate the odds ratio G of the public form against a fresh form of the same parent.

    Args:
        correct: 0/1 outcomes of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.
        alpha: Probability left outside the interval, half on each side, in (0, 1).

    Returns:
        The conditional maximum-likelihood estimate with its exact interval, as a ratio in [0, inf]; 1 is no shift. If
        every discordant original is correct the estimate and the upper bound are infinite (state `unbounded`); if
        none is, the estimate and the lower bound are 0.

    Raises:
        EmptySampleError: If no parent has an original and a fresh form.
        NoInformationError: If no parent has forms that differ.
        ParameterError: If `alpha` is out of range.
        ScoreError: If an outcome is not 0 or 1, or the shape is another.

    Exact for the model, and like every interval for counts it covers more often than it promises (METHODS 13.3:
    .958 to .983 at the nominal .95). Not covered: a shift that differs between parents.

    Source: METHODS 13.3.
    """
    alpha = parameters.level(alpha)
    parents = DiscordantParents.of(correct)
    low = math.exp(parents.upper_tail_root(alpha / 2)) if parents.correct_count > 0 else 0.0
    mirrored = parents.mirrored()
    high = math.exp(-mirrored.upper_tail_root(alpha / 2)) if mirrored.correct_count > 0 else math.inf
    return Interval(
        estimate=_estimate(parents),
        low=low,
        high=high,
        standard_error=None,
        method="exact conditional odds ratio",
        alpha=alpha,
        state=IntervalState.UNBOUNDED if math.isinf(high) else IntervalState.ESTIMATED,
        unit=IntervalUnit.RATIO,
    )


@dataclass(frozen=True, slots=True)
class GammaSensitivity:
    """How strong a form mismatch would have to be to explain a rejection of the relabelling test."""

    gamma: float
    """Least shift of the odds, at least 1, at which the test no longer rejects; 1 if it does not reject at all."""
    p_value: float
    """One-sided p-value without any mismatch (G = 1)."""
    alternative: Alternative
    """`greater` or `less`."""
    alpha: float
    discordant_count: int
    """Parents with some forms right and some wrong."""
    control: Interval | None
    """Odds ratio of the control bank, where one was given."""
    method: str = "exact conditional odds ratio, one-sided"

    @property
    def is_within_control(self) -> bool | None:
        """Tell whether a mismatch as large as the control bank allows explains the rejection; None without a bank."""
        if self.control is None:
            return None
        if self.alternative is Alternative.GREATER:
            return self.gamma <= self.control.high
        return self.gamma * self.control.low <= 1

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "gamma": self.gamma,
            "p_value": self.p_value,
            "alternative": self.alternative.value,
            "alpha": self.alpha,
            "discordant_count": self.discordant_count,
            "control": self.control.to_dict() if self.control else None,
            "is_within_control": self.is_within_control,
            "method": self.method,
        }

    def __str__(self) -> str:
        p_value = f"p = {self.p_value:.3g} ({self.alternative})"
        if self.p_value > self.alpha:
            return f"{p_value}: no rejection at {self.alpha:g} to explain"
        text = f"{p_value}: a form mismatch of G = {self.gamma:.3g} would explain the rejection at {self.alpha:g}"
        if self.control is None:
            return text
        verdict = "within" if self.is_within_control else "beyond"
        return f"{text}, {verdict} what the control bank allows ({self.control.low:.3g} to {self.control.high:.3g})"


def gamma_sensitivity(
    correct: ArrayLike, *, control: ArrayLike | None = None, alternative: str = "greater", alpha: float = 0.05
) -> GammaSensitivity:
    """Find the least form mismatch that would explain away a rejection.

    Args:
        correct: 0/1 outcomes of the audited bank, shape (parents, 1 + K), column 0 the original; NaN: missing form.
        control: The same of the control bank, which shows how large a mismatch occurs without exposure.
        alternative: `greater` (public form easier) or `less`.
        alpha: One-sided level of the test, in (0, 1); the control interval leaves alpha outside, half on each side.

    Raises:
        EmptySampleError: If a bank has no parent with an original and a fresh form.
        NoInformationError: If no parent of a bank has forms that differ.
        ParameterError: If the alternative is another, or `alpha` is out of range.
        ScoreError: If an outcome is not 0 or 1, or a shape is another.

    Source: METHODS 13.3.
    """
    alpha = parameters.level(alpha)
    side = Alternative.of(alternative)
    if side is Alternative.TWO_SIDED:
        raise ParameterError("a mismatch has a direction; pass alternative='greater' or 'less' with a one-sided alpha")
    parents = DiscordantParents.of(correct)
    directed = parents if side is Alternative.GREATER else parents.mirrored()
    p_value = exact_p_value(directed.law(0.0), directed.correct_count, Alternative.GREATER)
    return GammaSensitivity(
        gamma=math.exp(directed.upper_tail_root(alpha)) if p_value <= alpha else 1.0,
        p_value=p_value,
        alternative=side,
        alpha=alpha,
        discordant_count=parents.count,
        control=None if control is None else conditional_odds_ratio(control, alpha=alpha),
    )


def _estimate(parents: DiscordantParents) -> float:
    if parents.correct_count == 0:
        return 0.0
    return math.inf if parents.correct_count == parents.count else math.exp(parents.likelihood_root())
