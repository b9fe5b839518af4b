"""BCa and bootstrap-t of the exposure effect: what they agree with, and what changes nothing in them."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from leakscale.stats import (
    EnumerationError,
    IntervalState,
    Outcomes,
    UnsupportedMethodError,
    difference_in_differences,
)
from leakscale.stats.exposure.did_simulated import bca, replicates
from leakscale.stats.exposure.resampling_units import Quantity, resampling_units

from .exposure_cases import SIMULATED, an_outcomes, bounds, labels_in_turn, one_draw


def test_default_bounds_are_those_that_were_signed_before() -> None:
    """Signed disclosures are recomputed bit for bit; a refactoring must not move the last one."""
    c0 = Outcomes([k % 9 for k in range(40)], [(k * 7) % 11 for k in range(40)], 32)
    c2 = Outcomes([k % 8 for k in range(48)], [(k * 5) % 23 for k in range(48)], 32)

    drawn = difference_in_differences(c0, c2, seed=20260101)
    limit = difference_in_differences(c0, c2, method="exact")

    assert [value.hex() for value in bounds(drawn.effect)] == [
        "0x1.a7fc962fc9630p-4",
        "0x1.7622222222222p-3",
        "0x1.0800000000000p-2",
    ]
    assert [value.hex() for value in bounds(drawn.c0_drift)] == [
        "0x1.999999999999ap-11",
        "0x1.4cccccccccccdp-5",
        "0x1.499999999999ap-4",
    ]
    assert float(drawn.effect.standard_error or 0).hex() == "0x1.44e9448b2cc8ep-5"
    assert [value.hex() for value in bounds(limit.effect)] == [
        "0x1.af77777777777p-4",
        "0x1.7622222222222p-3",
        "0x1.0a88888888889p-2",
    ]


@pytest.mark.parametrize(("families", "lift"), [(16, 0.3), (40, 0.0)])
def test_bca_agrees_with_scipy_on_the_same_resamples(families: int, lift: float) -> None:
    """Bias, acceleration, the middle rank of ties and the quantile rule: all four must be the published ones."""
    c0, c2 = an_outcomes(families=families, seed=1), an_outcomes(families=families + 3, lift=lift, seed=2)
    drawn = replicates(resampling_units(c0, c2, None, None), 999, np.random.Generator(np.random.PCG64(4)))
    numerators, denominator = drawn.values(Quantity.EFFECT)

    def effect(change2: NDArray[np.float64], change0: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        value = (np.mean(change2, axis=axis) - np.mean(change0, axis=axis)) * denominator / 32
        is_whole = (np.shape(change0)[axis], np.shape(change2)[axis]) == (families, families + 3)
        return np.asarray(np.rint(value) if is_whole else value)  # ties with the resamples, which are whole numbers

    expected = stats.bootstrap(
        (c2.changes.astype(np.float64), c0.changes.astype(np.float64)),
        effect,
        n_resamples=0,
        bootstrap_result=cast("Any", SimpleNamespace(bootstrap_distribution=numerators.astype(np.float64))),
        method="BCa",
    ).confidence_interval

    low, high, _ = bca(drawn, Quantity.EFFECT, 0.05)

    assert (low, high) == pytest.approx((expected.low / denominator, expected.high / denominator), abs=1e-12)


@pytest.mark.parametrize("design", ["families", "strata", "clusters of one size", "clusters of any size"])
def test_the_spread_of_a_resample_is_that_of_its_drawn_units(design: str) -> None:
    """Columns without any are left out of the work, whichever they are, and the totals are those without spread."""
    c0, c2 = an_outcomes(families=12, seed=1), an_outcomes(families=12, lift=0.3, seed=2)
    labels = labels_in_turn(c0, c2, 4)
    odd = ([*"aaabbc"] * 2, [*"abbbcc"] * 2)
    strata = labels if design == "strata" else None
    cluster = {"clusters of one size": labels, "clusters of any size": odd}.get(design)
    units = resampling_units(c0, c2, strata, cluster)

    drawn = replicates(units, 50, np.random.Generator(np.random.PCG64(3)), with_spread=True)

    rng = np.random.Generator(np.random.PCG64(3))
    spread = np.zeros((50, 4, 4))
    for group in units.groups:
        ordered = np.array(sorted(group.tolist()))
        for each in range(50):
            chosen = ordered[rng.integers(0, len(ordered), len(ordered))]
            spread[each] += len(chosen) * np.cov(chosen.T, ddof=1)
    assert drawn.spread is not None
    assert np.moveaxis(drawn.spread, -1, 0) == pytest.approx(spread, abs=1e-9)
    plain = replicates(units, 50, np.random.Generator(np.random.PCG64(3)))
    assert drawn.totals.tolist() == plain.totals.tolist()


def test_studentized_interval_equals_a_plain_loop_replicate_by_replicate() -> None:
    """The bootstrap-t has one more moving part than the others; the loop below is its definition."""
    c0, c2 = an_outcomes(families=17, seed=1), an_outcomes(families=21, lift=0.3, seed=2)
    rng = np.random.Generator(np.random.PCG64(11))
    samples = []
    for one in (c0, c2):
        changes = np.sort(one.changes) / 32
        samples.append([changes[rng.integers(0, len(changes), len(changes))] for _ in range(499)])

    def error(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
        return math.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))

    estimate = c2.changes.mean() / 32 - c0.changes.mean() / 32
    own = error(c0.changes / 32, c2.changes / 32)
    ratios = [(b.mean() - a.mean() - estimate) / error(a, b) for a, b in zip(*samples, strict=True)]

    effect = difference_in_differences(c0, c2, method="studentized", n_resamples=499, seed=11).effect

    assert effect.low == pytest.approx(estimate - np.quantile(ratios, 0.975) * own, abs=1e-12)
    assert effect.high == pytest.approx(estimate - np.quantile(ratios, 0.025) * own, abs=1e-12)
    assert effect.standard_error == pytest.approx(own, abs=1e-15)


@pytest.mark.parametrize("method", ["bca", "studentized"])
def test_small_group_methods_cover_where_the_percentile_does_not(method: str) -> None:
    """Two-humped changes in few families are what a table by shape is made of."""
    covered = {"percentile": 0, method: 0}
    for trial in range(200):
        rng = np.random.Generator(np.random.PCG64(trial))
        c0 = Outcomes([8] * 8, rng.binomial(8, 0.5, 8) + 4, 32)
        c2 = Outcomes([0] * 8, rng.binomial(4, 0.5, 8) + np.where(rng.random(8) < 0.4, 25, 0), 32)
        for each in covered:
            effect = difference_in_differences(c0, c2, method=each, n_resamples=400, seed=trial).effect
            covered[each] += effect.low <= 12 / 32 <= effect.high

    assert covered["percentile"] < 0.94 * 200
    assert covered[method] >= covered["percentile"] + 3


@pytest.mark.parametrize("method", SIMULATED)
def test_duplicated_draws_change_nothing(method: str) -> None:
    """Copies of draws are no new families, whatever the correction on top of the resamples."""
    c0, c2 = an_outcomes(families=20, seed=1), an_outcomes(families=22, lift=0.3, seed=2)
    tenfold = [Outcomes(10 * one.base, 10 * one.adapted, 10 * one.draws) for one in (c0, c2)]

    once = difference_in_differences(c0, c2, method=method, n_resamples=500, seed=3)
    ten = difference_in_differences(tenfold[0], tenfold[1], method=method, n_resamples=500, seed=3)

    for name in ("effect", "c0_drift", "c2_change"):
        assert bounds(getattr(ten, name)) == pytest.approx(bounds(getattr(once, name)), abs=1e-9)


@pytest.mark.parametrize("method", SIMULATED)
def test_exchanged_conditions_change_only_the_sign(method: str) -> None:
    """Which condition is the control carries a sign and nothing else, up to simulation noise in the bounds."""
    c0, c2 = an_outcomes(families=30, seed=1), an_outcomes(families=30, lift=0.3, seed=2)

    forth = difference_in_differences(c0, c2, method=method, seed=3).effect
    back = difference_in_differences(c2, c0, method=method, seed=3).effect

    assert back.estimate == -forth.estimate
    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low), abs=0.012)


@pytest.mark.parametrize("method", [*SIMULATED, "exact"])
def test_order_of_families_and_of_labels_changes_nothing(method: str) -> None:
    """Families carry their labels with them; the order of the rows of a file is no information."""
    c0, c2 = an_outcomes(seed=1), an_outcomes(lift=0.3, seed=2)
    labels = labels_in_turn(c0, c2, 8)
    order = np.random.Generator(np.random.PCG64(0)).permutation(40)
    shuffled = Outcomes(c2.base[order], c2.adapted[order], 32)
    moved = (labels[0], [labels[1][i] for i in order])

    kinds: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"cluster": labels}, {"cluster": moved}),
        ({"strata": labels}, {"strata": moved}),
    ]
    for names, other in kinds:
        one = difference_in_differences(c0, c2, method=method, n_resamples=300, seed=3, **names)
        two = difference_in_differences(c0, shuffled, method=method, n_resamples=300, seed=3, **other)

        assert bounds(one.effect) == bounds(two.effect)


@pytest.mark.parametrize("method", SIMULATED)
def test_rare_jumps_give_finite_bounds_inside_the_possible(method: str) -> None:
    """A resample without any of the two jumping families has no spread of its own to be divided by."""
    still, jumps = Outcomes([4] * 16, [4] * 16, 32), Outcomes([0] * 16, [0] * 14 + [32] * 2, 32)

    result = difference_in_differences(still, jumps, method=method, n_resamples=500, seed=1)

    assert -2 <= result.effect.low <= result.effect.estimate <= result.effect.high <= 2
    json.dumps(result.to_dict(), allow_nan=False)


def test_small_or_rarely_moving_groups_are_warned_about() -> None:
    """METHODS 13.5: the percentile interval of a table by shape covers less than it says, and a reader must know."""
    large = an_outcomes(families=64, seed=1)
    rare = Outcomes([0] * 64, [0] * 60 + [32] * 4, 32)

    small = difference_in_differences(an_outcomes(families=16), large, seed=1, n_resamples=100)
    jumpy = difference_in_differences(large, rare, seed=1, n_resamples=100)
    plain = difference_in_differences(large, an_outcomes(families=64, lift=0.3, seed=2), seed=1, n_resamples=100)

    assert "C0 has 16 families, fewer than 32" in small.warnings[0]
    assert "4 families of C2 differ" in jumpy.warnings[0]
    assert plain.warnings == ()
    assert "beware: C0 has 16 families" in str(small)
    assert small.to_dict()["warnings"] == list(small.warnings)


def test_exact_method_refuses_what_it_cannot_enumerate() -> None:
    """A quiet fallback to simulation would make a number that nobody can repeat without a seed."""
    c0, c2 = an_outcomes(families=5), an_outcomes(families=5, lift=0.3)
    unequal = [0, 0, 0, 1, 1]
    wide = Outcomes(np.arange(40) ** 4, np.arange(40) ** 5, 40**5)

    with pytest.raises(UnsupportedMethodError, match="clusters of one size"):
        difference_in_differences(c0, c2, method="exact", cluster=(unequal, unequal))
    with pytest.raises(EnumerationError, match="possible values"):
        difference_in_differences(wide, wide, method="exact")


@pytest.mark.parametrize("factors", [(10**6, 10**6), (10**14, 10**13), (7 * 10**13 + 1, 2 * 10**14 + 7)])
@pytest.mark.parametrize(
    ("method", "layout"),
    [(method, layout) for method in [*SIMULATED, "exact"] for layout in ("families", "strata", "cluster")][:-1],
)
def test_scale_of_the_counts_changes_nothing(method: str, layout: str, factors: tuple[int, int]) -> None:
    """Fresh forms with missing ones have a common denominator of billions, whose products leave 64 bits."""
    small = an_outcomes(families=37, seed=1), an_outcomes(families=43, lift=0.3, seed=2)
    labels: dict[str, Any] = {} if layout == "families" else {layout: labels_in_turn(*small, 9)}
    c0, c2 = (
        Outcomes([int(x) * factor for x in one.base], [int(x) * factor for x in one.adapted], one.draws * factor)
        for one, factor in zip(small, factors, strict=True)
    )

    large = difference_in_differences(c0, c2, method=method, n_resamples=300, seed=1, **labels)
    plain = difference_in_differences(*small, method=method, n_resamples=300, seed=1, **labels)

    for name in ("effect", "c0_drift", "c2_change"):
        assert bounds(getattr(large, name)) == pytest.approx(bounds(getattr(plain, name)), abs=1e-12)
        assert getattr(large, name).standard_error == pytest.approx(getattr(plain, name).standard_error, abs=1e-12)


@pytest.mark.parametrize("method", [*SIMULATED, "exact"])
def test_bounds_that_fall_on_one_value_are_no_interval(method: str) -> None:
    """At a low level both quantiles meet in the commonest resample; printed, that reads as perfect precision."""
    c0, c2 = one_draw([0] * 19 + [1]), one_draw([1] + [0] * 19)

    change = difference_in_differences(c0, c2, method=method, n_resamples=400, seed=1, alpha=0.999).c2_change

    assert change.low == change.high
    assert change.state is IntervalState.COLLAPSED
    assert change.is_degenerate
    assert "no interval: both quantiles" in str(change)


@pytest.mark.parametrize("method", ["percentile", "bca", "studentized", "exact"])
@pytest.mark.parametrize("scale", [10**6, 10**8, 10**14])
def test_unit_of_the_draws_changes_no_interval(method: str, scale: int) -> None:
    """Counts over 3,000,000,000 draws gave an effect of +50 points an interval from -27 to -16."""
    rng = np.random.Generator(np.random.PCG64(3))
    counts = [rng.integers(0, 33, size) for size in (31, 31, 28, 28)]

    plain, wide = (
        difference_in_differences(
            Outcomes(counts[0] * unit, counts[1] * unit, 32 * unit),
            Outcomes(counts[2] * unit, counts[3] * unit, 32 * unit),
            method=method,
            seed=None if method == "exact" else 1,
            n_resamples=300,
        )
        for unit in (1, scale)
    )

    for name in ("effect", "c0_drift", "c2_change"):
        expected, found = getattr(plain, name), getattr(wide, name)
        assert (found.estimate, found.low, found.high) == pytest.approx(
            (expected.estimate, expected.low, expected.high), abs=1e-12
        )


@pytest.mark.parametrize("method", ["percentile", "bca", "studentized"])
@pytest.mark.parametrize("form_count", [20, 25, 40])
def test_many_forms_with_some_missing_keep_their_effect_inside_the_interval(method: str, form_count: int) -> None:
    """The draws are then the least common multiple of 1..K, far beyond 32 bits, and squares of it beyond 64."""
    rng = np.random.Generator(np.random.PCG64(4))
    base, adapted = (rng.integers(0, 2, (60, form_count)).astype(float) for _ in range(2))
    missing = np.arange(60)[:, None] % form_count < np.arange(form_count)
    base[missing] = adapted[missing] = np.nan
    changes = np.nanmean(adapted, axis=1) - np.nanmean(base, axis=1)

    result = difference_in_differences(
        Outcomes.from_forms(base[:30], adapted[:30]),
        Outcomes.from_forms(base[30:], adapted[30:]),
        method=method,
        seed=1,
        n_resamples=400,
    )

    assert result.effect.estimate == pytest.approx(changes[30:].mean() - changes[:30].mean(), abs=1e-12)
    assert result.effect.low < result.effect.estimate < result.effect.high
    assert 0.1 < result.effect.half_width < 0.6
