"""The relabelling test: could any form of a parent just as well have been the public one?

Sharp null: within each parent the forms are exchangeable for this model. Then the role of the original falls on each
form with equal probability, independently over parents, and the law of the mean gap is known exactly. For right/wrong
scores the number of parents whose pseudo-original is correct is Poisson-binomial; graded scores take a convolution.

What it is for: to strengthen a null. It rejects under ordinary form mismatch as well as under exposure, so it must
never announce a positive; the interval and the sensitivity analysis bound an advantage, this test does not.

Source: CleanScore Proposition 6 and 7.10; METHODS 3.2 and 13.2. The paper draws relabellings; no draw is needed. It
reports two-sided p-values in 7.10 and one-sided ones in 7.11, so the alternative is part of every result here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats.form_scores import FormScores
from leakscale.stats.independent_sums import Summand, law_of_sum
from leakscale.stats.resampling import SumDistribution
from leakscale.stats.significance import Alternative, TestResult, TestState, exact_p_value

__all__ = ["randomization_test", "relabelling_law"]


def randomization_test(correct: ArrayLike, *, alternative: str = "two-sided", mid_p: bool = False) -> TestResult:
    """Test exactly whether the forms of each parent are exchangeable, by the mean gap.

    Args:
        correct: Scores in [0, 1] of shape (parents, 1 + K), column 0 the original; NaN marks a missing form. A parent
            is relabelled among the forms it has, and left out (and counted) without an original or any fresh form.
        alternative: `two-sided` (distance of the mean gap from 0), `greater` (public form easier) or `less`.
        mid_p: Count ties half. The test is then closer to its level on average and may exceed it.

    Returns:
        The mean gap as a share, with its p-value in (0, 1]. Where all forms of every parent score alike the state is
        `no_variation`: p is 1, or 0.5 with `mid_p`, whatever is true.

    Raises:
        EmptySampleError: If no parent has an original and a fresh form.
        EnumerationError: If graded scores lie on so fine a lattice that the exact law would take more than seconds.
        ParameterError: If there is no such alternative.
        ScoreError: If the shape is another, or a score lies outside [0, 1].

    Valid at any number of parents, and for any joint distribution of outcomes that exchanging forms within parents
    leaves as it is. Not covered: which departure from exchangeability a rejection is.

    Source: CleanScore Proposition 6; METHODS 3.2, 13.2.
    """
    side = Alternative.of(alternative)
    forms = FormScores.of(correct)
    gaps = forms.placebo_gaps
    observed = int(gaps[:, 0].sum())
    informative = int(np.count_nonzero(gaps.any(axis=1)))
    return TestResult(
        statistic=observed / (forms.parent_count * forms.gap_denominator),
        statistic_name="mean gap",
        p_value=exact_p_value(relabelling_law(forms, gaps), observed, side, is_mid_p=mid_p),
        alternative=side,
        method="exact Poisson-binomial" if forms.denominator == 1 else "exact convolution",
        is_mid_p=mid_p,
        observation_count=forms.parent_count,
        informative_count=informative,
        excluded_count=forms.excluded_count,
        state=TestState.INFORMATIVE if informative else TestState.NO_VARIATION,
    )


def relabelling_law(forms: FormScores, gaps: NDArray[np.int64]) -> SumDistribution:
    """Return the law of the sum of the gaps over random relabellings, over `forms.gap_denominator`.

    Args:
        gaps: `forms.placebo_gaps`.

    Raises:
        EnumerationError: If the lattice of the scores is too fine.
    """
    patterns = _binary_patterns(forms, gaps) if forms.denominator == 1 else _graded_patterns(forms, gaps)
    return law_of_sum([_summand(pattern, copies) for pattern, copies in patterns if any(pattern)])


def _binary_patterns(forms: FormScores, gaps: NDArray[np.int64]) -> Iterable[tuple[list[int], int]]:
    """Group parents by how many forms they have and how many of them are correct, which settles all their gaps."""
    kinds = forms.form_counts * (gaps.shape[1] + 1) + forms.totals
    _, rows, copies = np.unique(kinds, return_index=True, return_counts=True)
    return [(gaps[row][forms.present[row]].tolist(), int(count)) for row, count in zip(rows, copies, strict=True)]


def _graded_patterns(forms: FormScores, gaps: NDArray[np.int64]) -> Iterable[tuple[Sequence[int], int]]:
    """Group parents whose gaps are the same apart from their order."""
    rows = zip(gaps, forms.present, strict=True)
    return Counter(tuple(sorted(row[present].tolist())) for row, present in rows).items()


def _summand(pattern: Sequence[int], copies: int) -> Summand:
    """Give each form's gap the same probability; equal gaps add up."""
    values = Counter(pattern)
    ordered = sorted(values)
    return Summand(tuple(ordered), tuple(values[value] / len(pattern) for value in ordered), copies)
