"""Numbers as whole multiples of one small fraction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import ScoreError
from leakscale.stats.lattice import FINEST, common_denominator, on_lattice


@given(st.lists(st.fractions(-1, 1, max_denominator=30), min_size=1, max_size=4))
def test_small_fractions_are_recovered_exactly(values: list[Fraction]) -> None:
    """Whatever marks were given, the float that stands for them is turned back into them."""
    floats = np.array([float(value) for value in values])
    denominator = common_denominator(floats)

    numerators = on_lattice(floats, denominator)

    assert [Fraction(numerator, denominator) for numerator in numerators.tolist()] == values


def test_least_lattice_is_found() -> None:
    """A finer one than needed would cost the exact interval layers."""
    assert common_denominator([-1, 0, 1]) == 1
    assert common_denominator([0.5, 0, 1]) == 2
    assert common_denominator([1 / 3, 0.5]) == 6
    assert common_denominator([]) == 1


@pytest.mark.parametrize("values", [[0.123456789012], [1 / 997, 1 / 991, 1 / 983]])
def test_numbers_without_a_common_lattice_go_to_the_finest(values: list[float]) -> None:
    """Log-probabilities, and marks out of unrelated maxima, share no small denominator."""
    assert common_denominator(values) == FINEST
    assert on_lattice(np.array(values), FINEST) / FINEST == pytest.approx(values, abs=1e-9)


def test_value_off_the_lattice_is_refused() -> None:
    """Rounding a third to a half would change the data."""
    with pytest.raises(ScoreError, match="no multiple of 1/2"):
        on_lattice(np.array([1 / 3]), 2)
