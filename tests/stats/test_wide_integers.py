"""No integer wraps around: the unit in which scores are counted changes no answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from leakscale.stats import FinitePopulationDesign, Gaps, IntervalState, mean_bounds, mean_ci, paired_gap
from leakscale.stats.errors import EnumerationError, ScoreError
from leakscale.stats.form_scores import FormScores
from leakscale.stats.resampling import resampled_rows, resampled_sums
from leakscale.stats.wide_integers import INT64_MAX, largest, whole_total, widened

from .mean_cases import numerators

SCALES = pytest.mark.parametrize("scale", [10**6, 3 * 10**9, 10**15])
METHODS = ("hoeffding", "wald_fpc", "empirical_bernstein", "empirical_bernstein_serfling", "betting")


def a_generator() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(1))


def test_largest_and_total_are_exact_at_the_end_of_64_bits() -> None:
    """np.abs of the least int64 is negative, and a sum of two of them is zero."""
    ends = np.array([-(2**63), -(2**63), 5])

    assert largest(ends) == 2**63
    assert whole_total(ends) == -(2**64) + 5
    assert whole_total(np.array([], np.int64)) == largest(np.array([], np.int64)) == 0


def test_values_are_widened_only_where_they_must_be() -> None:
    """Python's integers are thirty times slower, so nobody pays for them without need."""
    values = np.array([1, 2])

    assert widened(values, INT64_MAX) is values
    assert widened(values, INT64_MAX + 1).dtype == object


@SCALES
@given(values=numerators(12))
def test_resampled_sums_grow_with_their_unit(scale: int, values: list[int]) -> None:
    """32-bit copies of changes counted over 3,000,000,000 draws turned a change of +50 points around."""
    plain = resampled_sums(np.array(values), 20, a_generator())

    assert resampled_sums(np.array(values) * scale, 20, a_generator()).tolist() == [int(t) * scale for t in plain]


@SCALES
@given(values=numerators(12))
def test_resampled_rows_grow_with_their_unit(scale: int, values: list[int]) -> None:
    """Cross products of large counts pass 64 bits, and clusters carry them as rows."""
    rows = np.stack((values, np.arange(len(values))), axis=1)
    plain = resampled_rows(rows, 20, a_generator())

    wide = resampled_rows(rows.astype(object) * scale**2, 20, a_generator())

    assert wide.tolist() == [[int(a) * scale**2, int(b) * scale**2] for a, b in plain]


@SCALES
@pytest.mark.parametrize("method", METHODS)
@given(values=numerators())
def test_mean_interval_does_not_read_the_unit_of_the_scores(method: str, scale: int, values: list[int]) -> None:
    """Percent, permille or shares of a billion are the same gaps."""
    design = FinitePopulationDesign(100)

    plain = mean_ci(Gaps(np.array(values), 2), design, method=method)
    wide = mean_ci(Gaps(np.array(values) * scale, 2 * scale), design, method=method)

    assert (wide.estimate, wide.low, wide.high) == pytest.approx((plain.estimate, plain.low, plain.high), abs=1e-13)
    assert wide.state is plain.state


@pytest.mark.parametrize(("count", "denominator"), [(200_000, 60_000), (300_000, 99_999)])
def test_large_audit_of_finely_graded_scores_has_its_true_wald_width(count: int, denominator: int) -> None:
    """n times a sum of squares passed 64 bits: the bounds were NaN, or too narrow without a sign of it."""
    values = a_generator().integers(-denominator, denominator + 1, count)
    variance = float(np.var(values / denominator, ddof=1))

    interval = mean_ci(Gaps(values, denominator), FinitePopulationDesign(None), method="wald_fpc")

    assert interval.half_width == pytest.approx(1.959963984540054 * (variance / count) ** 0.5, rel=1e-9)
    assert interval.state is IntervalState.ESTIMATED


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64])
def test_samples_in_narrow_types_have_the_same_bounds(dtype: type[np.integer[Any]]) -> None:
    """Scores are stored in bytes, whose squares do not fit into bytes."""
    samples = a_generator().integers(0, 101, (5, 40))

    design = FinitePopulationDesign(900)
    tables = samples.astype(dtype), samples

    narrow, wide = (mean_bounds(table, 100, design, method="wald_fpc") for table in tables)

    assert narrow.low.tolist() == wide.low.tolist()
    assert narrow.high.tolist() == wide.high.tolist()


def test_sample_with_a_gap_above_its_denominator_is_refused() -> None:
    """5 over 1 is no gap; its bounds looked like an answer."""
    with pytest.raises(ScoreError, match=r"outside -1\.\.1"):
        mean_bounds([[5, 0, 0]], 1, FinitePopulationDesign(900), method="hoeffding")


@pytest.mark.parametrize("form_count", [16, 40, 42, 43, 60])
def test_many_fresh_forms_with_gaps_among_them_keep_the_scores(form_count: int) -> None:
    """The least common multiple of 1..42 fills 58 bits; sums over parents then wrapped to a negative public score."""
    rng = a_generator()
    fresh = rng.integers(0, 2, (form_count, form_count)).astype(float)
    fresh[np.arange(form_count)[:, None] < np.arange(form_count)] = np.nan
    original = rng.integers(0, 2, form_count).astype(float)

    gaps = paired_gap(original, fresh)

    expected = sum(Fraction(int(np.nansum(row)), place + 1) for place, row in enumerate(fresh)) / form_count
    assert gaps.public_score == pytest.approx(original.mean(), abs=1e-12)
    assert gaps.fresh_score == pytest.approx(float(expected), abs=2e-9 if form_count > 40 else 1e-15)
    assert gaps.mean == pytest.approx(original.mean() - float(expected), abs=2e-9)


def test_relabelling_of_forms_without_a_common_denominator_is_refused() -> None:
    """The denominator of 43 different numbers of forms does not fit, and a wrapped one gave a negative gap."""
    fresh = np.ones((45, 45))
    fresh[np.arange(45)[:, None] < np.arange(45)] = np.nan

    with pytest.raises(EnumerationError, match="one number of forms"):
        _ = FormScores.of(np.column_stack((np.ones(45), fresh))).placebo_gaps
