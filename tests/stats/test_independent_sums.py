"""The exact law of a sum of many independent terms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from leakscale.stats import EnumerationError, randomization_test
from leakscale.stats.independent_sums import Summand, law_of_sum, law_of_total


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


def test_laws_of_sums_add_up_to_the_law_of_all_their_terms() -> None:
    """Other steps, other beginnings, and a sum of nothing."""
    thirds, halves, copies = Summand((-1, 2), (2 / 3, 1 / 3)), Summand((-4, 4), (0.5, 0.5)), (5, 7)
    whole = law_of_sum([replace(thirds, copies=5), replace(halves, copies=7)])
    added = law_of_total(
        [law_of_sum([replace(each, copies=n)]) for each, n in zip((thirds, halves), copies, strict=True)]
    )

    chances = dict(zip(added.support.tolist(), added.probabilities.tolist(), strict=True))
    assert added.first == whole.first
    assert sum(chances.values()) == pytest.approx(1)
    for value, probability in zip(whole.support.tolist(), whole.probabilities.tolist(), strict=True):
        assert chances.get(value, 0.0) == pytest.approx(probability, rel=1e-12)
    assert law_of_total([]).probabilities.tolist() == [1.0]


def test_a_law_of_a_large_total_leaves_out_what_no_level_sees() -> None:
    """Its middle keeps its place and its precision."""
    halves = Summand((0, 1), (0.5, 0.5), 20_000)
    law = law_of_total([law_of_sum([halves]), law_of_sum([halves])])

    assert law.probabilities.size < 4_000
    assert sum(law.probabilities) == pytest.approx(1)
    assert float(law.support @ law.probabilities) == pytest.approx(20_000)
    assert math.log(law.probabilities[20_000 - law.first]) == pytest.approx(log_binomial(40_000, 20_000, 0.5), abs=1e-7)
