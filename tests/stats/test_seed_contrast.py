"""Conditions compared seed by seed."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leakscale.stats import EmptyCellError, EnumerationError, IntervalState, PairingError, ParameterError, seed_contrast


def runs(values: list[float]) -> dict[str, float]:
    return {f"s{i}": value for i, value in enumerate(values)}


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=8))
def test_p_value_equals_enumeration_on_whole_numbers(tenths: list[int]) -> None:
    """Ties are counted as at least as extreme, also where tenths do not add up in floating point."""
    extreme = sum(
        abs(sum(sign * value for sign, value in zip(signs, tenths, strict=True))) >= abs(sum(tenths))
        for signs in itertools.product((1, -1), repeat=len(tenths))
    )

    result = seed_contrast(runs([value / 10 for value in tenths]), runs([0.0] * len(tenths)))

    assert result.p_value == extreme / 2 ** len(tenths)
    assert result.pattern_count == 2 ** len(tenths)
    assert result.positive_count == sum(value > 0 for value in tenths)


def test_interval_is_the_paired_t_interval() -> None:
    """Unpaired, what both runs of a seed share would be counted as noise."""
    rng = np.random.Generator(np.random.PCG64(1))
    common = rng.normal(0, 0.2, 10)
    first, second = (np.clip(common + rng.normal(m, 0.02, 10), -1, 1).tolist() for m in (0.1, 0.0))
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)

    result = seed_contrast(runs(first), runs(second)).difference

    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_exchanged_conditions_change_only_the_sign() -> None:
    """The test and the width stay."""
    first, second = runs([0.1, 0.3, -0.2, 0.4]), runs([0.0, 0.1, 0.1, 0.2])

    forth, back = seed_contrast(first, second), seed_contrast(second, first)

    assert back.difference.estimate == -forth.difference.estimate
    assert back.difference.low == pytest.approx(-forth.difference.high)
    assert back.p_value == forth.p_value


def test_degenerate_seeds_have_a_state_and_no_zero_p() -> None:
    """One seed cannot reject anything."""
    one, same = seed_contrast(runs([0.5]), runs([0.1])), seed_contrast(runs([0.3, 0.3]), runs([0.1, 0.1]))

    assert one.difference.state is IntervalState.SINGLE_OBSERVATION
    assert one.p_value == 1
    assert one.standard_deviation is None
    assert same.difference.state is IntervalState.CONSTANT
    assert same.p_value == 0.5
    json.dumps([one.to_dict(), same.to_dict()], allow_nan=False)
    assert "1 of 1 seeds positive" in str(one)


@pytest.mark.parametrize(
    ("first", "second", "error", "words"),
    [
        ([0.1, 0.2], [0.1], PairingError, "report every seed"),
        ([], [], EmptyCellError, "at least one run"),
        ([0.1] * 21, [0.0] * 21, EnumerationError, "at most 20"),
        ([math.nan], [0.0], ParameterError, r"in -1\.\.1"),
    ],
)
def test_runs_that_cannot_be_paired_are_refused(
    first: list[float], second: list[float], error: type[Exception], words: str
) -> None:
    """A dropped seed is a dropped observation."""
    with pytest.raises(error, match=words):
        seed_contrast(runs(first), runs(second))
