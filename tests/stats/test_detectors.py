"""The two detectors that are reported beside the audit."""

from __future__ import annotations

import json
import math
from typing import Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy import stats as scipy_stats

from leakscale.stats import (
    EmptySampleError,
    ParameterError,
    ScoreError,
    StatisticsError,
    TestState,
    clean_eval_score,
    pacost_test,
    paired_gap,
)


def log_probabilities(
    *, parents: int = 60, shift: float = 0.0, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Build confidences of public forms and of two fresh forms of the same parents."""
    rng = np.random.Generator(np.random.PCG64(seed))
    level = -rng.gamma(2, 0.4, parents)
    return level + shift + rng.normal(0, 0.2, parents), level[:, np.newaxis] + rng.normal(0, 0.2, (parents, 2))


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_paired_tests_agree_with_scipy(side: Literal["two-sided", "greater", "less"]) -> None:
    """Public against the mean of the fresh forms, pair by pair."""
    public, fresh = log_probabilities(parents=40, shift=0.05)
    means = fresh.mean(axis=1)

    result = pacost_test(public, fresh, alternative=side)

    known = scipy_stats.ttest_rel(public, means, alternative=side)
    assert result.t_test.statistic == pytest.approx(known.statistic, rel=1e-9)
    assert result.t_test.p_value == pytest.approx(known.pvalue, rel=1e-9)
    assert result.signed_rank.p_value == pytest.approx(
        scipy_stats.wilcoxon(public, means, alternative=side, method="exact").pvalue, rel=1e-9
    )
    assert result.mean_difference == pytest.approx(np.mean(public - means), abs=1e-12)


def test_pairing_is_what_makes_a_small_shift_visible() -> None:
    """An unpaired test of the same numbers drowns the shift in the differences between parents."""
    public, fresh = log_probabilities(shift=0.15)

    result = pacost_test(public, fresh)

    assert result.is_flagged(alpha=0.001)
    assert scipy_stats.ttest_ind(public, fresh.mean(axis=1)).pvalue > 0.05


def test_missing_confidences_are_counted_and_never_dropped_silently() -> None:
    """A pair without a confidence is often the least confident one; the reader must see how many there are."""
    public, fresh = log_probabilities(parents=30)
    public[3] = fresh[7] = np.nan
    fresh[9, 1] = np.nan

    result = pacost_test(public, fresh)

    assert (result.pair_count, result.missing_pair_count, result.missing_form_count) == (28, 2, 1)
    assert result.t_test.excluded_count == 2
    assert "2 pairs missing" in str(result)
    kept = np.delete(np.arange(30), [3, 7])
    assert result.mean_difference == pytest.approx(np.mean(public[kept] - np.nanmean(fresh[kept], axis=1)))


def test_probability_of_zero_is_refused_instead_of_dropped() -> None:
    """Its logarithm has no mean; the original program leaves such pairs out without a word."""
    with pytest.raises(ScoreError, match="floor"):
        pacost_test([-0.1, -math.inf], [-0.2, -0.3])


def test_single_pair_gives_one_and_says_so() -> None:
    """One difference has no variance; scipy would answer NaN."""
    result = pacost_test([-0.1], [-0.9])

    assert result.t_test.p_value == 1
    assert result.t_test.state is TestState.SINGLE_OBSERVATION
    assert "NaN" not in json.dumps(result.to_dict(), allow_nan=False)


def test_equal_differences_give_one_in_the_t_test_and_ranks_decide() -> None:
    """A variance of rounding noise would make t enormous; the signed ranks need no variance."""
    public = np.array([-0.3, -0.8, -1.7, -2.9, -0.1, -0.6])

    result = pacost_test(public, public - 0.1)

    assert result.t_test.state is TestState.CONSTANT
    assert result.t_test.p_value == 1
    assert result.signed_rank.p_value == pytest.approx(2 / 64)


def test_exchanged_forms_change_only_the_sign() -> None:
    """Which form is called public carries a sign and nothing else."""
    public, fresh = log_probabilities(shift=0.05)
    means = fresh.mean(axis=1)

    forth, back = pacost_test(public, means, alternative="greater"), pacost_test(means, public, alternative="less")

    assert back.mean_difference == pytest.approx(-forth.mean_difference, abs=1e-15)
    assert back.t_test.p_value == pytest.approx(forth.t_test.p_value, rel=1e-9)
    assert back.signed_rank.p_value == pytest.approx(forth.signed_rank.p_value, rel=1e-9)


@pytest.mark.parametrize(
    ("public", "fresh", "side", "error", "words"),
    [
        ([-1.0, -2.0], [[-1.0, -2.0]], "greater", ScoreError, "parents, K"),
        ([[-1.0]], [[-2.0]], "greater", ScoreError, "parents, K"),
        ([math.nan], [-1.0], "greater", EmptySampleError, "no pair"),
        ([-1.0], [-2.0], "larger", ParameterError, "two-sided"),
    ],
)
def test_confidences_that_do_not_pair_up_are_refused(
    public: ArrayLike, fresh: ArrayLike, side: str, error: type[StatisticsError], words: str
) -> None:
    """A silent broadcast here would be a wrong p-value in a table."""
    with pytest.raises(error, match=words):
        pacost_test(public, fresh, alternative=side)


def test_fresh_score_and_drop_are_those_of_the_audit() -> None:
    """The detector and the audit read the same forms, so their numbers must add up."""
    rng = np.random.Generator(np.random.PCG64(4))
    correct = rng.integers(0, 2, (50, 4)).astype(float)
    correct[5, 2] = correct[8, 0] = np.nan

    result = clean_eval_score(correct)

    gaps = paired_gap(correct[:, 0], correct[:, 1:])
    assert result.drop == pytest.approx(gaps.mean, abs=1e-12)
    assert result.fresh_score == pytest.approx(gaps.fresh_score, abs=1e-12)
    assert result.public_score == pytest.approx(gaps.public_score, abs=1e-12)
    assert (result.parent_count, result.missing_form_count, result.excluded_count) == (49, 1, 1)


def test_fresh_score_weighs_parents_and_not_forms() -> None:
    """A parent with one fresh form left counts as much as one with three."""
    result = clean_eval_score(np.array([[1, 0, 0, 0], [1, 1, np.nan, np.nan]]))

    assert result.fresh_score == 0.5
    assert str(result).startswith("fresh-form score 50.0, public score 100.0 (drop +50.00 points")
    assert json.loads(json.dumps(result.to_dict()))["drop"] == 0.5


def test_scores_of_another_shape_are_refused() -> None:
    """One column is a score without a fresh form."""
    with pytest.raises(ScoreError, match="parents, 1"):
        clean_eval_score([1, 0, 1])
