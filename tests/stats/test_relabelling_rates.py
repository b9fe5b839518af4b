"""The relabelling test beside the interval: what it rejects of a planted advantage, and what without any."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from leakscale.stats import (
    Alternative,
    FinitePopulationDesign,
    SeedRequiredError,
    StatisticsError,
    compare_detection,
    detection_rate,
    false_rejection_rate,
    paired_gap,
    randomization_test,
)
from leakscale.stats.planning.relabelling_rates import _penalized, _planted
from leakscale.stats.relabelling.patterns import Patterns

FRAME = FinitePopulationDesign(1_319)
MISSING = math.nan


def a_bank(parents: int = 200, *, forms: int = 3, seed: int = 1) -> NDArray[np.float64]:
    """Return right/wrong answers of parents of differing difficulty, whose forms are exchangeable."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return ((rng.random((parents, 1)) < 0.6) ^ (rng.random((parents, forms)) < 0.08)).astype(np.float64)


def expanded(patterns: Patterns, counts: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """Write an audit out, form by form."""
    rows = []
    for forms, right, original, count in zip(
        patterns.forms, patterns.right, patterns.originals, counts.tolist(), strict=True
    ):
        fresh = [1.0] * int(right - original) + [0.0] * int(forms - 1 - right + original)
        rows += [[float(original), *fresh, *[MISSING] * (width - int(forms))]] * count
    return np.array(rows)


@pytest.mark.parametrize("alternative", list(Alternative))
def test_p_values_of_many_audits_are_those_of_each_by_itself(alternative: Alternative) -> None:
    """Parents with two, three and four forms; audits that vary and one that does not."""
    bank = a_bank(60, forms=4)
    bank[:20, 3], bank[:7, 2] = MISSING, MISSING
    patterns = Patterns.of(bank)
    rng = np.random.Generator(np.random.PCG64(3))
    audits = rng.multinomial(25, patterns.shares, 12)
    alike = np.where((patterns.right == 0) | (patterns.right == patterns.forms), 5, 0)
    audits = np.concatenate([audits, alike[np.newaxis]])

    found = patterns.p_values(audits, alternative)

    assert found[-1] == 1
    assert found[:-1].min() < 0.9
    for p_value, counts in zip(found, audits, strict=True):
        by_itself = randomization_test(expanded(patterns, counts, 4), alternative=alternative).p_value
        assert p_value == pytest.approx(by_itself, rel=1e-12)


def test_an_advantage_is_planted_exactly_and_the_pilots_own_gap_stays() -> None:
    """Each moved parent was right on all forms or on none, and is right on the public form alone."""
    bank = a_bank(seed=4)
    before, after = Patterns.of(bank), _planted(Patterns.of(bank), 0.1)

    gap = (after.shares @ after.gaps - before.shares @ before.gaps) / after.denominator
    assert gap == pytest.approx(0.1)
    assert before.shares @ before.gaps / before.denominator == pytest.approx(
        (bank[:, 0] - bank[:, 1:].mean(axis=1)).mean()
    )


def test_a_penalty_lowers_fresh_accuracy_by_itself_and_leaves_the_originals() -> None:
    """Without exposure the public form is as hard as before; its accuracy is that of all forms."""
    bank = a_bank(seed=5)
    found = _penalized(Patterns.of(bank), 0.07)

    public = found.shares @ found.originals
    fresh = found.shares @ ((found.right - found.originals) / (found.forms - 1))
    assert public == pytest.approx(bank.mean())
    assert fresh == pytest.approx(bank.mean() - 0.07)


@pytest.mark.parametrize("n", [25, 50, 100, 200])
def test_the_test_keeps_its_level_where_forms_are_exchangeable(n: int) -> None:
    """Exact at every size: the rate exceeds the level by simulation error alone."""
    found = false_rejection_rate(a_bank(), n=n, replicates=4_000, seed=6)

    assert found.rate <= 0.05 + 3 * found.standard_error
    assert found.rate > 0


def test_form_mismatch_alone_makes_it_reject_more_and_more() -> None:
    """No exposure in any of these audits: a rejection announces nothing."""
    rates = [false_rejection_rate(a_bank(), n=200, penalty=q, seed=7).rate for q in (0, 0.02, 0.05, 0.1)]

    assert rates == sorted(rates)
    assert rates[-1] > 2 / 3


def test_the_interval_detects_as_often_as_in_the_table_beside() -> None:
    """`detection_rate` plants into gaps what this plants into answers."""
    bank = a_bank()
    gaps = paired_gap(bank[:, 0], bank[:, 1:])
    for n in (100, 200):
        settings: dict[str, Any] = {"n": n, "advantage": 0.1, "bound": "betting", "replicates": 1_000, "seed": 8}
        one, other = compare_detection(bank, FRAME, **settings), detection_rate(gaps, FRAME, **settings)
        assert one.detection_rate == pytest.approx(other.rate, abs=4 * math.sqrt(2) * other.standard_error)
        assert one.method == other.method


def test_the_test_rejects_where_the_interval_is_vacuous() -> None:
    """Fifty parents and Hoeffding: the paper's reason to look at the test at all."""
    found = compare_detection(a_bank(), FRAME, n=50, advantage=0.1, seed=9)

    assert found.detected == 0
    assert found.rejection_rate > 0.25


def test_a_seed_gives_the_same_audits_and_results_are_json() -> None:
    settings: dict[str, Any] = {"n": 60, "replicates": 50, "seed": 3}
    one, again = (compare_detection(a_bank(), FRAME, advantage=0.1, **settings) for _ in range(2))
    rate = false_rejection_rate(a_bank(), penalty=0.1, **settings)

    assert one == again
    assert json.loads(json.dumps(one.to_dict()))["rejection_rate"] == one.rejection_rate
    assert json.loads(json.dumps(rate.to_dict()))["rate"] == rate.rate
    assert "relabelling test rejects" in str(one)
    assert "without exposure" in str(rate)


def test_what_cannot_be_planted_or_drawn_is_refused_by_name() -> None:
    with pytest.raises(StatisticsError, match="graded"):
        false_rejection_rate(np.full((9, 3), 0.5), n=5, seed=1)
    with pytest.raises(StatisticsError, match=r"share of parents whose forms are all right or all wrong, 0\.000"):
        compare_detection([[1, 0, 0]] * 9, FRAME, n=5, advantage=0.1, seed=1)
    with pytest.raises(StatisticsError, match=r"penalty of 0\.5 cannot be taken from an accuracy of 0\.333"):
        false_rejection_rate([[1, 0, 0]] * 9, n=5, penalty=0.5, seed=1)
    with pytest.raises(StatisticsError, match="population of 20"):
        compare_detection(a_bank(), FinitePopulationDesign(20), n=30, advantage=0.1, seed=1)
    with pytest.raises(SeedRequiredError):
        compare_detection(a_bank(), FRAME, n=30, advantage=0.1)
