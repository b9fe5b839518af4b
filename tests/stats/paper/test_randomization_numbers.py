"""Published figures of placebo check, relabelling test, item diagnostics and detectors, by their ids."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from leakscale.stats import (
    FinitePopulationDesign,
    adjust_pvalues,
    compare_detection,
    cooccurrence_test,
    false_rejection_rate,
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


@pytest.mark.parametrize("nonzero", [0.24, 0.15, 0.08])
def test_CS063_audits_of_a_planted_benchmark_come_close(nonzero: float) -> None:  # noqa: N802
    """They hold ten planted parents on average and not each of them, which costs power where little else varies."""
    found = compare_detection(an_even_bank(nonzero), FinitePopulationDesign(1_319), n=100, advantage=0.1, seed=63)

    assert found.detected == 0
    assert -0.12 < found.rejection_rate - detection_rate(nonzero, seed=63) < 0.06


def an_even_bank(nonzero: float) -> NDArray[np.int64]:
    """Return 1,200 parents of three forms, of which a share differs, each way equally often: a mean gap of zero."""
    count = round(1_200 * nonzero / 6)
    patterns = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    return np.array(patterns * count + [[1, 1, 1]] * (1_200 - 6 * count))


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
    """No exposure at all: the level holds without a penalty and is far exceeded with one of ten points.

    The paper does not say how it lost fresh answers. Independent answers, right with probability .7, give .643 at ten
    points, and parents of differing difficulty more: its two thirds lie between.
    """
    rng = np.random.Generator(np.random.PCG64(65))
    alike = rng.random((20_000, 3)) < 0.7
    differing = rng.random((20_000, 3)) < 1 / (1 + np.exp(-(rng.normal(0, 2, (20_000, 1)) + 1.35)))
    rates = [rejection_rate(alike, penalty) for penalty in (0.0, 0.02, 0.05, 0.08, 0.10)]

    assert rates == pytest.approx([0.038, 0.080, 0.205, 0.458, 0.643], abs=0.03)
    assert rates[0] <= 0.05
    assert rates[-1] < 2 / 3 < rejection_rate(differing, 0.10)


def rejection_rate(bank: NDArray[np.bool_], penalty: float) -> float:
    """Audit 200 parents."""
    return false_rejection_rate(bank.astype(int), n=200, penalty=penalty, seed=65).rate


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
