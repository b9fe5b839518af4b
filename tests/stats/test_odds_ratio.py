"""The conditional odds ratio of the public form, and how much mismatch explains a rejection."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy import stats as scipy_stats

from leakscale.stats import (
    Interval,
    IntervalState,
    IntervalUnit,
    NoInformationError,
    ParameterError,
    ScoreError,
    StatisticsError,
    conditional_odds_ratio,
    gamma_sensitivity,
    randomization_test,
)


def a_rasch_bank(*, parents: int = 200, fresh: int = 2, shift: float = 0.0, seed: int = 0) -> NDArray[np.int64]:
    """Build outcomes of a Rasch model whose public form is easier by `shift` on the logit scale."""
    rng = np.random.Generator(np.random.PCG64(seed))
    logits = np.repeat(rng.normal(0.5, 2, parents)[:, np.newaxis], 1 + fresh, axis=1)
    logits[:, 0] += shift
    return (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.int64)


def a_bank_with(*kinds: tuple[int, int, int, int]) -> NDArray[np.float64]:
    """Build parents from kinds (forms, correct forms, parents, parents whose original is correct)."""
    width = max(kind[0] for kind in kinds)
    rows = []
    for forms, correct, parents, original_correct in kinds:
        for place in range(parents):
            fresh_correct = correct - (place < original_correct)
            row = [float(place < original_correct)] + [1.0] * fresh_correct + [0.0] * (forms - 1 - fresh_correct)
            rows.append(row + [np.nan] * (width - forms))
    return np.array(rows)


def upper_tail(bank: NDArray[np.int64], gamma: float) -> float:
    """Compute P(at least as many correct originals) with scipy's Poisson-binomial law."""
    forms, totals = bank.shape[1], bank.sum(axis=1)
    odds = gamma * totals / np.maximum(forms - totals, 1e-300)
    law = scipy_stats.poisson_binom(odds / (1 + odds))
    return float(law.pmf(np.arange(bank[:, 0].sum(), bank.shape[0] + 1)).sum())


@pytest.mark.parametrize("fresh", [2, 4])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_bounds_are_where_the_tails_hold_half_of_alpha(fresh: int, alpha: float) -> None:
    """That is what inverting a test means; scipy computes the tails."""
    bank = a_rasch_bank(fresh=fresh, shift=0.4)

    interval = conditional_odds_ratio(bank, alpha=alpha)

    assert upper_tail(bank, interval.low) == pytest.approx(alpha / 2, rel=1e-6)
    assert upper_tail(1 - bank, 1 / interval.high) == pytest.approx(alpha / 2, rel=1e-6)


def test_estimate_maximises_the_conditional_likelihood() -> None:
    """Written out parent by parent from the formula, and maximised on a grid."""
    bank = a_rasch_bank(shift=0.4)
    totals = bank.sum(axis=1)
    grid = np.exp(np.linspace(-1, 2, 30_001))
    likelihood = np.zeros_like(grid)
    for total, original in zip(totals.tolist(), bank[:, 0].tolist(), strict=True):
        if 0 < total < 3:
            hit, miss = grid * math.comb(2, total - 1), math.comb(2, total)
            likelihood += np.log((hit if original else miss) / (hit + miss))

    interval = conditional_odds_ratio(bank)

    assert interval.estimate == pytest.approx(grid[likelihood.argmax()], rel=2e-4)


@given(st.integers(1, 30), st.data())
@settings(max_examples=40, deadline=None)
def test_one_fresh_form_gives_the_matched_pairs_interval_of_scipy(discordant: int, data: st.DataObject) -> None:
    """With K = 1 the odds ratio is b/c, and its exact interval is that of Clopper and Pearson."""
    correct = data.draw(st.integers(0, discordant))
    bank = a_bank_with((2, 1, discordant, correct), (2, 2, 5, 5))
    share = scipy_stats.binomtest(correct, discordant).proportion_ci(method="exact")

    interval = conditional_odds_ratio(bank)

    assert interval.low == pytest.approx(share.low / (1 - share.low), rel=1e-6)
    assert interval.high == (math.inf if share.high == 1 else pytest.approx(share.high / (1 - share.high), rel=1e-6))
    if 0 < correct < discordant:
        assert interval.estimate == pytest.approx(correct / (discordant - correct), rel=1e-9)


@pytest.mark.parametrize("gamma", [0.3, 0.8, 1.0, 1.5, 4.0])
@pytest.mark.parametrize(
    "kinds", [((3, 1, 9), (3, 2, 14)), ((4, 1, 6), (4, 2, 7), (3, 2, 8)), ((3, 1, 40), (3, 2, 35))]
)
def test_coverage_is_at_least_nominal_by_enumeration(gamma: float, kinds: tuple[tuple[int, int, int], ...]) -> None:
    """Every possible number of correct originals, weighted by its exact probability at the true G."""
    probabilities = np.repeat(
        [gamma * t / (gamma * t + m - t) for m, t, _ in kinds], [parents for _, _, parents in kinds]
    )
    covered = 0.0
    for correct in range(probabilities.size + 1):
        left, filled = correct, []
        for m, t, parents in kinds:
            filled.append((m, t, parents, min(left, parents)))
            left -= filled[-1][-1]
        interval = conditional_odds_ratio(a_bank_with(*filled))
        if interval.low <= gamma <= interval.high:
            covered += float(scipy_stats.poisson_binom(probabilities).pmf(correct))

    assert 0.95 <= covered <= 0.995


@given(st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_exchanged_right_and_wrong_invert_the_interval(seed: int) -> None:
    """Counting failures instead of successes turns odds over and nothing else."""
    bank = a_rasch_bank(parents=60, seed=seed)

    forth, back = conditional_odds_ratio(bank), conditional_odds_ratio(1 - bank)

    assert back.low * forth.high == pytest.approx(1, rel=1e-9)
    assert back.high * forth.low == pytest.approx(1, rel=1e-9)


def test_interval_agrees_with_the_relabelling_test() -> None:
    """G = 1 is the null of the relabelling test, so the two must reject together."""
    for seed in range(40):
        bank = a_rasch_bank(parents=80, shift=0.7, seed=seed)
        one_sided = min(randomization_test(bank, alternative=side).p_value for side in ("greater", "less"))

        assert conditional_odds_ratio(bank).excludes(1) == (one_sided < 0.025)


def test_one_sided_data_give_an_unbounded_interval_that_says_so() -> None:
    """Every discordant original correct bounds G from below and not at all from above."""
    every, none = (conditional_odds_ratio(a_bank_with((3, 1, 12, hits))) for hits in (12, 0))

    assert every.state is IntervalState.UNBOUNDED
    assert (every.estimate, every.high) == (math.inf, math.inf)
    assert every.low == pytest.approx(2 * 0.025 ** (1 / 12) / (1 - 0.025 ** (1 / 12)))
    assert every.to_dict()["high"] == "inf"
    assert (none.estimate, none.low) == (0, 0)
    assert none.high == pytest.approx(2 * (1 - 0.025 ** (1 / 12)) / 0.025 ** (1 / 12))


def test_interval_survives_thousands_of_parents() -> None:
    """The law's tails underflow there; the bounds lie in its middle and must not notice."""
    bank = np.tile(a_rasch_bank(parents=500, shift=0.3), (12, 1))

    interval = conditional_odds_ratio(bank)

    assert interval.low < interval.estimate < interval.high
    spread = math.log(interval.high / interval.low) / 2 / 1.96
    discordant = bank[(bank.sum(axis=1) > 0) & (bank.sum(axis=1) < 3)].sum(axis=1)
    chance = interval.estimate * discordant / (interval.estimate * discordant + 3 - discordant)
    assert spread == pytest.approx(1 / math.sqrt((chance * (1 - chance)).sum()), rel=0.02)


def test_interval_is_printed_as_a_ratio() -> None:
    """An odds ratio printed as percentage points would be nonsense."""
    interval = conditional_odds_ratio(a_rasch_bank(shift=0.4))

    assert isinstance(interval, Interval)
    assert interval.unit is IntervalUnit.RATIO
    assert "points" not in str(interval)


@pytest.mark.parametrize("side", ["greater", "less"])
def test_gamma_is_where_the_rejection_ends(side: str) -> None:
    """Just below it the test still rejects, just above it no longer does."""
    bank = a_rasch_bank(shift=1.2 if side == "greater" else -1.2)
    directed = bank if side == "greater" else 1 - bank

    result = gamma_sensitivity(bank, alternative=side)

    assert result.p_value < 0.05
    assert result.p_value == pytest.approx(randomization_test(bank, alternative=side).p_value, rel=1e-9)
    assert result.gamma > 1
    assert upper_tail(directed, result.gamma * 0.999) < 0.05 < upper_tail(directed, result.gamma * 1.001)


def test_gamma_is_the_lower_bound_at_twice_the_level() -> None:
    """One-sided test and interval are the same inversion."""
    bank = a_rasch_bank(shift=0.8)

    assert gamma_sensitivity(bank).gamma == pytest.approx(conditional_odds_ratio(bank, alpha=0.1).low, rel=1e-9)


def test_p_value_of_an_overwhelming_shift_is_that_of_the_relabelling_test() -> None:
    """At G = 1 the law lies far from the one at the estimate; tilting one into the other would underflow."""
    bank = a_bank_with((3, 1, 400, 395))
    tail = sum(math.comb(400, j) * 2 ** (400 - j) for j in range(395, 401))

    result = gamma_sensitivity(bank)

    assert result.p_value == pytest.approx(tail / 3**400, rel=1e-9)
    assert result.p_value == pytest.approx(randomization_test(bank, alternative="greater").p_value, rel=1e-9)


def test_gamma_is_one_without_a_rejection() -> None:
    """There is nothing to explain away."""
    result = gamma_sensitivity(a_rasch_bank(shift=-0.5))

    assert result.gamma == 1
    assert result.p_value > 0.05
    assert "no rejection at 0.05 to explain" in str(result)


def test_balanced_bank_has_an_odds_ratio_of_one() -> None:
    """The root lies at log G = 0, where floats are densest and a search for the last of them would not end."""
    interval = conditional_odds_ratio([[1, 0], [0, 1], [1, 0], [0, 1]])

    assert interval.estimate == pytest.approx(1, abs=1e-12)
    assert interval.low * interval.high == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("side", "shift"), [("greater", 0.9), ("less", -0.9)])
def test_gamma_is_read_against_the_control_bank(side: str, shift: float) -> None:
    """A mismatch that the control bank shows without any exposure explains a rejection of that size and direction."""
    audited = a_rasch_bank(shift=shift, seed=1)
    banks = [a_rasch_bank(parents=400, shift=other, seed=2) for other in (0, shift, -shift)]

    level, same, opposite = (gamma_sensitivity(audited, control=bank, alternative=side) for bank in banks)

    assert (level.is_within_control, same.is_within_control, opposite.is_within_control) == (False, True, False)
    assert gamma_sensitivity(audited, alternative=side).is_within_control is None
    assert "beyond what the control bank allows" in str(level)
    assert json.loads(json.dumps(level.to_dict(), allow_nan=False))["control"]["unit"] == "ratio"


@pytest.mark.parametrize(
    ("correct", "alpha", "error", "words"),
    [
        ([[1, 1], [0, 0]], 0.05, NoInformationError, "forms that differ"),
        ([[0.5, 0]], 0.05, ScoreError, "neither 0 nor 1"),
        ([[1, 0]], 0.0, ParameterError, "between 0 and 1"),
        ([[1, 0]], math.nan, ParameterError, "between 0 and 1"),
    ],
)
def test_input_that_means_nothing_is_refused_by_name(
    correct: ArrayLike, alpha: float, error: type[StatisticsError], words: str
) -> None:
    """The message says which rule was broken and what would be right."""
    with pytest.raises(error, match=words):
        conditional_odds_ratio(correct, alpha=alpha)
    with pytest.raises(error, match=words):
        gamma_sensitivity(correct, alpha=alpha)


def test_sensitivity_without_a_direction_is_refused() -> None:
    """A two-sided gamma would hide which way the mismatch must point."""
    with pytest.raises(ParameterError, match="direction"):
        gamma_sensitivity([[1, 0]], alternative="two-sided")
