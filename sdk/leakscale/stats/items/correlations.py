"""Does the gap of a parent go with how much of the original's wording its fresh forms keep?

Source: CleanScore 7.7; METHODS 7.2. The paper does not say which similarity it correlates when a parent has several
fresh forms; here it is their mean, because the gap averages over the same forms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EmptySampleError, ScoreError
from leakscale.stats.form_scores import FormScores
from leakscale.stats.items.similarity import parent_similarity
from leakscale.stats.items.student import correlation_p_value
from leakscale.stats.significance import TestState

__all__ = ["Correlation", "PooledCorrelation", "depth_correlation", "pooled_depth_correlation"]

_SAME = 1e-12
"""Values this close are equal; similarities and gaps are fractions with far larger steps."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's correlation of similarity and gap over parents."""

    r: float | None
    """In [-1, 1]; None where one of the two does not vary, or a single parent is left."""
    p_value: float
    """Two-sided, in (0, 1]; 1 where r is None."""
    parent_count: int
    """Parents with a gap and a similarity."""
    excluded_count: int
    """Other parents given."""
    state: TestState
    method: str = "Pearson"

    def to_dict(self) -> dict[str, float | int | str | None]:
        """Return the fields as JSON-ready values."""
        return {
            "r": self.r,
            "p_value": self.p_value,
            "parent_count": self.parent_count,
            "excluded_count": self.excluded_count,
            "state": self.state.value,
            "method": self.method,
        }

    def __str__(self) -> str:
        if self.r is None:
            return f"no correlation over {self.parent_count} parents: {self.state.replace('_', ' ')}"
        return f"r = {self.r:+.3f} over {self.parent_count} parents, p = {self.p_value:.3g} ({self.method})"


@dataclass(frozen=True, slots=True)
class PooledCorrelation:
    """The correlation over all pairs of model and parent, and the one that its significance is read from."""

    r: float | None
    """Over all (model, parent) pairs; None where one of the two does not vary."""
    pair_count: int
    by_parent: Correlation
    """Of similarity and the parent's mean gap over models: models share the parents, so pairs are no observations."""
    method: str = "Pearson over model-parent pairs"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "r": self.r,
            "pair_count": self.pair_count,
            "by_parent": self.by_parent.to_dict(),
            "method": self.method,
        }

    def __str__(self) -> str:
        pooled = "undefined" if self.r is None else f"{self.r:+.3f}"
        return f"pooled r = {pooled} over {self.pair_count} model-parent pairs; by parent, {self.by_parent}"


def depth_correlation(similarities: ArrayLike, correct: ArrayLike) -> Correlation:
    """Correlate similarity and gap over the parents of one model.

    Args:
        similarities: Jaccard indices, shape (parents, K) (their mean is taken) or (parents,); NaN: missing.
        correct: Scores in [0, 1] of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.

    Raises:
        EmptySampleError: If no parent has a gap and a similarity.
        ScoreError: If shapes or values are wrong.

    With two parents r is 1 or -1 whatever is true; the p-value is 1 then. Not covered: a relation that is no line.

    Source: METHODS 7.2.
    """
    similarity = parent_similarity(similarities)
    return _correlation(similarity, _gaps(correct, similarity.size))


def pooled_depth_correlation(similarities: ArrayLike, correct: ArrayLike) -> PooledCorrelation:
    """Correlate similarity and gap over all models of a panel.

    Args:
        similarities: As in `depth_correlation`.
        correct: Scores in [0, 1] of shape (models, parents, 1 + K); NaN marks a missing form.

    Raises:
        EmptySampleError: If a model has no parent with a gap, or no such parent has a similarity.
        ScoreError: If shapes or values are wrong.

    Source: METHODS 7.2.
    """
    panel = parameters.floats(correct, "scores", error=ScoreError)
    if panel.ndim != 3 or panel.shape[0] == 0:
        raise ScoreError(f"scores have shape {panel.shape}; pass (models, parents, 1 + K)")
    similarity = parent_similarity(similarities)
    gaps = np.array([_gaps(model, similarity.size) for model in panel])
    pairs = _correlation(np.tile(similarity, panel.shape[0]), gaps.ravel())
    present = ~np.isnan(gaps)
    counts = present.sum(axis=0)
    means = np.where(counts > 0, np.where(present, gaps, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    return PooledCorrelation(pairs.r, pairs.parent_count, _correlation(similarity, means))


def _gaps(correct: ArrayLike, parent_count: int) -> NDArray[np.float64]:
    """Return the gap of each parent, NaN where it has none, shape (parents,)."""
    forms = FormScores.of(correct)
    given = forms.parent_count + forms.excluded_count
    if given != parent_count:
        raise ScoreError(f"{parent_count} similarities for {given} parents; pass one row a parent, in the same order")
    gaps = np.full(given, np.nan)
    gaps[forms.rows] = forms.placebo_gaps[:, 0] / forms.gap_denominator
    return gaps


def _correlation(similarity: NDArray[np.float64], gaps: NDArray[np.float64]) -> Correlation:
    usable = ~np.isnan(similarity) & ~np.isnan(gaps)
    x, y = similarity[usable], gaps[usable]
    if x.size == 0:
        raise EmptySampleError("no parent has both a gap and a similarity; there is nothing to correlate")
    state = TestState.INFORMATIVE
    if x.size == 1:
        state = TestState.SINGLE_OBSERVATION
    elif np.ptp(x) < _SAME or np.ptp(y) < _SAME:
        state = TestState.CONSTANT
    r: float | None = None
    p_value = 1.0
    if state is TestState.INFORMATIVE:
        r = _pearson(x, y)
        p_value = correlation_p_value(r, x.size)
    return Correlation(r, p_value, int(x.size), int(gaps.size - x.size), state)


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / math.sqrt((x @ x) * (y @ y)), -1, 1))
