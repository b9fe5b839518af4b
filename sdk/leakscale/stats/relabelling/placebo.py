"""The placebo identity: with the role of the original given to each form in turn, a parent's gaps average to zero.

    D^(J) = y_J - (1/K) sum of the others;    (1/(K+1)) sum_J D^(J) = 0

It holds for every outcome whatsoever, so it says nothing about exposure. It catches errors of the bookkeeping: forms
paired with another parent, a column counted twice, a gap computed by another formula than the audit's.

Source: CleanScore Proposition 4 and 6.4; METHODS 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from leakscale.stats.form_scores import FormScores

__all__ = ["PlaceboIdentity", "placebo_identity"]


@dataclass(frozen=True, slots=True)
class PlaceboIdentity:
    """How far the placebo gaps of the parents are from averaging to zero."""

    exact_residual: Fraction
    """Largest distance from zero over the parents, in whole-number arithmetic: 0 unless the bookkeeping is wrong."""
    float_residual: float
    """The same in floating point, which is off by rounding alone: below 1.2e-16 for a handful of forms."""
    mean_gaps: tuple[float, ...]
    """Mean gap with form J as the original, J = 0..K, over the parents that have the form. The first is the audit's."""
    parent_count: int
    excluded_count: int
    """Parents left out, because the original or every fresh form has no score."""
    method: str = "placebo-label identity"

    @property
    def holds(self) -> bool:
        """Tell whether the identity holds exactly."""
        return self.exact_residual == 0

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values; the exact residual as text, e.g. `0` or `1/6`."""
        return {
            "exact_residual": str(self.exact_residual),
            "float_residual": self.float_residual,
            "mean_gaps": list(self.mean_gaps),
            "parent_count": self.parent_count,
            "excluded_count": self.excluded_count,
            "holds": self.holds,
            "method": self.method,
        }

    def __str__(self) -> str:
        words = "holds" if self.holds else "is BROKEN"
        return (
            f"placebo identity {words} on {self.parent_count} parents "
            f"(largest residual {self.exact_residual} exactly, {self.float_residual:.1e} in floating point)"
        )


def placebo_identity(correct: ArrayLike) -> PlaceboIdentity:
    """Check the identity on every parent, in whole numbers and in floating point.

    Args:
        correct: Scores in [0, 1] of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.

    Raises:
        EmptySampleError: If no parent has an original and a fresh form.
        ScoreError: If the shape is another, or a score lies outside [0, 1].

    Source: CleanScore Proposition 4; METHODS 3.1.
    """
    forms = FormScores.of(correct)
    gaps, counts, denominator = forms.placebo_gaps, forms.form_counts, forms.gap_denominator
    sums = np.abs(gaps.sum(axis=1)).tolist()
    residual = max(Fraction(total, m * denominator) for total, m in zip(sums, counts.tolist(), strict=True))
    holders = np.maximum(forms.present.sum(axis=0), 1)
    return PlaceboIdentity(
        exact_residual=residual,
        float_residual=_float_residual(forms),
        mean_gaps=tuple((gaps.sum(axis=0) / (holders * denominator)).tolist()),
        parent_count=forms.parent_count,
        excluded_count=forms.excluded_count,
    )


def _float_residual(forms: FormScores) -> float:
    """Compute the residual from the scores as an analysis script would."""
    scores = forms.numerators / forms.denominator
    others = np.maximum(forms.form_counts - 1, 1)[:, np.newaxis]
    gaps = np.where(forms.present, scores - (scores.sum(axis=1, keepdims=True) - scores) / others, 0.0)
    return float(np.abs(gaps.sum(axis=1) / forms.form_counts).max())
