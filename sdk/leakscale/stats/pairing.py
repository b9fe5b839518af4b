"""Scores of originals and fresh forms, paired parent by parent into gaps over one denominator.

Source: CleanScore 3.1; METHODS 0 (E1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import DesignError, EmptySampleError, ScoreError
from leakscale.stats.gaps import Gaps
from leakscale.stats.lattice import FINEST, common_denominator, on_lattice, rounding_of

__all__ = ["paired_gap"]


def paired_gap(original: ArrayLike, fresh: ArrayLike, *, strata: Sequence[str] | None = None) -> Gaps:
    """Pair each parent's original with its fresh forms.

    Args:
        original: Scores on the public originals in [0, 1], shape (parents,), in draw order; NaN: no score.
        fresh: Scores on the fresh forms in [0, 1], shape (parents, K), or (parents,) for one form; NaN: form missing.
        strata: Name of each parent's stratum, shape (parents,).

    A missing fresh form is left out of its parent's mean and counted; a parent without an original, or without any
    fresh form, has no gap and is counted as dropped. Leaving forms out is harmless only if they are missing for
    reasons that have nothing to do with the answer.

    Graded scores are read as the fractions with small denominators that they stand for; scores that are no such
    fractions are rounded to the nearest 1e-9. So are gaps whose common denominator would pass 2^53: for right/wrong
    scores that takes parents with every number of fresh forms up to 41.

    Raises:
        DesignError: If the stratum names do not match the parents.
        EmptySampleError: If no parent has a gap.
        ScoreError: If a score is outside [0, 1], or the shapes do not pair up.
    """
    public = parameters.floats(original, "original scores", error=ScoreError)
    forms = parameters.floats(fresh, "fresh scores", error=ScoreError)
    if forms.ndim == 1:
        forms = forms[:, np.newaxis]
    _require_scores(public, forms)
    named = None if strata is None else parameters.names(strata, "strata", error=DesignError)
    if named is not None and len(named) != public.size:
        raise DesignError(f"{len(named)} stratum names for {public.size} parents; give each parent one")
    present = ~np.isnan(forms)
    kept = present.any(axis=1) & ~np.isnan(public)
    if not kept.any():
        raise EmptySampleError(
            "no parent has both an original and a fresh form with a score; there is no gap to average"
        )
    public, forms, present = public[kept], forms[kept], present[kept]
    form_counts = present.sum(axis=1)
    rounding = max(rounding_of(original), rounding_of(fresh))
    scale = common_denominator(np.concatenate((public, forms[present])), rounding=rounding)
    fresh_totals = on_lattice(np.where(present, forms, 0.0), scale, rounding=rounding).sum(axis=1)
    originals, means, denominator = _over_one_denominator(
        on_lattice(public, scale, rounding=rounding), fresh_totals, form_counts, scale
    )
    return Gaps(
        numerators=originals - means,
        denominator=denominator,
        strata=None if named is None else tuple(name for name, keep in zip(named, kept, strict=True) if keep),
        original_numerators=originals,
        missing_form_count=int((~present).sum()),
        dropped_parent_count=int((~kept).sum()),
    )


def _over_one_denominator(
    originals: NDArray[np.int64], fresh_totals: NDArray[np.int64], form_counts: NDArray[np.int64], scale: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the originals, the means of the fresh forms, and the denominator of both.

    It is the least that holds every mean; where a double could not hold it any more, all are rounded to `FINEST`.
    """
    spread = math.lcm(*(int(count) for count in np.unique(form_counts)))
    if scale * spread <= parameters.COUNT_MAX:
        return originals * spread, fresh_totals * (spread // form_counts), scale * spread
    return _rounded(originals, scale), _rounded(fresh_totals, scale * form_counts.astype(object)), FINEST


def _rounded(numerators: NDArray[np.int64], denominators: Any) -> NDArray[np.int64]:
    """Return the nearest multiples of 1/FINEST, from nonnegative fractions, in Python's integers."""
    wide = numerators.astype(object)
    return np.array((2 * FINEST * wide + denominators) // (2 * denominators), np.int64)


def _require_scores(original: NDArray[np.float64], fresh: NDArray[np.float64]) -> None:
    if original.ndim != 1 or fresh.ndim != 2 or fresh.shape[0] != original.size:
        raise ScoreError(
            f"originals have shape {original.shape} and fresh forms {fresh.shape}; pass (parents,) and (parents, K)"
        )
    for name, scores in (("original", original), ("fresh", fresh)):
        known = scores[~np.isnan(scores)]
        if known.size and (known.min() < 0 or known.max() > 1):
            raise ScoreError(f"a score in `{name}` lies outside 0..1; scores are shares of full marks")
