"""P-values of a panel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from leakscale.stats import ParameterError, UnsupportedMethodError, adjust_pvalues

METHODS = ("bonferroni", "holm", "bh")

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_lists)
def test_bh_agrees_with_scipy(p_values: list[float]) -> None:
    """The same procedure, written by others."""
    adjusted = adjust_pvalues(p_values, method="bh")

    assert adjusted == pytest.approx(scipy_stats.false_discovery_control(p_values, method="bh"), abs=1e-15)


@given(p_lists, st.sampled_from([0.01, 0.05, 0.3]))
def test_holm_flags_what_its_step_down_rule_flags(p_values: list[float], alpha: float) -> None:
    """The rule as its author wrote it: go up the sorted p-values and stop at the first that fails."""
    flagged = set()
    for step, test in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[test] * (len(p_values) - step) > alpha:
            break
        flagged.add(test)

    adjusted = adjust_pvalues(p_values, method="holm")

    assert {test for test, p in enumerate(adjusted) if p <= alpha} == flagged


@given(p_lists, st.sampled_from([0.01, 0.05, 0.3]))
def test_bh_flags_what_its_step_up_rule_flags(p_values: list[float], alpha: float) -> None:
    """The rule as its authors wrote it: the largest k with m p_(k) / k <= alpha, and every p-value up to that one."""
    ordered = sorted(p_values)
    passing = [k for k, p in enumerate(ordered, 1) if p * (len(ordered) / k) <= alpha]
    cut = ordered[passing[-1] - 1] if passing else -1.0

    adjusted = adjust_pvalues(p_values, method="bh")

    assert [p <= alpha for p in adjusted] == [p <= cut for p in p_values]


@pytest.mark.parametrize("method", METHODS)
@given(p_values=p_lists)
def test_adjusted_values_never_fall_below_the_raw_ones_and_keep_their_order(method: str, p_values: list[float]) -> None:
    """A correction can only take flags away, and cannot prefer a larger p-value to a smaller one."""
    adjusted = adjust_pvalues(p_values, method=method)

    assert np.all(adjusted >= np.array(p_values))
    assert np.all(adjusted <= 1)
    assert np.all(np.diff(adjusted[np.argsort(p_values)]) >= 0)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("bonferroni", [0.04, math.nan, 0.12, 1.0]),
        ("holm", [0.04, math.nan, 0.09, 1.0]),
        ("bh", [0.04, math.nan, 0.06, 0.8]),
    ],
)
def test_missing_p_value_stays_missing_and_still_counts(method: str, expected: list[float]) -> None:
    """One NaN must neither poison its neighbours nor make the panel smaller."""
    adjusted = adjust_pvalues([0.01, math.nan, 0.03, 0.6], method=method)

    assert adjusted == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("method", METHODS)
def test_input_is_left_as_it_was(method: str) -> None:
    """The raw p-values are printed beside the adjusted ones."""
    p_values = np.array([0.2, np.nan, 0.01])

    adjust_pvalues(p_values, method=method)

    assert p_values[0] == 0.2
    assert np.isnan(p_values[1])


@pytest.mark.parametrize("method", METHODS)
def test_no_test_needs_no_correction(method: str) -> None:
    """An empty panel is a panel."""
    assert adjust_pvalues([], method=method).size == 0


def test_impossible_input_is_refused_by_name() -> None:
    """A z score passed by mistake would come out as a large p-value."""
    with pytest.raises(ParameterError, match=r"1\.96 lies outside 0\.\.1"):
        adjust_pvalues([0.2, 1.96], method="bh")
    with pytest.raises(ParameterError, match="one dimension"):
        adjust_pvalues([[0.2, 0.3]], method="bh")
    with pytest.raises(UnsupportedMethodError, match="bonferroni, holm, bh"):
        adjust_pvalues([0.2], method="fdr")
