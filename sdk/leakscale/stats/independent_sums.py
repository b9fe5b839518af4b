"""The exact law of a sum of independent whole numbers that differ in their laws.

All terms of a convolution are positive, so each probability keeps its *relative* precision, far out in the tails too;
a Fourier transform would leave rounding noise of 1e-16 there, and a p-value is a tail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.errors import EnumerationError
from leakscale.stats.resampling import SumDistribution

__all__ = ["Summand", "law_of_sum"]

_MULTIPLICATIONS_MAX = 20_000_000_000
"""About ten seconds."""


@dataclass(frozen=True, slots=True)
class Summand:
    """The law of one independent term, and how many such terms there are."""

    values: tuple[int, ...]
    """Ascending and distinct."""
    weights: tuple[float, ...]
    """Probability of each value; they sum to 1."""
    copies: int = 1


def law_of_sum(summands: Sequence[Summand]) -> SumDistribution:
    """Return the law of the sum of all terms, by direct convolution.

    Terms of two values (binary outcomes) are binomial together and cost almost nothing; others are added one by one.

    Raises:
        EnumerationError: If the lattice of values is so fine that the convolution would take more than seconds.
    """
    first = sum(term.copies * term.values[0] for term in summands)
    step = math.gcd(*(value - term.values[0] for term in summands for value in term.values)) or 1
    _check_size(summands, step)
    law = np.ones(1)
    for term in summands:
        places = [(value - term.values[0]) // step for value in term.values]
        if len(places) == 2:
            binomial = _power(np.array(term.weights), term.copies)
            law = (
                np.convolve(law, binomial)
                if places[1] == 1
                else _plus(law, _multiples(places[1], term.copies), binomial)
            )
        else:
            for _ in range(term.copies):
                law = _plus(law, places, term.weights)
    return SumDistribution(first, step, law)


def _plus(
    law: NDArray[np.float64], places: Sequence[int], weights: Sequence[float] | NDArray[np.float64]
) -> NDArray[np.float64]:
    total = np.zeros(law.size + places[-1])
    for place, weight in zip(places, weights, strict=True):
        total[place : place + law.size] += weight * law
    return total


def _power(law: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Convolve a law with itself by repeated squaring."""
    result = np.ones(1)
    while exponent:
        if exponent & 1:
            result = np.convolve(result, law)
        exponent >>= 1
        if exponent:
            law = np.convolve(law, law)
    return result


def _multiples(stride: int, count: int) -> range:
    """Return 0, stride, ..., count * stride."""
    return range(0, count * stride + 1, stride)


def _check_size(summands: Sequence[Summand], step: int) -> None:
    points = sum(term.copies * (term.values[-1] - term.values[0]) for term in summands) // step + 1
    work = points * sum(term.copies * len(term.values) for term in summands)
    if work > _MULTIPLICATIONS_MAX:
        raise EnumerationError(
            f"the exact law has {points:,} points and would take {work:,} multiplications; "
            "round the scores to a coarser lattice, e.g. 1/100"
        )
