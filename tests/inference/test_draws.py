"""A draw is the inverse of a cumulative distribution at a uniform that only the draw's identity decides."""

from __future__ import annotations

import hashlib
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from leakscale.inference.draws import counter_uniform, inverse_cdf

laws = st.lists(st.integers(0, 1000), min_size=1, max_size=8).filter(any).map(lambda w: [each / sum(w) for each in w])


@given(laws, st.floats(0, 1, exclude_max=True))
def test_draw_is_an_outcome_whose_interval_holds_the_point(law: list[float], point: float) -> None:
    """Each outcome owns an interval as long as its probability, in order."""
    drawn = inverse_cdf(law, point)

    below = sum(law[:drawn])
    assert below <= point + 1e-12
    assert point < below + law[drawn] + 1e-12


@given(laws)
def test_outcome_of_probability_zero_is_not_drawn_at_zero(law: list[float]) -> None:
    """The interval of an impossible outcome is empty, so even its left end belongs to the next."""
    assert law[inverse_cdf(law, 0.0)] > 0


def test_sum_that_ends_below_one_draws_the_last() -> None:
    """Rounding must not leave a gap at the top."""
    assert inverse_cdf([0.1] * 10, 1 - 2.0**-53) == 9


def test_uniforms_of_a_seed_differ_by_counter_and_repeat_by_value() -> None:
    """No state: the third uniform is the third, whoever asks and when."""
    seed = hashlib.sha256(b"a draw").digest()

    values = [counter_uniform(seed, counter) for counter in range(1000)]

    assert len(set(values)) == 1000
    assert values[3] == counter_uniform(seed, 3)
    assert all(0 <= value < 1 for value in values)


def test_uniforms_fill_the_interval_evenly() -> None:
    """Chi-square over twenty bins, at a level that a right generator fails once in 1e5."""
    seeds = [hashlib.sha256(str(number).encode()).digest() for number in range(2000)]

    bins = Counter(int(counter_uniform(seed, counter) * 20) for seed in seeds for counter in range(3))

    expected = 6000 / 20
    assert sum((bins[each] - expected) ** 2 / expected for each in range(20)) < 60.0
