"""The exact law of a sum of many independent terms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leakscale.stats import EnumerationError, randomization_test
from leakscale.stats.independent_sums import Summand, law_of_sum


def log_binomial(count: int, successes: int, probability: float) -> float:
    choose = math.lgamma(count + 1) - math.lgamma(successes + 1) - math.lgamma(count - successes + 1)
    return choose + successes * math.log(probability) + (count - successes) * math.log1p(-probability)


@pytest.mark.parametrize(("count", "probability"), [(5_000, 0.5), (200_000, 0.3), (200_000, 1e-4)])
def test_law_of_very_many_binary_terms_is_binomial_far_into_its_tails(count: int, probability: float) -> None:
    """Ends that no double holds are cut off while it is built, and may cost the rest neither place nor precision."""
    law = law_of_sum([Summand((0, 1), (1 - probability, probability), count)])

    mean, spread = count * probability, math.sqrt(count * probability * (1 - probability))
    assert (law.first, law.step, law.probabilities.size) == (0, 1, count + 1)
    for successes in (round(mean), round(mean + 5 * spread), round(mean + 20 * spread)):
        expected = log_binomial(count, successes, probability)
        assert math.log(law.probabilities[successes]) == pytest.approx(expected, abs=1e-7)


def test_terms_on_strides_keep_their_places() -> None:
    """A law that was cut at its start begins later, once for each stride of its values."""
    half = (0.5, 0.5)

    law = law_of_sum([Summand((0, 1), half, 4_000), Summand((-3, 4), half, 4_000)])

    mean = float(law.support @ law.probabilities)
    assert mean == pytest.approx(4_000, rel=1e-9)
    assert float((law.support - mean) ** 2 @ law.probabilities) == pytest.approx(4_000 * (0.25 + 49 / 4), rel=1e-9)


def test_relabelling_test_takes_any_number_of_right_and_wrong_answers() -> None:
    """A benchmark of 200,000 parents was told to round scores that are 0 and 1."""
    correct = np.random.Generator(np.random.PCG64(2)).integers(0, 2, (200_000, 3))

    result = randomization_test(correct)

    spread = math.sqrt(np.var(correct, axis=1).sum() * 9 / 4) / 200_000
    assert result.p_value == pytest.approx(math.erfc(abs(result.statistic) / spread / math.sqrt(2)), abs=0.01)


def test_law_that_would_not_fit_is_refused_before_it_is_built() -> None:
    """Sixteen different numbers of forms have the common multiple 720,720, and binary scores cannot be rounded."""
    fresh = np.random.Generator(np.random.PCG64(3)).integers(0, 2, (200, 16)).astype(float)
    fresh[np.arange(200)[:, None] % 16 < np.arange(16)] = np.nan

    with pytest.raises(EnumerationError, match="one number of forms"):
        randomization_test(np.column_stack((np.ones(200), fresh)))
