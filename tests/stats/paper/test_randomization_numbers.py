"""Published figures of placebo check, relabelling test, item diagnostics and detectors, by their ids."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from leakscale.stats import (
    adjust_pvalues,
    cooccurrence_test,
    find_near_copies,
    placebo_identity,
    randomization_test,
)
from leakscale.stats.items.overlaps import expected_overlap


def a_bank(*, one_correct: int, two_correct: int, originals_correct: int, parents: int) -> NDArray[np.int64]:
    """Build parents with three forms, of which one or two are correct, or all; only the former can be relabelled."""
    rows = [[1, 0, 0]] * one_correct + [[1, 1, 0]] * two_correct
    # A row turned around loses its correct original and keeps its total.
    turned = [row if place < originals_correct else row[::-1] for place, row in enumerate(rows)]
    return np.array(turned + [[1, 1, 1]] * (parents - len(rows)))


def banks_with(
    *, twice_total: int, parents: int, discordant: range, balance: tuple[float, float] = (1 / 3, 2 / 3)
) -> Iterator[NDArray[np.int64]]:
    """Give every bank whose gaps add up to twice_total / 2, over how many parents differ and how."""
    for count in discordant:
        for one_correct in range(math.ceil(balance[0] * count), math.floor(balance[1] * count) + 1):
            correct_forms = one_correct + 2 * (count - one_correct)
            originals, rest = divmod(twice_total + correct_forms, 3)
            if rest == 0:
                yield a_bank(
                    one_correct=one_correct,
                    two_correct=count - one_correct,
                    originals_correct=originals,
                    parents=parents,
                )


def test_CS033_placebo_identity_on_500_vectors_of_four_forms() -> None:  # noqa: N802
    """The paper's largest residual is 6e-17; in whole numbers it is 0."""
    vectors = np.random.Generator(np.random.PCG64(33)).integers(0, 2, (500, 4))

    identity = placebo_identity(vectors)

    assert identity.exact_residual == Fraction(0)
    assert identity.float_residual <= 6e-17


def test_CS051_bonferroni_and_bh_reject_neither_at_017() -> None:  # noqa: N802
    """Ten pairs at 5 %: both first thresholds are .005, and the detector's only flag survives neither."""
    p_values = [0.017, *np.linspace(0.2, 1, 9)]
    at_threshold = [0.005, *np.linspace(0.2, 1, 9)]

    for method in ("bonferroni", "bh"):
        assert adjust_pvalues(p_values, method=method).min() == pytest.approx(0.17)
        assert adjust_pvalues(at_threshold, method=method).min() <= 0.05
        assert adjust_pvalues([0.00501, *p_values[1:]], method=method).min() > 0.05


def a_panel(totals: tuple[int, ...], clustered: int, parents: int = 200) -> NDArray[np.int64]:
    """Build faults of several models, two of which share `clustered` parents and nothing else is shared."""
    panel = np.ones((len(totals), parents, 3), np.int64)
    free = clustered
    for model, total in enumerate(totals):
        shared = clustered if model < 2 else 0
        panel[model, :shared, 1:] = 0
        panel[model, free : free + total - shared, 1:] = 0
        free += total - shared
    return panel


def test_CS052_four_clustered_parents_where_chance_expects_three_and_a_half() -> None:  # noqa: N802
    """The faults of each model are not published; 44 over five models give the published 3.4."""
    result = cooccurrence_test(a_panel((9, 9, 9, 9, 8), clustered=4))

    assert result.observed == 4
    assert expected_overlap((9, 9, 9, 8, 8), 200) == pytest.approx(3.4, abs=0.05)
    assert result.expected == pytest.approx(3.4, abs=0.2)
    assert result.p_value > 0.4


def test_CS053_three_clustered_parents_where_chance_expects_less_than_one() -> None:  # noqa: N802
    """Nineteen faults over five models give about the published 0.7, and three shared parents are rare then."""
    result = cooccurrence_test(a_panel((4, 4, 4, 4, 3), clustered=3))

    assert result.observed == 3
    assert result.expected == pytest.approx(0.7, abs=0.05)
    assert result.p_value == pytest.approx(0.023, abs=0.003)


def test_CS054_one_of_eighteen_distinct_words_exchanged_gives_895() -> None:  # noqa: N802
    """Nineteen words of which one repeats: the set of words, not their sequence, gives the published maximum."""
    original = "A bag has a 5% discount and its tag says that two of them would cost 140 before tax"
    near_copy = original.replace("bag", "jacket")

    report = find_near_copies([original], [[near_copy]])

    assert len(original.split()) == 19
    assert report.closest == 17 / 19
    assert round(report.closest, 3) == 0.895
    assert report.median_word_change == 1 / 19
    assert report.flagged_count == 1


def test_CS063_relabelling_finds_ten_points_at_100_parents() -> None:  # noqa: N802
    """The paper finds .77 and .95 where its interval finds nothing; banks of the same density give this range."""
    rates = [detection_rate(nonzero, seed=63) for nonzero in (0.24, 0.15, 0.08)]

    assert rates[0] == pytest.approx(0.66, abs=0.08)
    assert rates[1] == pytest.approx(0.83, abs=0.07)
    assert rates[2] == pytest.approx(0.95, abs=0.04)


def detection_rate(nonzero: float, *, seed: int, audits: int = 400) -> float:
    """Plant +1 in ten of 100 exchangeable parents, and count two-sided rejections upwards."""
    rng = np.random.Generator(np.random.PCG64(seed))
    hits = 0
    for _ in range(audits):
        bank = np.ones((100, 3), np.int64)
        differs = rng.random(100) < nonzero
        shuffled = rng.permuted(np.array([[1, 0, 0], [1, 1, 0]])[rng.integers(0, 2, 100)], axis=1)
        bank[differs] = shuffled[differs]
        bank[rng.choice(np.flatnonzero(~differs), 10, replace=False)] = [1, 0, 0]
        result = randomization_test(bank)
        hits += result.p_value <= 0.05 and result.statistic > 0
    return hits / audits


def test_CS064_range_up_to_one_can_only_be_two_sided() -> None:  # noqa: N802
    """The smallest published p is .16; for its estimate no bank whatever has a one-sided p of .1."""
    banks = list(feasible_banks())
    one_sided = [randomization_test(bank, alternative="greater").p_value for bank in banks]
    two_sided = [randomization_test(bank).p_value for bank in banks]

    assert len(banks) == 85
    assert max(one_sided) == pytest.approx(0.0995, abs=5e-5)
    assert min(two_sided) == pytest.approx(0.094, abs=5e-4)
    assert max(two_sided) == pytest.approx(0.180, abs=5e-4)


def feasible_banks() -> Iterator[NDArray[np.int64]]:
    """Give every bank with the published estimate (+.0325), half-width (.036) and 26 to 40 nonzero gaps of 200."""
    for nonzero in range(26, 41):
        for up in range(nonzero + 1):
            for down in range(nonzero - up + 1):
                halves = nonzero - up - down
                half_up, rest = divmod(13 - 2 * (up - down) + halves, 2)
                squares = up + down + halves / 4
                half_width = 1.959964 * math.sqrt((1 - 200 / 1165) * (squares - 6.5**2 / 200) / 199 / 200)
                if rest == 0 and 0 <= half_up <= halves and 0.0355 <= half_width < 0.0365:
                    yield a_bank(
                        one_correct=up + halves - half_up,
                        two_correct=half_up + down,
                        originals_correct=up + half_up,
                        parents=200,
                    )


def test_CS065_form_penalty_alone_makes_the_test_reject() -> None:  # noqa: N802
    """No exposure at all: the level holds without a penalty and is far exceeded with one of ten points."""
    rates = [rejection_rate(penalty, seed=65) for penalty in (0.0, 0.05, 0.10)]

    assert rates[0] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500)
    assert rates[1] == pytest.approx(0.205, abs=0.06)
    assert rates[2] == pytest.approx(0.643, abs=0.07)


def rejection_rate(penalty: float, *, seed: int, audits: int = 500) -> float:
    """Audit 200 parents that solve originals with probability .7 and fresh forms with `penalty` less."""
    rng = np.random.Generator(np.random.PCG64(seed))
    chances = np.array([0.7, 0.7 - penalty, 0.7 - penalty])
    audited = ((rng.random((200, 3)) < chances).astype(int) for _ in range(audits))
    return sum(randomization_test(bank).p_value <= 0.05 for bank in audited) / audits


def test_CS070_study_1_reports_one_sided_p_values() -> None:  # noqa: N802
    """T = +1.5 over 200 parents gives .45 and T = +4.0 over the exposed hundred .23: `greater`, not two-sided.

    How many parents have a nonzero gap is not published; whatever it is, the two-sided values are twice as large.
    """
    whole = list(banks_with(twice_total=3, parents=200, discordant=range(45, 76)))
    exposed = list(banks_with(twice_total=8, parents=100, discordant=range(36, 42)))

    for bank in whole:
        assert randomization_test(bank, alternative="greater").p_value == pytest.approx(0.45, abs=0.016)
        assert randomization_test(bank).p_value > 0.87
    for bank in exposed:
        assert randomization_test(bank, alternative="greater").p_value == pytest.approx(0.23, abs=0.035)
        assert randomization_test(bank).p_value > 0.33
