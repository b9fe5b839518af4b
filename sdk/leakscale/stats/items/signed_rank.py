"""The signed-rank test of paired numbers, exact with ties.

Ranks are settled on whole numbers: differences are counted in units of the tenth significant digit of the data, so
that 0.525 - 0.5 and 0.55 - 0.525 tie, as they do on paper and do not in floating point.

Source: METHODS 6.2; Wilcoxon 1945.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from leakscale.stats.independent_sums import Summand, law_of_sum
from leakscale.stats.significance import LEAST_P, Alternative, TestResult, TestState, exact_p_value

__all__ = ["EXACT_PAIRS_MAX", "difference_lattice", "signed_rank_test"]

EXACT_PAIRS_MAX: Final = 500
"""Pairs that differ, up to which the law is exact; beyond, the normal law is as good."""
_DIGITS: Final = 10


def difference_lattice(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return first - second in units of the tenth significant digit of the largest number, shape (pairs,)."""
    largest = float(max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0)))
    if largest == 0:
        return np.zeros(first.shape, np.int64)
    unit = math.floor(math.log10(largest)) - _DIGITS + 1
    return np.rint((first - second) * 10.0**-unit).astype(np.int64)


def signed_rank_test(
    first: NDArray[np.float64], second: NDArray[np.float64], *, alternative: Alternative, excluded_count: int = 0
) -> TestResult:
    """Test whether differences first - second are symmetric about 0.

    Args:
        first: Finite numbers of shape (pairs,).
        second: Their partners.
        alternative: `greater` asks whether `first` tends to be larger.
        excluded_count: Pairs that the caller left out, for the result.

    Returns:
        The sum of the ranks with a positive sign minus the sum of those with a negative one. Pairs that do not differ
        have no sign and are left out of the ranking; `informative_count` counts the others.
    """
    differences = difference_lattice(first, second)
    differences = differences[differences != 0]
    doubled_ranks = _doubled_ranks(np.abs(differences))
    observed = int((np.sign(differences) * doubled_ranks).sum())
    is_exact = differences.size <= EXACT_PAIRS_MAX
    return TestResult(
        statistic=observed / 2,
        statistic_name="signed-rank sum",
        p_value=(_exact if is_exact else _normal)(doubled_ranks, observed, alternative),
        alternative=alternative,
        method="signed ranks, exact" if is_exact else "signed ranks, normal approximation",
        is_mid_p=False,
        observation_count=int(first.size),
        informative_count=int(differences.size),
        excluded_count=excluded_count,
        state=TestState.INFORMATIVE if differences.size else TestState.NO_VARIATION,
    )


def _doubled_ranks(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return twice the rank of each value; equal values share the mean of their ranks."""
    _, places, copies = np.unique(values, return_inverse=True, return_counts=True)
    return (2 * np.cumsum(copies) - copies + 1)[places]


def _exact(doubled_ranks: NDArray[np.int64], observed: int, alternative: Alternative) -> float:
    ranks, copies = np.unique(doubled_ranks, return_counts=True)
    law = law_of_sum(
        [Summand((-rank, rank), (0.5, 0.5), count) for rank, count in zip(ranks.tolist(), copies.tolist(), strict=True)]
    )
    return exact_p_value(law, observed, alternative)


def _normal(doubled_ranks: NDArray[np.int64], observed: int, alternative: Alternative) -> float:
    z = observed / math.sqrt(float((doubled_ranks.astype(np.float64) ** 2).sum()))
    if alternative is Alternative.TWO_SIDED:
        return float(max(2 * ndtr(-abs(z)), LEAST_P))
    return float(max(ndtr(-z if alternative is Alternative.GREATER else z), LEAST_P))
