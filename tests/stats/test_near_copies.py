"""What near-copies do to the mean gap, whether depth goes with the gap, and whether rewrites are equally deep."""

from __future__ import annotations

import json
import math
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from leakscale.stats import (
    EmptySampleError,
    NoInformationError,
    ScoreError,
    TestState,
    adjust_pvalues,
    comparable_depth,
    compare_flagged,
    depth_correlation,
    drop_and_recompute,
    paired_gap,
    pooled_depth_correlation,
)


def a_bank(*, parents: int = 200, models: int = 1, seed: int = 0) -> NDArray[np.float64]:
    """Build outcomes of parents with two fresh forms, shape (models, parents, 3)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    chance = rng.beta(1, 1, parents)
    return (rng.random((models, parents, 3)) < chance[:, np.newaxis]).astype(float)


def flags(parents: int, *rows: int) -> NDArray[np.bool_]:
    flagged = np.zeros(parents, bool)
    flagged[list(rows)] = True
    return flagged


def test_gap_without_flagged_parents_is_that_of_the_smaller_bank() -> None:
    """Dropping rows and recomputing by hand must give the same number."""
    bank = a_bank()[0]
    flagged = flags(200, *range(0, 200, 10))

    result = drop_and_recompute(bank, flagged)

    rest = bank[~flagged]
    assert result.gap_of_all == pytest.approx(paired_gap(bank[:, 0], bank[:, 1:]).mean, abs=1e-15)
    assert result.gap_without == pytest.approx(paired_gap(rest[:, 0], rest[:, 1:]).mean, abs=1e-15)
    assert result.shift == result.gap_without - result.gap_of_all
    assert (result.parent_count, result.dropped_count) == (200, 20)
    assert "without 20 of 200 parents" in str(result)


def test_near_copies_that_hide_a_gap_are_exposed_by_dropping_them() -> None:
    """Forms answered like their originals pull the gap to zero; that is the harm this looks for."""
    bank = np.vstack((np.tile([1.0, 0, 0], (30, 1)), np.tile([1.0, 1, 1], (70, 1))))

    result = drop_and_recompute(bank, flags(100, *range(30, 100)))

    assert (result.gap_of_all, result.gap_without) == (0.3, 1.0)


def test_flags_of_parents_without_a_gap_are_not_counted_as_dropped() -> None:
    """Such a parent was never in the mean."""
    result = drop_and_recompute(np.array([[1, 0], [1, np.nan], [0, 0]]), [True, True, False])

    assert (result.dropped_count, result.excluded_count, result.gap_without) == (1, 1, 0)


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_welch_agrees_with_scipy(side: Literal["two-sided", "greater", "less"]) -> None:
    """Gaps of 21 flagged parents against 179 others, as in the paper."""
    bank = a_bank(seed=5)[0]
    flagged = flags(200, *range(21))
    gaps = bank[:, 0] - bank[:, 1:].mean(axis=1)
    known = scipy_stats.ttest_ind(gaps[:21], gaps[21:], equal_var=False, alternative=side)

    result = compare_flagged(bank, flagged, alternative=side)

    assert result.test.p_value == pytest.approx(known.pvalue, rel=1e-9)
    assert result.test.statistic == pytest.approx(known.statistic, rel=1e-9)
    assert result.flagged_mean == pytest.approx(gaps[:21].mean(), abs=1e-12)
    assert result.rest_mean == pytest.approx(gaps[21:].mean(), abs=1e-12)
    assert (result.flagged_count, result.rest_count) == (21, 179)


def test_comparison_of_too_little_says_so_instead_of_nan() -> None:
    """scipy answers NaN for a single parent and for two constant groups."""
    single = compare_flagged([[1, 0], [1, 1], [0, 1]], [True, False, False])
    constant = compare_flagged([[1, 0], [1, 0], [1, 1], [0, 0]], [True, True, False, False])

    assert (single.test.p_value, single.test.state) == (1, TestState.SINGLE_OBSERVATION)
    assert (constant.test.p_value, constant.test.state) == (1, TestState.CONSTANT)
    assert "uninformative: constant" in str(constant)
    assert json.loads(json.dumps(constant.to_dict(), allow_nan=False))["flagged_mean"] == 1


def test_groups_that_are_empty_are_refused_by_name() -> None:
    """A comparison with nobody, and a mean of nobody."""
    with pytest.raises(NoInformationError, match="one of the two groups is empty"):
        compare_flagged([[1, 0], [0, 0]], [False, False])
    with pytest.raises(EmptySampleError, match="none is left"):
        drop_and_recompute([[1, 0], [0, 0]], [True, True])
    with pytest.raises(ScoreError, match="2 booleans"):
        drop_and_recompute([[1, 0], [0, 0]], [0, 1])
    with pytest.raises(ScoreError, match="2 booleans"):
        compare_flagged([[1, 0], [0, 0]], [True])


def test_correlation_agrees_with_scipy() -> None:
    """Similarity of the parent's forms, averaged, against its gap."""
    rng = np.random.Generator(np.random.PCG64(6))
    bank, similarities = a_bank(seed=6)[0], rng.uniform(0.1, 0.9, (200, 2))
    known = scipy_stats.pearsonr(similarities.mean(axis=1), bank[:, 0] - bank[:, 1:].mean(axis=1))

    result = depth_correlation(similarities, bank)

    assert result.r == pytest.approx(known.statistic, abs=1e-12)
    assert result.p_value == pytest.approx(known.pvalue, rel=1e-9)
    assert str(result).startswith(f"r = {known.statistic:+.3f} over 200 parents")


def test_perfect_correlation_has_a_p_value_above_zero_except_over_two_parents() -> None:
    """Two points always lie on a line; more on a line are strong evidence, and still not certainty."""
    line = np.array([[1, 0], [1, 1], [0, 1], [1, 1]])

    two, four = depth_correlation([0.9, 0.5], line[:2]), depth_correlation([0.9, 0.5, 0.1, 0.5], line)

    assert (two.r, two.p_value) == (1, 1)
    assert four.r == pytest.approx(1)
    assert 0 < four.p_value < 1e-10


def test_copies_of_a_model_do_not_make_a_correlation_significant() -> None:
    """Five models share 200 parents; counting 1,000 pairs as observations would halve the p-value and more."""
    rng = np.random.Generator(np.random.PCG64(7))
    bank, similarities = a_bank(seed=7)[0], rng.uniform(0.1, 0.9, 200)

    once, five = (pooled_depth_correlation(similarities, np.array([bank] * copies)) for copies in (1, 5))

    assert once.r is not None
    assert five.r == pytest.approx(once.r, abs=1e-12)
    assert five.by_parent.p_value == pytest.approx(once.by_parent.p_value, rel=1e-9)
    assert (five.pair_count, five.by_parent.parent_count) == (1000, 200)


def test_pooled_correlation_is_over_all_pairs() -> None:
    """Written out: every model's gap beside the similarity of its parent."""
    rng = np.random.Generator(np.random.PCG64(8))
    panel, similarities = a_bank(models=3, seed=8), rng.uniform(0.1, 0.9, 200)
    panel[1, 4, 0] = np.nan
    gaps = panel[:, :, 0] - panel[:, :, 1:].mean(axis=2)
    kept = ~np.isnan(gaps)
    known = np.corrcoef(np.broadcast_to(similarities, gaps.shape)[kept], gaps[kept])[0, 1]

    result = pooled_depth_correlation(similarities, panel)

    assert result.r == pytest.approx(known, abs=1e-12)
    assert result.pair_count == 599
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["by_parent"]["parent_count"] == 200
    assert "599 model-parent pairs" in str(result)


@pytest.mark.parametrize(
    ("similarities", "bank", "state"),
    [
        ([0.3, 0.5, 0.7], [[1, 1], [1, 1], [0, 0]], TestState.CONSTANT),
        ([0.5, 0.5, 0.5], [[1, 0], [1, 1], [0, 0]], TestState.CONSTANT),
        ([0.3, math.nan, math.nan], [[1, 0], [1, 1], [0, 0]], TestState.SINGLE_OBSERVATION),
    ],
)
def test_undefined_correlation_is_none_with_a_state(
    similarities: list[float], bank: list[list[int]], state: TestState
) -> None:
    """A model without a gap anywhere is no reason for NaN in a table, and no reason to stop the panel."""
    result = depth_correlation(similarities, bank)

    assert (result.r, result.p_value, result.state) == (None, 1, state)
    assert str(result).startswith("no correlation")


def test_correlation_without_matching_rows_is_refused() -> None:
    """Shifted by one row it would still be a number."""
    with pytest.raises(ScoreError, match="3 similarities for 2 parents"):
        depth_correlation([0.1, 0.2, 0.3], [[1, 0], [0, 0]])
    with pytest.raises(EmptySampleError, match="nothing to correlate"):
        depth_correlation([math.nan, math.nan], [[1, 0], [0, 0]])
    with pytest.raises(ScoreError, match="models, parents"):
        pooled_depth_correlation([0.1, 0.2], [[1, 0], [0, 0]])


def test_lighter_first_pass_is_found_though_no_form_is_a_near_copy() -> None:
    """Each form alone looks deep enough; side by side the first pass keeps more, which is the systematic defect."""
    rng = np.random.Generator(np.random.PCG64(9))
    second = rng.uniform(0.2, 0.5, 60)
    uneven = np.column_stack((second + rng.uniform(-0.02, 0.12, 60), second))

    result = comparable_depth(uneven)

    assert not result.is_comparable()
    assert result.largest_difference == pytest.approx(np.mean(uneven[:, 0] - uneven[:, 1]), abs=1e-12)
    assert "mean similarity by form" in str(result)


def test_forms_of_one_procedure_pass_at_the_level() -> None:
    """Three exchangeable forms: the three comparisons share one level by Holm."""
    passes = 0
    for seed in range(200):
        rng = np.random.Generator(np.random.PCG64(seed))
        passes += comparable_depth(rng.uniform(0.2, 0.6, (25, 3))).is_comparable(alpha=0.1)

    assert passes >= 170


def test_pairs_of_forms_are_adjusted_for_their_number() -> None:
    """With four forms there are six comparisons."""
    rng = np.random.Generator(np.random.PCG64(10))
    values = rng.uniform(0.2, 0.6, (30, 4))
    values[0, 3] = np.nan

    result = comparable_depth(values)

    assert [(pair.first, pair.second) for pair in result.pairs] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [pair.parent_count for pair in result.pairs] == [30, 30, 29, 30, 29, 29]
    by_holm = adjust_pvalues([pair.p_value for pair in result.pairs], method="holm")
    assert [pair.adjusted_p_value for pair in result.pairs] == by_holm.tolist()
    assert result.pairs[0].p_value == pytest.approx(
        scipy_stats.wilcoxon(values[:, 0], values[:, 1], method="exact").pvalue, rel=1e-9
    )
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["pairs"][5]["second"] == 3


def test_single_fresh_form_has_nothing_to_be_compared_with() -> None:
    """K = 1 is a valid audit."""
    result = comparable_depth(np.array([[0.3], [0.5]]))

    assert result.pairs == ()
    assert result.is_comparable()
    assert result.largest_difference == 0
    assert "nothing to be compared with" in str(result)


def test_similarities_that_cannot_be_compared_are_refused_by_name() -> None:
    """The message says which rule was broken."""
    with pytest.raises(ScoreError, match="parents, K"):
        comparable_depth([0.3, 0.4])
    with pytest.raises(ScoreError, match=r"0\.\.1"):
        comparable_depth([[0.3, 1.4]])
    with pytest.raises(EmptySampleError, match="missing for every parent"):
        comparable_depth([[0.3, math.nan]])
    with pytest.raises(EmptySampleError, match="compare other forms"):
        comparable_depth([[0.3, math.nan], [math.nan, 0.4]])
