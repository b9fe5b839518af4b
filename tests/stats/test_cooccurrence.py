"""Parents over which several models stumble."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from leakscale.stats import (
    Alternative,
    EmptySampleError,
    EnumerationError,
    ParameterError,
    ScoreError,
    SeedRequiredError,
    StatisticsError,
    cooccurrence_test,
)
from leakscale.stats.items.overlaps import expected_overlap, overlap_law


def a_panel(shows: list[list[int]], *, mirror: bool = False, fresh: int = 2) -> NDArray[np.float64]:
    """Build outcomes (models, parents, 1 + K) in which row m shows the pattern on the parents marked 1."""
    pattern = np.array(shows)
    correct = np.ones((*pattern.shape, 1 + fresh))
    correct[pattern == 1, 0] = 0 if mirror else 1
    correct[pattern == 1, 1:] = 1 if mirror else 0
    return correct


def brute_force(sizes: list[int], population: int) -> dict[int, Fraction]:
    """Enumerate every placement of every set."""
    law: Counter[int] = Counter()
    placements = [list(itertools.combinations(range(population), size)) for size in sizes]
    for sets in itertools.product(*placements):
        hits = Counter(itertools.chain.from_iterable(sets))
        law[sum(count >= 2 for count in hits.values())] += 1
    total = math.prod(len(each) for each in placements)
    return {overlap: Fraction(count, total) for overlap, count in law.items()}


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=2, max_size=4))))
@settings(max_examples=60, deadline=None)
def test_law_equals_the_enumeration_of_every_placement(case: tuple[int, list[int]]) -> None:
    """The dynamic programme replaces a simulation, so it must give what all placements give."""
    population, sizes = case
    expected = brute_force(sizes, population)

    law = overlap_law(sizes, population)

    for overlap, probability in zip(law.support.tolist(), law.probabilities, strict=True):
        assert probability == pytest.approx(float(expected.get(overlap, Fraction(0))), abs=1e-13)


def test_law_of_two_sets_is_hypergeometric() -> None:
    """Two sets overlap in a hypergeometric number of members; scipy knows that law at a real size."""
    law = overlap_law([18, 25], 200)

    known = scipy_stats.hypergeom(200, 18, 25).pmf(law.support)
    assert law.probabilities == pytest.approx(known, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize(("sizes", "population"), [([9, 9, 9, 8, 8], 200), ([3, 40, 0, 17], 50), ([50, 50], 50)])
def test_mean_of_the_law_is_the_closed_form(sizes: list[int], population: int) -> None:
    """Two derivations of the expected count that share no code."""
    law = overlap_law(sizes, population)

    assert law.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert law.probabilities @ law.support == pytest.approx(expected_overlap(sizes, population), abs=1e-10)


def test_models_that_fail_together_are_found() -> None:
    """Three models that lose the same three parents of two hundred are evidence about these parents."""
    shows = np.zeros((3, 200), int)
    shows[:, [5, 90, 151]] = 1
    shows[0, 10:14] = shows[1, 20:24] = shows[2, 30:34] = 1

    result = cooccurrence_test(a_panel(shows.tolist()))

    assert result.observed == 3
    assert result.parents == (5, 90, 151)
    assert result.model_totals == (7, 7, 7)
    assert result.expected < 0.8
    assert result.p_value < 0.05


def test_failures_at_different_parents_are_no_evidence() -> None:
    """Models that each fail elsewhere say nothing about items: every placement has at least no overlap."""
    result = cooccurrence_test(a_panel([[1, 0, 0, 0], [0, 1, 0, 0]]))

    assert result.observed == 0
    assert result.p_value == 1


def test_mirror_counts_the_opposite_pattern_only() -> None:
    """A rewrite that leaks a hint and one that loses information are different defects."""
    hints = a_panel([[1, 1, 0, 0, 0], [1, 0, 0, 0, 0]], mirror=True)

    fault, mirror = (cooccurrence_test(hints, pattern=pattern) for pattern in ("fault", "mirror"))

    assert fault.observed == 0
    assert mirror.observed == 1
    assert mirror.p_value == pytest.approx(2 / 5)


def test_one_correct_fresh_form_is_no_fault() -> None:
    """The pattern is all fresh forms wrong; a parent with one right has another explanation."""
    panel = a_panel([[1, 0, 0], [1, 0, 0]])
    panel[0, 0, 2] = 1

    assert cooccurrence_test(panel).observed == 0


def test_opposite_alternatives_share_the_observed_value() -> None:
    """Both tails contain what was observed, so together they exceed one by its probability."""
    shows = [[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0]]

    greater, less = (cooccurrence_test(a_panel(shows), alternative=side) for side in ("greater", "less"))

    tie = overlap_law([3, 3], 6).probabilities[1]
    assert greater.p_value + less.p_value == pytest.approx(1 + tie)
    assert (greater.alternative, less.alternative) == (Alternative.GREATER, Alternative.LESS)


def test_order_of_models_and_parents_changes_nothing() -> None:
    """Neither order means anything."""
    rng = np.random.default_rng(4)
    panel = rng.integers(0, 2, (4, 60, 3)).astype(float)

    result = cooccurrence_test(panel)
    shuffled = cooccurrence_test(panel[rng.permutation(4)][:, rng.permutation(60)])

    assert shuffled.observed == result.observed
    assert shuffled.p_value == pytest.approx(result.p_value, rel=1e-12)


def test_monte_carlo_check_agrees_with_the_exact_law() -> None:
    """An exact p-value is trusted sooner when a simulation that shares no code with it says the same."""
    panel = np.random.default_rng(1).integers(0, 2, (5, 80, 3)).astype(float)

    result = cooccurrence_test(panel, monte_carlo_draws=20_000, seed=7)

    check = result.monte_carlo
    assert check is not None
    assert abs(check.p_value - result.p_value) < 4 * check.standard_error + 1e-4
    assert result == cooccurrence_test(panel, monte_carlo_draws=20_000, seed=np.random.Generator(np.random.PCG64(7)))


def test_simulated_p_value_is_never_zero() -> None:
    """A p-value of 0 would pass every correction for multiplicity, on the strength of too few draws."""
    shows = np.zeros((2, 100), int)
    shows[:, :20] = 1

    result = cooccurrence_test(a_panel(shows.tolist()), monte_carlo_draws=50, seed=1)

    assert result.monte_carlo is not None
    assert result.monte_carlo.p_value == 1 / 51
    assert 0 < result.p_value < 1e-15


def test_parents_with_a_missing_form_are_left_out_and_counted() -> None:
    """An unasked form is neither right nor wrong, and the reader must see how many parents that cost."""
    panel = a_panel([[0, 1, 1, 0], [0, 1, 1, 0]])
    panel[1, 1, 2] = np.nan

    result = cooccurrence_test(panel)

    assert (result.parent_count, result.excluded_count) == (3, 1)
    assert result.parents == (2,)


def test_panel_without_two_failing_models_says_that_it_is_uninformative() -> None:
    """A p-value of 1 from data that could give nothing else must not read as a clean bill."""
    result = cooccurrence_test(a_panel([[1, 1, 0], [0, 0, 0]]))

    assert result.p_value == 1
    assert not result.is_informative
    assert "uninformative" in str(result)


def test_result_is_json_ready_and_reads_as_a_sentence() -> None:
    """It goes into a report as it is."""
    result = cooccurrence_test(a_panel([[1, 0, 0, 0], [1, 0, 0, 0]]), monte_carlo_draws=99, seed=1)

    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["parents"] == [0]
    assert str(result).startswith("fault on 1 of 4 parents for two or more of 2 models, 0.2 expected, p = 0.25")


@pytest.mark.parametrize(
    ("panel", "settings", "error", "words"),
    [
        (np.ones((2, 3)), {}, ScoreError, "models, parents"),
        (np.ones((1, 3, 3)), {}, ScoreError, "two models"),
        (np.full((2, 3, 3), 0.5), {}, ScoreError, "other than 0, 1"),
        (np.full((2, 3, 3), np.nan), {}, EmptySampleError, "no parent"),
        (np.ones((2, 3, 3)), {"pattern": "defect"}, ParameterError, "fault, mirror"),
        (np.ones((2, 3, 3)), {"alternative": "two-sided"}, ParameterError, "not offered"),
        (np.ones((2, 3, 3)), {"alternative": "more"}, ParameterError, "greater"),
        (np.ones((2, 3, 3)), {"monte_carlo_draws": 10}, SeedRequiredError, "needs a seed"),
        (np.ones((2, 3, 3)), {"monte_carlo_draws": -1, "seed": 1}, ParameterError, "0 or more"),
    ],
)
def test_input_that_means_nothing_is_refused_by_name(
    panel: NDArray[np.float64], settings: dict[str, object], error: type[StatisticsError], words: str
) -> None:
    """The message says which rule was broken and what would be right."""
    with pytest.raises(error, match=words):
        cooccurrence_test(panel, **settings)  # type: ignore[arg-type]


def test_law_too_large_to_finish_is_refused_before_it_starts() -> None:
    """A call that never returns is worse than one that says why it will not."""
    with pytest.raises(EnumerationError, match="fewer models"):
        overlap_law([400] * 10, 1319)
