"""Gaps of parent items: score on the public original minus mean score on the fresh forms.

    D_i = Y_iO - (1/K) sum_k Y_iFk, in [-1, 1]

Gaps are whole numerators over one denominator, so sums, ties and comparisons are exact: for right/wrong scores and K
fresh forms the denominator is K.

Source: CleanScore 3.1; METHODS 0 (E1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import DesignError, EmptySampleError, ParameterError, ScoreError
from leakscale.stats.lattice import common_denominator, on_lattice, rounding_of
from leakscale.stats.wide_integers import INT64_MAX, largest, whole_total

__all__ = ["Gaps"]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The gaps of a sample of parent items, in the order in which the parents were drawn.

    Only the betting interval reads the order; every other method gives the same answer for any order of the rows.
    """

    numerators: NDArray[np.int64]
    """Whole numbers of shape (parents,); a gap is its numerator over `denominator`. Read-only."""
    denominator: int
    """Lattice of the gaps: each is a multiple of 1/denominator, and so is each gap of the benchmark."""
    strata: tuple[str, ...] | None = None
    """Name of each parent's stratum, in the same order; None for a simple random sample."""
    original_numerators: NDArray[np.int64] | None = None
    """Scores on the public originals over the same denominator; None where only the gaps are known."""
    missing_form_count: int = 0
    """Fresh forms without a score among the parents kept; such a parent's gap is over the forms it has."""
    dropped_parent_count: int = 0
    """Parents without a gap, because the original or every fresh form has no score."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numerators", _frozen(self.numerators))
        object.__setattr__(self, "denominator", _denominator(self.denominator))
        if self.numerators.size == 0:
            raise EmptySampleError("no parent item has a gap; a mean of nothing is undefined, not zero")
        if largest(self.numerators) > self.denominator:
            raise ScoreError(f"a gap lies outside -1..1 over the denominator {self.denominator}; check the scores")
        if self.original_numerators is not None:
            object.__setattr__(self, "original_numerators", _frozen(self.original_numerators))
            if self.original_numerators.shape != self.numerators.shape:
                raise ScoreError(f"{self.original_numerators.size} originals for {self.count} gaps; give each one")
        if self.strata is not None:
            object.__setattr__(self, "strata", parameters.names(self.strata, "strata", error=DesignError))
            if len(self.strata) != self.count:
                raise DesignError(f"{len(self.strata)} stratum names for {self.count} gaps; give each parent one")
        for name in ("missing_form_count", "dropped_parent_count"):
            object.__setattr__(self, name, parameters.count(getattr(self, name), name))

    @classmethod
    def of(cls, values: ArrayLike, *, denominator: int | None = None, strata: Sequence[str] | None = None) -> Gaps:
        """Take gaps of shape (parents,) in [-1, 1], in draw order.

        Args:
            denominator: Lattice of the gaps, K for right/wrong scores on K fresh forms; None: the smallest that
                holds these values, which for a benchmark with other gaps than the sampled ones is too small.

        Raises:
            DesignError: If the stratum names do not match the gaps.
            EmptySampleError: If there is no gap.
            ParameterError: If the denominator is no whole number from 1.
            ScoreError: If a gap is NaN, outside [-1, 1], or no multiple of 1/denominator.
        """
        gaps = parameters.floats(values, "gaps", error=ScoreError)
        if gaps.ndim != 1:
            raise ScoreError(f"gaps have shape {gaps.shape}; pass one number a parent, shape (parents,)")
        if not np.isfinite(gaps).all():
            raise ScoreError("a gap is NaN or infinite; build gaps with `paired_gap`, which counts missing forms")
        if gaps.size and np.abs(gaps).max() > 1:
            raise ScoreError("a gap lies outside -1..1; gaps are differences of scores in 0..1")
        rounding = rounding_of(values)
        scale = common_denominator(gaps, rounding=rounding) if denominator is None else _denominator(denominator)
        named = None if strata is None else parameters.names(strata, "strata", error=DesignError)
        return cls(on_lattice(gaps, scale, rounding=rounding), scale, named)

    @property
    def count(self) -> int:
        """Number of sampled parents with a gap, n."""
        return int(self.numerators.size)

    @property
    def total(self) -> int:
        """Sum of the numerators."""
        return whole_total(self.numerators)

    @property
    def square_total(self) -> int:
        """Sum of the squared numerators, exact for any denominator."""
        if self.count * self.denominator**2 <= INT64_MAX:
            return int(np.dot(self.numerators, self.numerators))
        return sum(value * value for value in self.numerators.tolist())

    @property
    def mean(self) -> float:
        """Mean gap of the sampled parents, unweighted."""
        return self.total / (self.count * self.denominator)

    @property
    def variance(self) -> float | None:
        """Sample variance of the gaps with n - 1 below the line; None for one parent, which has none."""
        n = self.count
        if n == 1:
            return None
        return float(Fraction(n * self.square_total - self.total**2, n * (n - 1) * self.denominator**2))

    @property
    def nonzero_count(self) -> int:
        """Number of parents whose gap is not zero, which the guardrail counts."""
        return int(np.count_nonzero(self.numerators))

    @property
    def is_constant(self) -> bool:
        """Tell whether all gaps are equal."""
        return bool((self.numerators == self.numerators[0]).all())

    @property
    def values(self) -> NDArray[np.float64]:
        """The gaps as numbers in [-1, 1], shape (parents,)."""
        return self.numerators / self.denominator

    @property
    def public_score(self) -> float | None:
        """Mean score on the public originals, in [0, 1]; None where only the gaps are known."""
        if self.original_numerators is None:
            return None
        return whole_total(self.original_numerators) / (self.count * self.denominator)

    @property
    def fresh_score(self) -> float | None:
        """Mean score on the fresh forms (the audit-adjusted score), in [0, 1]; each parent weighs the same."""
        if self.original_numerators is None:
            return None
        return (whole_total(self.original_numerators) - self.total) / (self.count * self.denominator)

    def take(self, rows: ArrayLike) -> Gaps:
        """Return the parents at these places, or where a mask of shape (parents,) is true, in that order.

        The counts of missing forms and dropped parents stay with the whole sample.

        Raises:
            EmptySampleError: If no parent is left.
            ParameterError: If the rows are neither whole numbers below the count of parents nor a mask.
        """
        places = self._places(rows)
        strata = None if self.strata is None else tuple(self.strata[place] for place in places)
        originals = None if self.original_numerators is None else self.original_numerators[places]
        return Gaps(self.numerators[places], self.denominator, strata, originals)

    def _places(self, rows: ArrayLike) -> NDArray[np.int64]:
        given = np.asarray(rows)
        if given.dtype == np.bool_ and given.shape == (self.count,):
            return np.flatnonzero(given)
        places = parameters.whole_numbers(rows, "rows")
        if given.dtype == np.bool_ or places.ndim != 1 or (places.size and not -self.count <= places.min()):
            raise ParameterError(f"rows have shape {given.shape}; pass places, or a mask of shape ({self.count},)")
        if places.size and places.max() >= self.count:
            raise ParameterError(f"row {places.max()} is none of 0..{self.count - 1}; count rows from 0")
        return np.arange(self.count)[places]

    def mirrored(self) -> Gaps:
        """Return the gaps with their signs exchanged, as if original and fresh forms had changed places."""
        return Gaps(-self.numerators, self.denominator, self.strata)

    def to_dict(self) -> dict[str, object]:
        """Return the integer totals and the scores as JSON-ready values."""
        return {
            "parent_count": self.count,
            "total": self.total,
            "denominator": self.denominator,
            "nonzero_count": self.nonzero_count,
            "mean": self.mean,
            "public_score": self.public_score,
            "fresh_score": self.fresh_score,
            "missing_form_count": self.missing_form_count,
            "dropped_parent_count": self.dropped_parent_count,
        }

    def __str__(self) -> str:
        text = f"mean gap {100 * self.mean:+.2f} points over {self.count} parents, {self.nonzero_count} nonzero"
        if self.missing_form_count:
            text += f", {self.missing_form_count} fresh forms missing"
        if self.dropped_parent_count:
            text += f", {self.dropped_parent_count} parents without a gap"
        return text


def _frozen(numerators: ArrayLike) -> NDArray[np.int64]:
    """Copy whole numbers into an array that nobody can change, without freezing the caller's own."""
    copy = parameters.whole_numbers(numerators, "numerators", error=ScoreError)
    if copy.ndim != 1:
        raise ScoreError(f"numerators have shape {copy.shape}; pass one whole number a parent, shape (parents,)")
    copy.flags.writeable = False
    return copy


def _denominator(value: object) -> int:
    return parameters.count(value, "denominator", 1)
