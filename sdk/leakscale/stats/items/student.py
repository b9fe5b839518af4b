"""Student's t: the statistics and tail probabilities behind paired, two-sample and correlation tests.

Written on `scipy.special`, because importing `scipy.stats` would take longer than all of this package.

Source: Student 1908; Welch 1947 (unequal variances, with his approximate degrees of freedom).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from leakscale.stats.significance import LEAST_P, Alternative

__all__ = ["correlation_p_value", "paired_t", "t_p_value", "welch_t"]


def t_p_value(t: float, degrees: float, alternative: Alternative) -> float:
    """Return the probability under Student's law of a t at least as extreme, in (0, 1].

    Args:
        degrees: Degrees of freedom, more than 0.
    """
    if alternative is Alternative.TWO_SIDED:
        p_value = 2 * stdtr(degrees, -abs(t))
    else:
        p_value = stdtr(degrees, -t if alternative is Alternative.GREATER else t)
    return min(max(float(p_value), LEAST_P), 1.0)


def paired_t(differences: NDArray[np.float64], alternative: Alternative) -> tuple[float, float]:
    """Return t and its p-value for the mean of two or more differences that are not all equal."""
    n = differences.size
    t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(n)))
    return t, t_p_value(t, n - 1, alternative)


def welch_t(first: NDArray[np.int64], second: NDArray[np.int64], alternative: Alternative) -> tuple[float, float]:
    """Return t and its p-value for the means of two samples of two or more, not both constant."""
    errors = [float(sample.var(ddof=1)) / sample.size for sample in (first, second)]
    t = float(first.mean() - second.mean()) / math.sqrt(sum(errors))
    degrees = sum(errors) ** 2 / sum(
        error**2 / (sample.size - 1) for error, sample in zip(errors, (first, second), strict=True)
    )
    return t, t_p_value(t, degrees, alternative)


def correlation_p_value(r: float, n: int) -> float:
    """Return the two-sided p-value of Pearson's r over n independent pairs; 1 for two pairs, whose r is 1 or -1."""
    if n == 2:
        return 1.0
    left = 1 - r * r
    if left <= 0:
        return LEAST_P
    return t_p_value(r * math.sqrt((n - 2) / left), n - 2, Alternative.TWO_SIDED)
