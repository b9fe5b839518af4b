"""Whole-number arithmetic that never wraps around: 64 bits where they are enough, Python's integers where not."""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray

__all__ = ["INT64_MAX", "largest", "whole_total", "widened"]

INT64_MAX: Final = 2**63 - 1


def largest(values: NDArray[Any]) -> int:
    """Return the largest absolute value, 0 of an empty array, exact also at the end of 64 bits."""
    return max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0


def widened(values: NDArray[Any], reach: int) -> NDArray[Any]:
    """Return the values ready for arithmetic whose results have absolute values up to `reach`.

    Args:
        values: int64, or already Python's integers.
        reach: Bound on every intermediate result, in exact arithmetic.

    Returns:
        The same array if 64 bits hold the results, otherwise an array of Python's integers, which is exact and about
        thirty times slower.
    """
    return values.astype(object) if reach > INT64_MAX else values


def whole_total(values: NDArray[Any]) -> int:
    """Return the exact sum of whole numbers of any shape."""
    if largest(values) * values.size > INT64_MAX:
        return sum(values.ravel().tolist())
    return int(values.sum())
