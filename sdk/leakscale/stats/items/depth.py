"""Are the rewrites of a parent of comparable depth?

In CleanScore's bank every near-copy is the parent's first fresh form, and none its second: two passes of one procedure
came out of unequal depth, which no look at one form alone can show.

Source: CleanScore 7.7; METHODS 7.2.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EmptySampleError, ScoreError
from leakscale.stats.items.signed_rank import signed_rank_test
from leakscale.stats.multiplicity import adjust_pvalues
from leakscale.stats.significance import Alternative

__all__ = ["DepthComparison", "FormPair", "comparable_depth"]


@dataclass(frozen=True, slots=True)
class FormPair:
    """Two fresh forms of the same parents, compared by how much of the original they keep."""

    first: int
    """Column of the form, from 0."""
    second: int
    mean_difference: float
    """Similarity of the first minus that of the second, in [-1, 1]."""
    p_value: float
    """Of the two-sided signed-rank test."""
    adjusted_p_value: float
    """The same, adjusted by Holm for the number of pairs of forms."""
    parent_count: int
    """Parents that have both forms."""

    def to_dict(self) -> dict[str, float | int]:
        """Return the fields as JSON-ready values."""
        return {
            "first": self.first,
            "second": self.second,
            "mean_difference": self.mean_difference,
            "p_value": self.p_value,
            "adjusted_p_value": self.adjusted_p_value,
            "parent_count": self.parent_count,
        }


@dataclass(frozen=True, slots=True)
class DepthComparison:
    """Whether one fresh form tends to keep more of the original than another."""

    mean_similarities: tuple[float, ...]
    """Of each fresh form with its original."""
    pairs: tuple[FormPair, ...]
    """Empty for one fresh form, which has nothing to be compared with."""
    method: str = "signed ranks of similarities, Holm"

    @property
    def largest_difference(self) -> float:
        """Greatest distance between the mean similarities of two forms of the same parents."""
        return max((abs(pair.mean_difference) for pair in self.pairs), default=0.0)

    def is_comparable(self, *, alpha: float = 0.05) -> bool:
        """Tell whether no pair of forms differs at a level; with few parents that shows little."""
        level = parameters.level(alpha)
        return all(pair.adjusted_p_value > level for pair in self.pairs)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "mean_similarities": list(self.mean_similarities),
            "largest_difference": self.largest_difference,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "method": self.method,
        }

    def __str__(self) -> str:
        means = ", ".join(f"{mean:.3f}" for mean in self.mean_similarities)
        if not self.pairs:
            return f"mean similarity {means}; a single fresh form has nothing to be compared with"
        least = min(pair.adjusted_p_value for pair in self.pairs)
        return f"mean similarity by form {means}; least p over pairs of forms {least:.3g} ({self.method})"


def comparable_depth(similarities: ArrayLike) -> DepthComparison:
    """Compare the fresh forms of the same parents by their similarity to the original.

    Args:
        similarities: Shape (parents, K), e.g. `NearCopies.similarities`; NaN marks a missing form.

    Raises:
        EmptySampleError: If a form is missing everywhere, or two forms never occur together.
        ScoreError: If the shape is another, or a similarity lies outside [0, 1].

    Source: METHODS 7.2.
    """
    values = parameters.floats(similarities, "similarities", error=ScoreError)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ScoreError(f"similarities have shape {values.shape}; pass (parents, K), one column a fresh form")
    if np.any((values < 0) | (values > 1)):
        raise ScoreError("a similarity lies outside 0..1; pass Jaccard indices")
    if np.isnan(values).all(axis=0).any():
        raise EmptySampleError("a fresh form is missing for every parent; leave its column out")
    raw = [_compare(values, first, second) for first, second in itertools.combinations(range(values.shape[1]), 2)]
    adjusted = adjust_pvalues([pair.p_value for pair in raw], method="holm").tolist()
    return DepthComparison(
        mean_similarities=tuple(np.nanmean(values, axis=0).tolist()),
        pairs=tuple(replace(pair, adjusted_p_value=p_value) for pair, p_value in zip(raw, adjusted, strict=True)),
    )


def _compare(values: NDArray[np.float64], first: int, second: int) -> FormPair:
    both = ~np.isnan(values[:, first]) & ~np.isnan(values[:, second])
    if not both.any():
        raise EmptySampleError(f"no parent has both fresh form {first} and fresh form {second}; compare other forms")
    one, two = values[both, first], values[both, second]
    p_value = signed_rank_test(one, two, alternative=Alternative.TWO_SIDED).p_value
    return FormPair(first, second, float(np.mean(one - two)), p_value, p_value, int(both.sum()))
