"""Many tests at once: p-values adjusted so that one level holds for the whole panel."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import ParameterError, UnsupportedMethodError

__all__ = ["ADJUSTMENTS", "adjust_pvalues"]

ADJUSTMENTS: Final = ("bonferroni", "holm", "bh")
"""`bonferroni` and `holm` hold the chance of any false flag, `bh` the expected share of false flags among the flags."""


def adjust_pvalues(p_values: ArrayLike, *, method: str) -> NDArray[np.float64]:
    """Adjust p-values for the number of tests, so that each compares with the level of the whole panel.

    Args:
        p_values: Shape (tests,), each in [0, 1]; NaN stands for a test that was planned and gave no p-value.
        method: One of `ADJUSTMENTS`. `bh` (Benjamini and Hochberg) needs independent or positively dependent tests.

    Returns:
        Adjusted p-values in [0, 1], in the order given. A NaN stays NaN and still counts as a test: leaving it out
        would make the panel smaller after the fact.

    Raises:
        ParameterError: If a p-value is no number or lies outside [0, 1], or the array has more than one dimension.
        UnsupportedMethodError: If the method is not one of `ADJUSTMENTS`.

    Choose the method at registration; the one that flags most, chosen afterwards, holds no level.

    Source: METHODS 6.3. Holm 1979; Benjamini and Hochberg 1995.
    """
    p = parameters.floats(p_values, "p-values")
    if p.ndim != 1:
        raise ParameterError(f"p-values have shape {p.shape}; pass one dimension, one p-value a test")
    missing = np.isnan(p)
    if np.any((p < 0) | (p > 1)):
        raise ParameterError(f"p-value {p[(p < 0) | (p > 1)][0]} lies outside 0..1; pass NaN for a test without one")
    p[missing] = 1.0  # a test that can never be flagged and takes its place in the count
    adjusted = _adjusted(p, method)
    adjusted[missing] = np.nan
    return adjusted


def _adjusted(p: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    if method == "bonferroni":
        return np.minimum(p * p.size, 1.0)
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, p.size + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(p[order] * (p.size - rank + 1))
    elif method == "bh":
        stepped = np.minimum.accumulate((p[order] * (p.size / rank))[::-1])[::-1]
    else:
        raise UnsupportedMethodError(f"method {method!r} is not one of {', '.join(ADJUSTMENTS)}")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
