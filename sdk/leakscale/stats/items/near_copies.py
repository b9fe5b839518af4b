"""What near-copies among the fresh forms do to the mean gap: drop them, compare them, correlate.

None of this changes a bank. Items are frozen before any model is asked, and what is found afterwards is reported with
what it cost.

Source: CleanScore 7.7, Table 9; METHODS 7.2. Welch 1947.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats.errors import EmptySampleError, NoInformationError, ScoreError
from leakscale.stats.form_scores import FormScores
from leakscale.stats.items.student import welch_t
from leakscale.stats.significance import Alternative, TestResult, TestState

__all__ = ["DropComparison", "GroupComparison", "compare_flagged", "drop_and_recompute"]


@dataclass(frozen=True, slots=True)
class DropComparison:
    """The mean gap with and without the flagged parents."""

    gap_of_all: float
    gap_without: float
    parent_count: int
    """Parents with a gap."""
    dropped_count: int
    """Flagged parents among them."""
    excluded_count: int
    """Parents without a gap, because the original or every fresh form has no score."""
    method: str = "mean gap, recomputed without flagged parents"

    @property
    def shift(self) -> float:
        """How far the mean gap moves when the flagged parents are dropped; read it against the half-width."""
        return self.gap_without - self.gap_of_all

    def to_dict(self) -> dict[str, float | int | str]:
        """Return the fields as JSON-ready values."""
        return {
            "gap_of_all": self.gap_of_all,
            "gap_without": self.gap_without,
            "shift": self.shift,
            "parent_count": self.parent_count,
            "dropped_count": self.dropped_count,
            "excluded_count": self.excluded_count,
            "method": self.method,
        }

    def __str__(self) -> str:
        return (
            f"mean gap {100 * self.gap_of_all:+.2f} points, {100 * self.gap_without:+.2f} without "
            f"{self.dropped_count} of {self.parent_count} parents (shift {100 * self.shift:+.2f})"
        )


def drop_and_recompute(correct: ArrayLike, flagged: ArrayLike) -> DropComparison:
    """Recompute the mean gap without the flagged parents.

    Args:
        correct: Scores in [0, 1] of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.
        flagged: Of each parent, whether to drop it, shape (parents,), e.g. `NearCopies.flagged`.

    Raises:
        EmptySampleError: If no parent has a gap, or none is left.
        ScoreError: If scores or flags have the wrong shape or values.

    Source: METHODS 7.2.
    """
    forms, dropped = _flagged_parents(correct, flagged)
    if dropped.all():
        raise EmptySampleError("every parent with a gap is flagged; none is left to average")
    gaps, lattice = forms.placebo_gaps[:, 0], forms.gap_denominator
    kept = gaps[~dropped]
    return DropComparison(
        gap_of_all=int(gaps.sum()) / (gaps.size * lattice),
        gap_without=int(kept.sum()) / (kept.size * lattice),
        parent_count=int(gaps.size),
        dropped_count=int(dropped.sum()),
        excluded_count=forms.excluded_count,
    )


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """The mean gap of the flagged parents beside that of the rest."""

    flagged_mean: float
    rest_mean: float
    flagged_count: int
    rest_count: int
    test: TestResult
    method: str = "mean gaps of two groups, Welch's t test"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "flagged_mean": self.flagged_mean,
            "rest_mean": self.rest_mean,
            "flagged_count": self.flagged_count,
            "rest_count": self.rest_count,
            "test": self.test.to_dict(),
            "method": self.method,
        }

    def __str__(self) -> str:
        text = (
            f"mean gap {100 * self.flagged_mean:+.2f} points on {self.flagged_count} flagged parents, "
            f"{100 * self.rest_mean:+.2f} on the other {self.rest_count}, p = {self.test.p_value:.3g} (Welch)"
        )
        if self.test.state is TestState.INFORMATIVE:
            return text
        return f"{text}, uninformative: {self.test.state.replace('_', ' ')}"


def compare_flagged(correct: ArrayLike, flagged: ArrayLike, *, alternative: str = "two-sided") -> GroupComparison:
    """Compare the gaps of flagged parents with those of the rest by Welch's t test.

    Args:
        correct: Scores in [0, 1] of shape (parents, 1 + K), column 0 the original; NaN marks a missing form.
        flagged: Of each parent, whether it is flagged, shape (parents,).
        alternative: `two-sided`, `greater` (flagged parents have larger gaps) or `less`.

    Raises:
        EmptySampleError: If no parent has a gap.
        NoInformationError: If no parent is flagged, or every one.
        ParameterError: If there is no such alternative.
        ScoreError: If scores or flags have the wrong shape or values.

    A group of one parent, or two groups without any variation, gives p = 1 with a state that says why.

    Source: METHODS 7.2.
    """
    side = Alternative.of(alternative)
    forms, chosen = _flagged_parents(correct, flagged)
    if chosen.all() or not chosen.any():
        raise NoInformationError(
            "flagged parents and others are needed to compare them; one of the two groups is empty"
        )
    gaps = forms.placebo_gaps[:, 0]
    lattice = forms.gap_denominator
    ours, others = gaps[chosen], gaps[~chosen]
    return GroupComparison(
        flagged_mean=int(ours.sum()) / (ours.size * lattice),
        rest_mean=int(others.sum()) / (others.size * lattice),
        flagged_count=int(ours.size),
        rest_count=int(others.size),
        test=_welch(ours, others, side, forms.excluded_count),
    )


def _welch(ours: NDArray[np.int64], others: NDArray[np.int64], side: Alternative, excluded_count: int) -> TestResult:
    state, statistic, p_value = TestState.INFORMATIVE, 0.0, 1.0
    if min(ours.size, others.size) == 1:
        state = TestState.SINGLE_OBSERVATION
    elif np.ptp(ours) == 0 and np.ptp(others) == 0:
        state = TestState.CONSTANT
    else:
        statistic, p_value = welch_t(ours, others, side)
    observations = int(ours.size + others.size)
    return TestResult(
        statistic=statistic,
        statistic_name="t",
        p_value=p_value,
        alternative=side,
        method="Welch's t test",
        is_mid_p=False,
        observation_count=observations,
        informative_count=observations,
        excluded_count=excluded_count,
        state=state,
    )


def _flagged_parents(correct: ArrayLike, flagged: ArrayLike) -> tuple[FormScores, NDArray[np.bool_]]:
    """Return the parents with a gap, and which of them are flagged."""
    forms, flags = FormScores.of(correct), np.asarray(flagged)
    given = forms.parent_count + forms.excluded_count
    if flags.dtype != np.bool_ or flags.shape != (given,):
        raise ScoreError(f"flags have dtype {flags.dtype} and shape {flags.shape}; pass {given} booleans, one a parent")
    return forms, flags[forms.rows]
