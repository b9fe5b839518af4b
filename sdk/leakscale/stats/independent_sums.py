"""The exact law of a sum of independent whole numbers that differ in their laws.

All terms of a convolution are positive, so each probability keeps its *relative* precision, far out in the tails too;
a Fourier transform would leave rounding noise of 1e-16 there, and a p-value is a tail. Probabilities below the least
normal double, 2e-308, end a law on either side, so that the law of very many terms takes no more work than its spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.errors import EnumerationError
from leakscale.stats.resampling import SumDistribution

__all__ = ["Summand", "law_of_sum", "law_of_total"]

_MULTIPLICATIONS_MAX = 20_000_000_000
"""About ten seconds."""
_POINTS_MAX = 1 << 26
"""A law of this many points takes 512 MiB."""
_NEGLIGIBLE = 1e-30
"""Far below any level."""
_LEAST = float(np.finfo(np.float64).tiny)


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
        EnumerationError: If the lattice of values is so fine that the convolution would take more than seconds, or
            more memory than there may be.
    """
    first = sum(term.copies * term.values[0] for term in summands)
    step = math.gcd(*(value - term.values[0] for term in summands for value in term.values)) or 1
    points = sum(term.copies * (term.values[-1] - term.values[0]) for term in summands) // step + 1
    work = _Work(points)
    start, law = 0, np.ones(1)
    for term in summands:
        places = [(value - term.values[0]) // step for value in term.values]
        if len(places) == 2:
            skipped, binomial = _power(np.array(term.weights), term.copies, work)
            work.spend(law.size * binomial.size)
            start += skipped * places[1]
            law = (
                np.convolve(law, binomial)
                if places[1] == 1
                else _plus(law, _multiples(places[1], binomial.size - 1), binomial)
            )
        else:
            work.spend(term.copies * len(places) * (law.size + term.copies * places[-1]))
            for _ in range(term.copies):
                law = _plus(law, places, term.weights)
        skipped, law = _trimmed(law)
        start += skipped
    return SumDistribution(first, step, np.pad(law, (start, points - start - law.size)))


def law_of_total(laws: Sequence[SumDistribution]) -> SumDistribution:
    """Return the law of the total of independent sums, for probabilities that are compared with a level.

    Ends below 1e-30 are left out, so that very many laws of large samples can be added; without any law, the total is
    0.
    """
    step = math.gcd(*(law.step for law in laws)) or 1
    first, total = 0, np.ones(1)
    for law in laws:
        kept = np.flatnonzero(law.probabilities >= _NEGLIGIBLE)
        first += law.first + int(kept[0]) * law.step
        spread = np.zeros((kept[-1] - kept[0]) * (law.step // step) + 1)
        spread[:: law.step // step] = law.probabilities[kept[0] : kept[-1] + 1]
        total = np.convolve(total, spread)
    return SumDistribution(first, step, total)


class _Work:
    """The multiplications that a law has cost so far."""

    def __init__(self, points: int) -> None:
        self._points = points
        self._spent = 0
        if points > _POINTS_MAX:
            raise self._refusal(f"more than {_POINTS_MAX:,}")

    def spend(self, multiplications: int) -> None:
        """Refuse the next step if it would take too long together with those before it."""
        self._spent += multiplications
        if self._spent > _MULTIPLICATIONS_MAX:
            raise self._refusal(f"over {_MULTIPLICATIONS_MAX:,} multiplications")

    def _refusal(self, reason: str) -> EnumerationError:
        return EnumerationError(
            f"the exact law has {self._points:,} points, {reason}; round the scores to a coarser lattice, e.g. 1/100, "
            "or, if they are right or wrong, compare parents with one number of forms"
        )


def _trimmed(law: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
    """Cut off both ends that no double holds with full precision; return how many points went at the start."""
    kept = np.flatnonzero(law >= _LEAST)
    return int(kept[0]), law[kept[0] : kept[-1] + 1]


def _plus(
    law: NDArray[np.float64], places: Sequence[int], weights: Sequence[float] | NDArray[np.float64]
) -> NDArray[np.float64]:
    total = np.zeros(law.size + places[-1])
    for place, weight in zip(places, weights, strict=True):
        total[place : place + law.size] += weight * law
    return total


def _power(law: NDArray[np.float64], exponent: int, work: _Work) -> tuple[int, NDArray[np.float64]]:
    """Convolve a law with itself by repeated squaring; return its first place and the law from there."""
    start, result = 0, np.ones(1)
    law_start = 0
    while exponent:
        if exponent & 1:
            work.spend(result.size * law.size)
            skipped, result = _trimmed(np.convolve(result, law))
            start += law_start + skipped
        exponent >>= 1
        if exponent:
            work.spend(law.size**2)
            skipped, law = _trimmed(np.convolve(law, law))
            law_start = 2 * law_start + skipped
    return start, result


def _multiples(stride: int, count: int) -> range:
    """Return 0, stride, ..., count * stride."""
    return range(0, count * stride + 1, stride)
