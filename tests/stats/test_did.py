"""The exposure effect and its interval."""

from __future__ import annotations

import itertools
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import (
    IntervalState,
    Outcomes,
    ParameterError,
    SeedRequiredError,
    UnsupportedMethodError,
    difference_in_differences,
)
from leakscale.stats.resampling import resampled_sums

from .exposure_cases import bounds


def an_outcomes(*, families: int = 40, draws: int = 32, lift: float = 0.0, seed: int = 0) -> Outcomes:
    """Build families of unequal difficulty whose adapted accuracy lies about `lift` above the base one."""
    rng = np.random.Generator(np.random.PCG64(seed))
    difficulty = rng.beta(0.6, 1.8, families)
    adapted = np.clip(difficulty + lift + rng.normal(0, 0.1, families), 0, 1)
    return Outcomes(rng.binomial(draws, difficulty), rng.binomial(draws, adapted), draws)


def test_percentile_interval_equals_a_plain_loop_replicate_by_replicate() -> None:
    """The registered interval must be what its one-paragraph description says, whatever the chunks inside."""
    c0, c2 = an_outcomes(families=37, seed=1), an_outcomes(families=41, lift=0.3, seed=2)
    rng = np.random.Generator(np.random.PCG64(11))
    totals = []
    for outcomes in (c0, c2):
        changes = np.sort(outcomes.changes)
        totals.append([sum(changes[rng.integers(0, len(changes), len(changes))].tolist()) for _ in range(999)])
    effects = [b / (41 * 32) - a / (37 * 32) for a, b in zip(*totals, strict=True)]

    result = difference_in_differences(c0, c2, n_resamples=999, seed=11)

    assert result.effect.low == pytest.approx(np.quantile(effects, 0.025), abs=1e-12)
    assert result.effect.high == pytest.approx(np.quantile(effects, 0.975), abs=1e-12)
    assert result.c0_drift.low == pytest.approx(np.quantile(totals[0], 0.025) / (37 * 32), abs=1e-12)
    assert result.c2_change.high == pytest.approx(np.quantile(totals[1], 0.975) / (41 * 32), abs=1e-12)


def test_totals_equal_a_plain_loop_across_chunks() -> None:
    """A chunk boundary inside the generator's stream would make the interval depend on a memory setting."""
    values = np.arange(-2000, 2000)
    loop = np.random.Generator(np.random.PCG64(5))
    expected = [int(values[loop.integers(0, 4000, 4000)].sum()) for _ in range(200)]

    totals = resampled_sums(values, 200, np.random.Generator(np.random.PCG64(5)))

    assert totals.tolist() == expected


def test_same_seed_gives_the_same_interval_and_another_seed_does_not() -> None:
    """A printed interval is evidence only if it can be printed again."""
    c0, c2 = an_outcomes(seed=1), an_outcomes(lift=0.3, seed=2)

    first, again, other = (difference_in_differences(c0, c2, seed=seed).effect for seed in (7, 7, 8))

    assert first == again
    assert first.low != other.low


def test_estimate_is_the_difference_of_the_integer_totals() -> None:
    """The effect must be recoverable from the four published totals, by hand."""
    c0 = Outcomes([8, 9], [7, 8], 32)
    c2 = Outcomes([8, 8, 8], [30, 31, 29], 32)

    result = difference_in_differences(c0, c2, method="exact")

    assert result.c0_drift.estimate == -2 / 64
    assert result.c2_change.estimate == 66 / 96
    assert result.effect.estimate == pytest.approx(66 / 96 + 2 / 64, abs=1e-15)


@pytest.mark.parametrize(("families0", "families2"), [(40, 40), (31, 40)])
def test_exchanged_conditions_mirror_the_exact_interval(families0: int, families2: int) -> None:
    """Which condition is called the control carries a sign and nothing else."""
    c0, c2 = an_outcomes(families=families0, seed=1), an_outcomes(families=families2, lift=0.3, seed=2)

    forth = difference_in_differences(c0, c2, method="exact").effect
    back = difference_in_differences(c2, c0, method="exact").effect

    assert bounds(back) == pytest.approx((-forth.high, -forth.estimate, -forth.low), abs=1e-15)


def test_exchanged_conditions_change_only_the_sign_of_the_seeded_estimate() -> None:
    """The simulated bounds agree with the mirrored ones up to simulation noise."""
    c0, c2 = an_outcomes(seed=1), an_outcomes(lift=0.3, seed=2)

    forth = difference_in_differences(c0, c2, seed=3).effect
    back = difference_in_differences(c2, c0, seed=3).effect

    assert back.estimate == -forth.estimate
    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low), abs=0.01)


@pytest.mark.parametrize("method", ["percentile", "exact"])
def test_duplicated_draws_change_nothing(method: str) -> None:
    """Copies of draws are no new families; an interval that shrinks with them counts draws as independent."""
    c0, c2 = an_outcomes(seed=1), an_outcomes(lift=0.3, seed=2)
    tenfold = [Outcomes(10 * one.base, 10 * one.adapted, 10 * one.draws) for one in (c0, c2)]

    once = difference_in_differences(c0, c2, method=method, seed=3)
    ten = difference_in_differences(*tenfold, method=method, seed=3)

    for name in ("effect", "c0_drift", "c2_change"):
        assert bounds(getattr(ten, name)) == pytest.approx(bounds(getattr(once, name)), abs=1e-12)


@pytest.mark.parametrize("method", ["percentile", "exact"])
def test_order_of_families_changes_nothing(method: str) -> None:
    """Families are exchangeable; a result that depends on the order of a file is not a result."""
    c0, c2 = an_outcomes(seed=1), an_outcomes(lift=0.3, seed=2)
    order = np.random.Generator(np.random.PCG64(0)).permutation(c2.family_count)
    shuffled = Outcomes(c2.base[order], c2.adapted[order], c2.draws)

    result = difference_in_differences(c0, shuffled, method=method, seed=3)

    assert result.effect == difference_in_differences(c0, c2, method=method, seed=3).effect


def test_base_and_adapted_draws_of_a_family_travel_together() -> None:
    """Resampled apart, a strong correlation within families would widen the interval several times."""
    base = np.arange(32)
    c2 = Outcomes(base, np.minimum(base + 1 + base % 2, 32), 32)

    change = difference_in_differences(an_outcomes(), c2, method="exact").c2_change

    assert 0 < change.half_width < 0.01


def test_conditions_are_resampled_independently() -> None:
    """One index vector for both conditions would cancel what they share and collapse the interval."""
    c0 = c2 = an_outcomes(lift=0.2)

    result = difference_in_differences(c0, c2, seed=3)

    assert result.effect.estimate == 0
    assert result.effect.standard_error == pytest.approx(
        math.sqrt(2) * (result.c2_change.standard_error or 0), rel=0.03
    )


def test_standard_error_is_within_two_percent_of_the_analytic_one() -> None:
    """Clusters drawn twice but counted once would give about 0.8 of the truth."""
    c0, c2 = an_outcomes(families=512, seed=1), an_outcomes(families=512, lift=0.3, seed=2)
    analytic = math.sqrt(sum(one.changes.var(ddof=1) / one.family_count for one in (c0, c2))) / 32

    result = difference_in_differences(c0, c2, seed=3)

    assert result.effect.standard_error == pytest.approx(analytic, rel=0.02)
    assert difference_in_differences(c0, c2, method="exact").effect.standard_error == pytest.approx(analytic, rel=0.002)


def test_exact_bounds_agree_with_the_mean_of_seeded_runs() -> None:
    """The exact interval is the seeded one without its noise, which is 0.02 points in a mean of twenty runs."""
    c0, c2 = an_outcomes(families=512, seed=1), an_outcomes(families=512, lift=0.3, seed=2)
    runs = [difference_in_differences(c0, c2, seed=seed).effect for seed in range(20)]

    exact = difference_in_differences(c0, c2, method="exact").effect

    assert 100 * exact.low == pytest.approx(np.mean([100 * run.low for run in runs]), abs=0.06)
    assert 100 * exact.high == pytest.approx(np.mean([100 * run.high for run in runs]), abs=0.06)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=3),
    st.sampled_from([0.05, 0.2, 0.5]),
)
def test_exact_bounds_equal_brute_force(
    first: list[tuple[int, int]], second: list[tuple[int, int]], alpha: float
) -> None:
    """Every resample of a small design can be written down; the convolution must find the same quantiles."""
    c0, c2 = (Outcomes([a for a, _ in rows], [b for _, b in rows], 3) for rows in (first, second))
    low, high = brute_force(c0, c2, alpha)

    effect = difference_in_differences(c0, c2, method="exact", alpha=alpha).effect

    if effect.state is IntervalState.ESTIMATED:
        assert (effect.low, effect.high) == pytest.approx((low, high), abs=1e-12)
    else:
        assert low == high


def brute_force(c0: Outcomes, c2: Outcomes, alpha: float) -> tuple[float, float]:
    """Enumerate all resamples in whole numbers and read the two quantiles off the sorted list."""
    sums = [
        [sum(pick) for pick in itertools.product(one.changes.tolist(), repeat=one.family_count)] for one in (c0, c2)
    ]
    scale0, scale2 = c0.family_count * 3, c2.family_count * 3
    effects = sorted(b * scale0 - a * scale2 for a in sums[0] for b in sums[1])
    tail = math.ceil(round(alpha / 2 * len(effects), 6))
    return effects[tail - 1] / (scale0 * scale2), effects[-tail] / (scale0 * scale2)


@pytest.mark.parametrize("method", ["percentile", "exact"])
def test_single_family_is_reported_as_such_with_the_widest_bounds(method: str) -> None:
    """One family resampled is itself each time; a zero-width interval would claim perfect knowledge."""
    result = difference_in_differences(Outcomes([8], [9], 32), an_outcomes(lift=0.3), method=method, seed=3)

    assert result.c0_drift.state is IntervalState.SINGLE_FAMILY
    assert (result.c0_drift.low, result.c0_drift.high) == (-1, 1)
    assert result.effect.state is IntervalState.SINGLE_FAMILY
    assert (result.effect.low, result.effect.high) == (-2, 2)
    assert result.c2_change.state is IntervalState.ESTIMATED
    assert result.is_degenerate
    assert "single family" in str(result)


@pytest.mark.parametrize("method", ["percentile", "exact"])
def test_constant_changes_are_flagged_and_never_nan(method: str) -> None:
    """An adapter that changes nothing gives exact zeros; the flag keeps them from reading as precision."""
    still = Outcomes([3, 8, 20], [3, 8, 20], 32)

    result = difference_in_differences(still, still, method=method, seed=3)

    assert bounds(result.effect) == (0, 0, 0)
    assert result.effect.state is IntervalState.CONSTANT
    assert result.effect.standard_error is None
    assert "NaN" not in json.dumps(result.to_dict(), allow_nan=False)


def test_constant_control_leaves_the_effect_estimated() -> None:
    """A control that did not move at all is good news, not missing data."""
    still = Outcomes([3, 8, 20], [3, 8, 20], 32)

    result = difference_in_differences(still, an_outcomes(lift=0.3), method="exact")

    assert result.c0_drift.state is IntervalState.CONSTANT
    assert result.effect.state is IntervalState.ESTIMATED
    assert bounds(result.effect) == bounds(result.c2_change)


def test_global_random_state_is_neither_read_nor_written() -> None:
    """A caller's own simulation must not change because it measured something in between."""
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate()  # type: ignore[index]

    one = difference_in_differences(an_outcomes(), an_outcomes(lift=0.3), seed=3)

    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # type: ignore[index]
    np.random.seed(2)
    assert difference_in_differences(an_outcomes(), an_outcomes(lift=0.3), seed=3).effect == one.effect


def test_generator_is_accepted_and_advanced() -> None:
    """A simulation study passes one generator through thousands of calls."""
    rng = np.random.Generator(np.random.PCG64(3))
    c0, c2 = an_outcomes(seed=1), an_outcomes(lift=0.3, seed=2)

    first, second = (difference_in_differences(c0, c2, seed=rng) for _ in range(2))

    assert first.effect == difference_in_differences(c0, c2, seed=3).effect
    assert first.effect.low != second.effect.low
    assert first.seed is None


def test_planted_effect_is_covered_at_the_nominal_rate() -> None:
    """An interval that covers a known truth too rarely is a decoration."""
    covered = 0
    for trial in range(300):
        rng = np.random.Generator(np.random.PCG64(trial))
        arms = []
        for lift in (0.0, 0.1):
            base = rng.uniform(0.1, 0.4, 128)
            arms.append(Outcomes(rng.binomial(32, base), rng.binomial(32, base + lift), 32))
        effect = difference_in_differences(*arms, method="exact").effect
        covered += effect.low <= 0.1 <= effect.high

    assert 0.91 <= covered / 300 <= 0.985


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"seed": 1, "method": "wild"}, UnsupportedMethodError, "percentile, bca, studentized, exact"),
        ({}, SeedRequiredError, "needs a seed"),
        ({"seed": 1, "alpha": 0.0}, ParameterError, "between 0 and 1"),
        ({"seed": 1, "alpha": math.nan}, ParameterError, "between 0 and 1"),
        ({"seed": 1, "n_resamples": 1}, ParameterError, "2 or more"),
    ],
)
def test_settings_that_mean_nothing_are_refused_by_name(
    settings: dict[str, object], error: type[Exception], words: str
) -> None:
    """The message says which rule was broken and what would be right."""
    with pytest.raises(error, match=words):
        difference_in_differences(an_outcomes(), an_outcomes(), **settings)  # type: ignore[arg-type]


def test_result_reads_as_a_sentence() -> None:
    """`print(result)` is the first thing anybody does with it."""
    result = difference_in_differences(an_outcomes(seed=1), an_outcomes(lift=0.3, seed=2), seed=3)

    assert str(result).startswith("exposure effect +")
    assert "95 % interval +" in str(result)
    assert "40 + 40 families" in str(result)
