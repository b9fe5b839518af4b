"""Sets of ratios that the data do not reject."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from leakscale.stats import RatioSet, RatioShape, fieller

ESTIMATES = st.floats(-1, 1)
ERRORS = st.floats(0.01, 1)


@given(st.tuples(ESTIMATES, ESTIMATES), st.tuples(ERRORS, ERRORS), st.floats(-0.95, 0.95), st.floats(-6, 6))
def test_set_holds_a_ratio_exactly_where_the_test_does_not_reject_it(
    estimates: tuple[float, float], errors: tuple[float, float], correlation: float, ratio: float
) -> None:
    """The definition, for every shape of the set."""
    (numerator, denominator), (error_n, error_d) = estimates, errors
    covariance = correlation * error_n * error_d
    result = fieller(
        numerator,
        denominator,
        numerator_variance=error_n**2,
        denominator_variance=error_d**2,
        covariance=covariance,
        alpha=0.05,
    )

    variance = error_n**2 - 2 * ratio * covariance + ratio**2 * error_d**2
    slack = special.ndtri(0.975) ** 2 * variance - (numerator - ratio * denominator) ** 2
    if abs(slack) > 1e-9:
        assert result.contains(ratio) == (slack > 0)


@pytest.mark.parametrize(
    ("numerator", "denominator", "shape", "words"),
    [
        (0.2, 0.4, RatioShape.BOUNDED, "0.2 to 0.9"),
        (0.4, 0.05, RatioShape.TWO_RAYS, "or less and"),
        (0.05, 0.02, RatioShape.EVERYTHING, "any value"),
    ],
)
def test_unbounded_answers_are_printed_as_such(
    numerator: float, denominator: float, shape: RatioShape, words: str
) -> None:
    """An interval forced upon an unbounded answer is where the percentile ratio covers half of what it says."""
    result = fieller(
        numerator, denominator, numerator_variance=0.004, denominator_variance=0.004, covariance=0.0, alpha=0.05
    )

    assert result.shape is shape
    assert result.is_bounded == (shape is RatioShape.BOUNDED)
    if shape is not RatioShape.BOUNDED:
        assert str(result).startswith("unbounded: ")
        assert words in str(result)
    assert result.contains(numerator / denominator)


def test_ends_belong_to_the_set() -> None:
    """The test does not reject at its critical value."""
    bounded, rays = RatioSet(RatioShape.BOUNDED, 0.2, 0.8), RatioSet(RatioShape.TWO_RAYS, -1.0, 2.0)

    assert [bounded.contains(x) for x in (0.1, 0.2, 0.5, 0.8, 0.9)] == [False, True, True, True, False]
    assert [rays.contains(x) for x in (-2.0, -1.0, 0.0, 2.0, 3.0)] == [True, True, False, True, True]


def test_set_covers_at_the_nominal_rate_with_a_small_denominator() -> None:
    """METHODS 13.7: .946 to .953, where a ratio's percentile interval falls to .574."""
    rng = np.random.Generator(np.random.PCG64(1))
    covered = 0
    for numerator, denominator in rng.normal((0.03, 0.06), (0.05, 0.05), (4000, 2)):
        result = fieller(
            numerator, denominator, numerator_variance=0.0025, denominator_variance=0.0025, covariance=0, alpha=0.05
        )
        covered += result.contains(0.5)

    assert 0.94 <= covered / 4000 <= 0.96
