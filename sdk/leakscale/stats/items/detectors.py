"""Two detectors by others, computed on the same forms: a shift of confidence, and the score on fresh forms.

A shift of confidence is not a shift of the score: a model may recognise the wording of a public item and still choose
the option that it would have chosen anyway. Report both, and correct for the number of tests (`adjust_pvalues`).

Source: CleanScore 7.6, Table 7; METHODS 6.1 and 6.2. The statistics are the papers'; their verdicts are not taken over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EmptySampleError, ScoreError
from leakscale.stats.form_scores import FormScores
from leakscale.stats.items.signed_rank import difference_lattice, signed_rank_test
from leakscale.stats.items.student import paired_t
from leakscale.stats.significance import Alternative, TestResult, TestState

__all__ = ["CleanEvalScore", "PacostResult", "clean_eval_score", "pacost_test"]


_LEAST: Final = 1e-100
"""Confidences all below this, or one above its inverse, have no variance in double precision."""


@dataclass(frozen=True, slots=True)
class CleanEvalScore:
    """The score on fresh forms, which carries no surface-form advantage, beside the public one."""

    fresh_score: float
    """Mean over parents of the mean score on their fresh forms, in [0, 1]."""
    public_score: float
    """Mean score of the same parents on their public originals, in [0, 1]."""
    parent_count: int
    missing_form_count: int
    """Fresh forms without a score among these parents."""
    excluded_count: int
    """Parents left out, because the original or every fresh form has no score."""
    method: str = "Clean-Eval-style fresh-form score"

    @property
    def drop(self) -> float:
        """Public minus fresh score: the mean gap of the parents."""
        return self.public_score - self.fresh_score

    def to_dict(self) -> dict[str, float | int | str]:
        """Return the fields as JSON-ready values."""
        return {
            "fresh_score": self.fresh_score,
            "public_score": self.public_score,
            "drop": self.drop,
            "parent_count": self.parent_count,
            "missing_form_count": self.missing_form_count,
            "excluded_count": self.excluded_count,
            "method": self.method,
        }

    def __str__(self) -> str:
        return (
            f"fresh-form score {100 * self.fresh_score:.1f}, public score {100 * self.public_score:.1f} "
            f"(drop {100 * self.drop:+.2f} points, {self.parent_count} parents)"
        )


def clean_eval_score(correct: ArrayLike) -> CleanEvalScore:
    """Score the fresh forms, and the public ones of the same parents.

    Args:
        correct: Scores in [0, 1] of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.

    Raises:
        EmptySampleError: If no parent has an original and a fresh form.
        ScoreError: If the shape is another, or a score lies outside [0, 1].

    A score without an interval decides nothing; `mean_ci` of the same gaps bounds the drop.

    Source: METHODS 6.1.
    """
    forms = FormScores.of(correct)
    parents, original_total = forms.parent_count, int(forms.numerators[:, 0].sum())
    lattice = forms.gap_denominator
    fresh_total = original_total * (lattice // forms.denominator) - int(forms.placebo_gaps[:, 0].sum())
    return CleanEvalScore(
        fresh_score=fresh_total / (parents * lattice),
        public_score=original_total / (parents * forms.denominator),
        parent_count=parents,
        missing_form_count=int((~forms.present).sum()),
        excluded_count=forms.excluded_count,
    )


@dataclass(frozen=True, slots=True)
class PacostResult:
    """Whether a model is more confident on public forms than on fresh forms of the same parents."""

    mean_difference: float
    """Public minus fresh, in the unit of the confidences."""
    t_test: TestResult
    signed_rank: TestResult
    pair_count: int
    missing_pair_count: int
    """Parents without a pair, because the public or every fresh confidence is missing."""
    missing_form_count: int
    """Fresh confidences missing among the pairs kept."""
    method: str = "PaCoST-style paired confidence test"

    def is_flagged(self, *, alpha: float = 0.05) -> bool:
        """Tell whether the paired t test rejects at a level; a flag before correction for the number of tests."""
        return self.t_test.p_value < parameters.level(alpha)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "mean_difference": self.mean_difference,
            "t_test": self.t_test.to_dict(),
            "signed_rank": self.signed_rank.to_dict(),
            "pair_count": self.pair_count,
            "missing_pair_count": self.missing_pair_count,
            "missing_form_count": self.missing_form_count,
            "method": self.method,
        }

    def __str__(self) -> str:
        text = (
            f"confidence on public minus fresh forms {self.mean_difference:+.4g} over {self.pair_count} pairs, "
            f"t test p = {self.t_test.p_value:.3g}, signed-rank p = {self.signed_rank.p_value:.3g} "
            f"({self.t_test.alternative})"
        )
        return f"{text}, {self.missing_pair_count} pairs missing" if self.missing_pair_count else text


def pacost_test(public: ArrayLike, fresh: ArrayLike, *, alternative: str = "two-sided") -> PacostResult:
    """Test whether confidence differs between the public form and the mean of the fresh forms.

    Args:
        public: Confidence on each public form, e.g. mean log-probability a token, shape (parents,); NaN: missing.
        fresh: The same on the fresh forms, shape (parents, K), or (parents,) for one form; NaN: missing.
        alternative: `two-sided`, `greater` (more confident on public forms) or `less`.

    Raises:
        EmptySampleError: If no parent has a pair.
        ParameterError: If there is no such alternative.
        ScoreError: If the shapes do not pair up, or a confidence is infinite: the logarithm of a probability of 0 has
            no mean, and dropping such pairs, as the original program does, drops the least confident ones.

    The original program tests `greater` only; CleanScore does not say which side it tests, and two-sided fits its
    figures. A single pair, or differences that are all equal, give p = 1 in the t test with a state that says why.

    Source: METHODS 6.2.
    """
    side = Alternative.of(alternative)
    first, second, missing_forms, missing = _pairs(public, fresh)
    return PacostResult(
        mean_difference=float(np.mean(first - second)),
        t_test=_t_test(first, second, side, missing),
        signed_rank=signed_rank_test(first, second, alternative=side, excluded_count=missing),
        pair_count=int(first.size),
        missing_pair_count=missing,
        missing_form_count=missing_forms,
    )


def _pairs(public: ArrayLike, fresh: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], int, int]:
    """Return the confidences of each pair, the fresh forms missing among them, and the parents without a pair."""
    one = parameters.floats(public, "confidences", error=ScoreError)
    forms = parameters.floats(fresh, "confidences", error=ScoreError)
    forms = forms[:, np.newaxis] if forms.ndim == 1 else forms
    if one.ndim != 1 or forms.ndim != 2 or forms.shape[0] != one.size:
        raise ScoreError(f"confidences have shapes {one.shape} and {forms.shape}; pass (parents,) and (parents, K)")
    if np.isinf(one).any() or np.isinf(forms).any():
        raise ScoreError("a confidence is infinite; give probabilities of 0 a floor, or NaN to count them as missing")
    largest = max(np.abs(values).max(initial=0.0, where=~np.isnan(values)) for values in (one, forms))
    if largest and not _LEAST <= largest <= 1 / _LEAST:
        raise ScoreError(f"the largest confidence is {largest:g}, where squares leave the doubles; take another unit")
    present = ~np.isnan(forms)
    kept = present.any(axis=1) & ~np.isnan(one)
    if not kept.any():
        raise EmptySampleError("no parent has a public and a fresh confidence; there is no pair to test")
    counts = present.sum(axis=1)
    means = np.where(present, forms, 0.0).sum(axis=1)[kept] / counts[kept]
    return one[kept], means, int((~present[kept]).sum()), int((~kept).sum())


def _t_test(first: NDArray[np.float64], second: NDArray[np.float64], side: Alternative, missing: int) -> TestResult:
    state = TestState.INFORMATIVE
    if first.size == 1:
        state = TestState.SINGLE_OBSERVATION
    elif np.ptp(difference_lattice(first, second)) == 0:
        state = TestState.CONSTANT
    statistic, p_value = 0.0, 1.0
    if state is TestState.INFORMATIVE:
        statistic, p_value = paired_t(first - second, side)
    return TestResult(
        statistic=statistic,
        statistic_name="t",
        p_value=p_value,
        alternative=side,
        method="paired t test",
        is_mid_p=False,
        observation_count=int(first.size),
        informative_count=int(first.size),
        excluded_count=missing,
        state=state,
    )
