"""Totals of resamples, drawn and exact."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import EnumerationError
from leakscale.stats.resampling import resampled_rows, resampled_sums, sum_distribution


@pytest.mark.parametrize("width", [2, 8, 9])
def test_rows_equal_a_plain_loop_across_chunks(width: int) -> None:
    """Everything measured on a family travels with it, whatever the chunk size, gathered or multiplied."""
    rows = np.stack(
        [np.arange(3000) - 1500, *(np.arange(3000) ** 2 % (97 + each) for each in range(width - 1))], axis=1
    )
    loop = np.random.Generator(np.random.PCG64(5))
    expected = [rows[loop.integers(0, 3000, 3000)].sum(axis=0).tolist() for _ in range(200)]

    totals = resampled_rows(rows, 200, np.random.Generator(np.random.PCG64(5)))

    assert totals.tolist() == expected


def test_one_column_gives_the_same_resamples_as_sums() -> None:
    """The joint analysis of one model is the plain one, number for number."""
    values = np.array([5, -3, 0, 0, 12, 7])

    one = resampled_rows(values[:, None], 500, np.random.Generator(np.random.PCG64(1)))[:, 0]

    assert one.tolist() == resampled_sums(values, 500, np.random.Generator(np.random.PCG64(1))).tolist()


def test_totals_beyond_a_double_are_still_whole() -> None:
    """A product in doubles would lose the last digits without a sound."""
    rows = np.array([[2**52 + 1, 1], [2**52 + 3, 2], [2**51 + 5, 3]])
    loop = np.random.Generator(np.random.PCG64(5))
    ordered = rows[np.argsort(rows[:, 0])]
    expected = [ordered[loop.integers(0, 3, 3)].sum(axis=0).tolist() for _ in range(50)]

    assert resampled_rows(rows, 50, np.random.Generator(np.random.PCG64(5))).tolist() == expected


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=4),
    st.lists(st.integers(-6, 6).map(lambda x: 2 * x), min_size=1, max_size=3),
)
def test_distribution_over_two_groups_equals_enumeration(first: list[int], second: list[int]) -> None:
    """Strata multiply their transforms; each has its own offset and the lattice is the common one."""
    totals = Counter(
        sum(a) + sum(b)
        for a in itertools.product(first, repeat=len(first))
        for b in itertools.product(second, repeat=len(second))
    )

    exact = sum_distribution(np.array(first), np.array(second))

    count = sum(totals.values())
    found = {int(t): p for t, p in zip(exact.support, exact.probabilities, strict=True) if p > 1e-14}
    assert found == pytest.approx({t: c / count for t, c in totals.items()}, abs=1e-13)


def test_distribution_that_would_not_fit_is_refused() -> None:
    """A process that swaps for an hour is no answer."""
    with pytest.raises(EnumerationError, match="possible values"):
        sum_distribution(np.arange(10_000) ** 2)
