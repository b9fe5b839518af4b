"""What follows from disclosed totals, and how far rounding may have moved it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.errors import IntegrityError
from leakscale.models import Condition, Domain, ModelState
from leakscale.totals import Place, ToldTotals, round_count

PLACES: list[Place] = list(product(Domain, Condition, ModelState))


@given(count=st.integers(0, 10**9), step=st.integers(1, 1024))
def test_a_count_is_rounded_to_the_nearest_multiple(count: int, step: int) -> None:
    """Half a step is the most that a total may be off by."""
    rounded = round_count(count, step=step)

    assert rounded % step == 0
    assert abs(rounded - count) <= step // 2


@pytest.mark.parametrize(("count", "rounded"), [(15, 0), (16, 0), (17, 32), (48, 64), (80, 64), (81, 96)])
def test_a_count_halfway_goes_to_the_even_multiple(count: int, rounded: int) -> None:
    """Neither up nor down on the whole, and the same on every machine."""
    assert round_count(count, step=32) == rounded


@given(counts=st.lists(st.integers(0, 64 * 32), min_size=len(PLACES), max_size=len(PLACES)))
def test_no_number_is_farther_off_than_its_bound(counts: list[int]) -> None:
    """Whoever reads a rounded effect knows where the exact one lies."""
    draws = 64 * 32
    exact = ToldTotals({place: (count, draws) for place, count in zip(PLACES, counts, strict=True)}, count_step=1)
    told = ToldTotals(
        {place: (round_count(count, step=32), draws) for place, count in zip(PLACES, counts, strict=True)},
        count_step=32,
    )

    for domain in (None, *Domain):
        for before, after in (
            (exact.effect(domain), told.effect(domain)),
            (exact.change(domain, Condition.C0), told.change(domain, Condition.C0)),
        ):
            assert before.error_max == 0
            assert abs(before.value - after.value) <= after.error_max
        assert told.effect(domain).error_max == Fraction(2, 64)


def test_a_total_between_two_steps_is_refused() -> None:
    """It is not what a server rounded."""
    with pytest.raises(IntegrityError, match="33 of 64 draws right, which is no multiple of 32"):
        ToldTotals({(Domain.SQL, Condition.C0, ModelState.BASE): (33, 64)}, count_step=32)
