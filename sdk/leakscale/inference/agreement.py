"""Hold sampled answers against the exact law they should come from: one test over all questions of a bank.

A question alone has 32 draws, and often an answer that is expected less than once among them, where Pearson's statistic
is not chi-square. So the questions are added up first, each with its answers in order of their probability: how often
the likeliest answer was drawn, the second, and so on. Sums over many questions are normal, their covariance is known
exactly, and a sampler that is too hot, too cold or asks another model moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from leakscale.errors import InvalidRequestError

__all__ = ["Agreement", "chi_square"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well counts agree with the laws they were drawn from."""

    statistic: float
    degrees_of_freedom: int
    """At most three; fewer where the laws leave nothing to chance."""
    p_value: float
    """Probability of a statistic at least as large if the counts were drawn from the laws."""
    expected: tuple[float, ...]
    """Expected draws of the likeliest answer, the second, and so on, over all questions."""
    observed: tuple[int, ...]


def chi_square(laws: Sequence[Sequence[float]], counts: Sequence[Sequence[int]]) -> Agreement:
    """Test whether counts were drawn from laws.

    Args:
        laws: For each question, the probability of each answer.
        counts: For each question, how often each answer was drawn.

    Raises:
        InvalidRequestError: If there is no question, or laws and counts are of different shape.
    """
    law, count = np.array(laws, dtype=float), np.array(counts, dtype=np.int64)
    if law.ndim != 2 or law.shape != count.shape or law.size == 0:
        raise InvalidRequestError(f"laws have shape {law.shape}, counts {count.shape}; give one row a question to both")
    order = np.argsort(-law, axis=1, kind="stable")
    law, count = np.take_along_axis(law, order, axis=1), np.take_along_axis(count, order, axis=1)
    draws = count.sum(axis=1)
    expected, observed = (draws[:, None] * law).sum(axis=0), count.sum(axis=0)
    covariance = np.diag(expected) - (law * draws[:, None]).T @ law
    inverse, rank = _inverse_on_range(covariance)
    difference = observed - expected
    statistic = float(difference @ inverse @ difference)
    return Agreement(
        statistic=statistic,
        degrees_of_freedom=rank,
        p_value=float(stats.chi2.sf(statistic, rank)) if rank else 1.0,
        expected=tuple(expected.tolist()),
        observed=tuple(observed.tolist()),
    )


def _inverse_on_range(covariance: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the pseudo-inverse and rank of a covariance; the sum of the counts is fixed, so it is singular."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * max(1.0, float(values[-1]))
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, int(kept.sum())
