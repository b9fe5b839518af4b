"""Numbers as whole multiples of one small fraction."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import ScoreError
from leakscale.stats.lattice import FINEST, common_denominator, on_lattice, rounding_of


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


@pytest.mark.parametrize(("dtype", "parts"), [(np.float32, 3), (np.float32, 100), (np.float16, 3), (np.float64, 7)])
def test_fractions_in_reduced_precision_are_the_same_fractions(dtype: type[np.floating[Any]], parts: int) -> None:
    """Thirds stored in single precision are off by 1e-8: a lattice of a billionth made ties and tests of noise."""
    marks = np.arange(parts + 1)
    values = (marks / parts).astype(dtype)

    rounding = rounding_of(values)

    assert common_denominator(values, rounding=rounding) == parts
    assert on_lattice(values.astype(np.float64), parts, rounding=rounding).tolist() == marks.tolist()
