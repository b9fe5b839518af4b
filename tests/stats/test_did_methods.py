"""BCa, bootstrap-t, strata and clusters of the exposure effect."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from leakscale.stats import (
    DesignError,
    EnumerationError,
    Interval,
    IntervalState,
    Outcomes,
    UnsupportedMethodError,
    difference_in_differences,
)
from leakscale.stats.exposure.did_simulated import bca, replicates, share_below
from leakscale.stats.exposure.resampling_units import Quantity, resampling_units

from .exposure_cases import an_outcomes, labels_in_turn, one_draw

SIMULATED = ["percentile", "bca", "studentized"]
SMALL_CHANGES = st.lists(st.integers(-1, 1), min_size=2, max_size=4)


def bounds(interval: Interval) -> tuple[float, float, float]:
    return interval.low, interval.estimate, interval.high


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


@given(SMALL_CHANGES, SMALL_CHANGES, st.sampled_from([0.1, 0.3, 0.5]))
def test_stratified_exact_bounds_equal_brute_force(first: list[int], second: list[int], alpha: float) -> None:
    """All resamples of four small strata can be written down, stratum by stratum."""
    c0, c2 = one_draw([*first, 1, 0]), one_draw([*second, -1, 1])
    strata = (["a"] * len(first) + ["b"] * 2, ["a"] * len(second) + ["b"] * 2)
    sums = []
    for one, labels in zip((c0, c2), strata, strict=True):
        parts = [[int(y) for y, h in zip(one.changes, labels, strict=True) if h == stratum] for stratum in "ab"]
        products = [[sum(pick) for pick in itertools.product(part, repeat=len(part))] for part in parts]
        sums.append([a + b for a, b in itertools.product(*products)])
    n0, n2 = c0.family_count, c2.family_count
    effects = np.sort(np.subtract.outer(np.array(sums[1]) * n0, np.array(sums[0]) * n2).ravel())
    tail = math.ceil(round(alpha / 2 * effects.size, 6))

    effect = difference_in_differences(c0, c2, method="exact", strata=strata, alpha=alpha).effect

    assert (effect.low, effect.high) == pytest.approx(
        (effects[tail - 1] / (n0 * n2), effects[-tail] / (n0 * n2)), abs=1e-12
    )


@given(st.lists(st.tuples(*[st.integers(-1, 1)] * 4), min_size=2, max_size=5), st.sampled_from([0.1, 0.3]))
def test_clustered_exact_bounds_equal_brute_force(rows: list[tuple[int, ...]], alpha: float) -> None:
    """A shape with two families of each condition moves with all four."""
    c0, c2 = (one_draw([value for row in rows for value in row[part]]) for part in (slice(0, 2), slice(2, 4)))
    shapes = [shape for shape in range(len(rows)) for _ in range(2)]
    gains = [row[2] + row[3] - row[0] - row[1] for row in rows]
    sums = sorted(sum(pick) for pick in itertools.product(gains, repeat=len(rows)))
    tail = math.ceil(round(alpha / 2 * len(sums), 6))

    effect = difference_in_differences(c0, c2, method="exact", cluster=(shapes, shapes), alpha=alpha).effect

    assert effect.low == pytest.approx(sums[tail - 1] / c0.family_count, abs=1e-12)
    assert effect.high == pytest.approx(sums[-tail] / c0.family_count, abs=1e-12)
    assert (effect.state is IntervalState.CONSTANT) == (len(set(gains)) == 1)


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5)])
@pytest.mark.parametrize("method", ["percentile", "studentized"])
def test_cluster_bounds_equal_a_plain_loop(method: str, sizes: tuple[int, int]) -> None:
    """Clusters of unequal size make the effect a ratio, where a shortcut would use the wrong denominator."""
    rng = np.random.Generator(np.random.PCG64(5))
    labels = [np.repeat(np.arange(12), [sizes[i % 2] for i in range(12)]) for _ in range(2)]
    c0, c2 = (Outcomes(rng.integers(0, 9, names.size), rng.integers(0, 9, names.size), 8) for names in labels)
    clusters = sorted(
        (int(c0.changes[labels[0] == s].sum()), int((labels[0] == s).sum()), int(c2.changes[labels[1] == s].sum()))
        for s in range(12)
    )
    rows = np.array([(y0, m, y2, m) for y0, m, y2 in clusters])
    draws = np.random.Generator(np.random.PCG64(6))
    picks = [rows[draws.integers(0, 12, 12)] for _ in range(300)]

    def effect(drawn: NDArray[np.int64]) -> float:
        total = drawn.sum(axis=0)
        return float(total[2] / (8 * total[3]) - total[0] / (8 * total[1]))

    def error(drawn: NDArray[np.int64]) -> float:
        y0, m0, y2, m2 = drawn.T
        parts = (y2 - y2.sum() / m2.sum() * m2) / (8 * m2.sum()) - (y0 - y0.sum() / m0.sum() * m0) / (8 * m0.sum())
        return float(math.sqrt(12 / 11 * (parts @ parts)))

    result = difference_in_differences(
        c0, c2, method=method, n_resamples=300, seed=6, cluster=(labels[0], labels[1])
    ).effect

    effects = np.array([effect(drawn) for drawn in picks])
    low, high = np.quantile(effects, (0.025, 0.975))
    if method == "studentized":
        ratios = (effects - effect(rows)) / np.array([error(drawn) for drawn in picks])
        late, early = np.quantile(ratios, (0.975, 0.025))
        low, high = effect(rows) - late * error(rows), effect(rows) - early * error(rows)
    assert (result.low, result.estimate, result.high) == pytest.approx((low, effect(rows), high), abs=1e-12)


def test_standard_error_of_clusters_is_within_two_percent_of_the_analytic_one() -> None:
    """Clusters drawn twice but counted once would give about 0.8 of the truth."""
    rng = np.random.Generator(np.random.PCG64(8))
    shift = rng.integers(0, 12, 200)
    c0 = Outcomes(rng.integers(0, 9, 800), rng.integers(0, 9, 800), 32)
    c2 = Outcomes(rng.integers(0, 9, 800), np.repeat(shift, 4) + rng.integers(0, 9, 800), 32)
    shapes = np.repeat(np.arange(200), 4)
    gains = (c2.changes - c0.changes).reshape(200, 4).sum(axis=1) / (800 * 32)
    analytic = math.sqrt(200 * gains.var(ddof=1))

    errors = {
        method: difference_in_differences(c0, c2, method=method, seed=3, cluster=(shapes, shapes)).effect.standard_error
        for method in ("percentile", "studentized", "exact")
    }

    assert errors["percentile"] == pytest.approx(analytic, rel=0.02)
    assert errors["studentized"] == pytest.approx(analytic, rel=1e-12)
    assert errors["exact"] == pytest.approx(analytic * math.sqrt(199 / 200), rel=1e-12)


def test_clusters_widen_the_interval_where_shapes_differ() -> None:
    """A family bootstrap treats the shapes at hand as all shapes there are."""
    rng = np.random.Generator(np.random.PCG64(8))
    c0 = Outcomes(rng.integers(0, 9, 256), rng.integers(0, 9, 256), 32)
    c2 = Outcomes(rng.integers(0, 5, 256), np.repeat(rng.integers(0, 25, 16), 16) + rng.integers(0, 5, 256), 32)
    shapes = np.repeat(np.arange(16), 16)

    families = difference_in_differences(c0, c2, method="exact").effect
    clusters = difference_in_differences(c0, c2, method="exact", cluster=(shapes, shapes)).effect

    assert clusters.estimate == families.estimate
    assert clusters.half_width > 2 * families.half_width


def test_strata_narrow_the_interval_where_they_explain_the_changes() -> None:
    """A design that fixed the number of families in each shape owes nothing to the spread between shapes."""
    rng = np.random.Generator(np.random.PCG64(8))
    c0 = Outcomes(rng.integers(0, 9, 256), rng.integers(0, 9, 256), 32)
    c2 = Outcomes(rng.integers(0, 5, 256), np.repeat(rng.integers(0, 25, 16), 16) + rng.integers(0, 5, 256), 32)
    shapes = np.repeat(np.arange(16), 16)

    plain = difference_in_differences(c0, c2, method="exact")
    strata = difference_in_differences(c0, c2, method="exact", strata=(shapes, shapes))

    assert strata.effect.estimate == plain.effect.estimate
    assert strata.effect.half_width < 0.7 * plain.effect.half_width
    assert strata.resampled == "256 + 256 families within strata"


def test_clusters_within_strata_keep_labels_of_different_strata_apart() -> None:
    """Shape 0 of one domain is not shape 0 of the other."""
    c0, c2 = an_outcomes(families=48, seed=1), an_outcomes(families=48, lift=0.3, seed=2)
    domains = ["sql"] * 24 + ["python"] * 24
    again = [i % 6 for i in range(24)] * 2
    apart = [f"{domain}-{shape}" for domain, shape in zip(domains, again, strict=True)]

    repeated = difference_in_differences(c0, c2, method="exact", strata=(domains, domains), cluster=(again, again))
    unique = difference_in_differences(c0, c2, method="exact", strata=(domains, domains), cluster=(apart, apart))

    assert bounds(repeated.effect) == bounds(unique.effect)
    assert repeated.resampled == "12 clusters of both conditions within strata"


def test_clusters_of_one_condition_are_drawn_apart() -> None:
    """Sources that wrote families of one condition only say nothing about the other."""
    c0, c2 = an_outcomes(families=40, seed=1), an_outcomes(families=40, lift=0.3, seed=2)
    labels = ([i // 2 for i in range(40)], [100 + i // 2 for i in range(40)])
    pairs0, pairs2 = (one.changes.reshape(20, 2).sum(axis=1) for one in (c0, c2))

    result = difference_in_differences(c0, c2, method="exact", cluster=labels)
    summed = difference_in_differences(
        Outcomes(np.clip(-pairs0, 0, None), np.clip(pairs0, 0, None), 64),
        Outcomes(np.clip(-pairs2, 0, None), np.clip(pairs2, 0, None), 64),
        method="exact",
    )

    assert result.resampled == "20 + 20 clusters"
    assert bounds(result.effect) == pytest.approx(bounds(summed.effect), abs=1e-15)


@pytest.mark.parametrize("method", [*SIMULATED, "exact"])
def test_lone_units_are_reported_as_such_with_the_widest_bounds(method: str) -> None:
    """One cluster, or a stratum of one, varies with nothing; zero width would claim perfect knowledge."""
    c0, c2 = an_outcomes(families=6, seed=1), an_outcomes(families=6, lift=0.3, seed=2)
    everyone, last = ["a"] * 6, ["a"] * 5 + ["b"]

    cluster = difference_in_differences(c0, c2, method=method, seed=1, cluster=(everyone, everyone))
    stratum = difference_in_differences(c0, c2, method=method, seed=1, strata=(everyone, last))

    assert cluster.effect.state is IntervalState.SINGLE_CLUSTER
    assert (cluster.effect.low, cluster.effect.high) == (-2, 2)
    assert stratum.effect.state is IntervalState.SINGLE_IN_STRATUM
    assert stratum.c2_change.state is IntervalState.SINGLE_IN_STRATUM
    assert stratum.c0_drift.state is IntervalState.ESTIMATED


@pytest.mark.parametrize("method", [*SIMULATED, "exact"])
def test_clusters_that_all_gained_the_same_are_flagged(method: str) -> None:
    """Both conditions vary from shape to shape and their difference does not: a width of zero is no precision."""
    c0 = Outcomes([9, 5, 9, 5], [10, 7, 12, 9], 32)
    c2 = Outcomes([2, 3, 2, 3], [7, 9, 9, 11], 32)
    shapes = [0, 1, 2, 3]

    result = difference_in_differences(c0, c2, method=method, seed=1, cluster=(shapes, shapes))

    assert result.effect.state is IntervalState.CONSTANT
    assert result.effect.standard_error is None
    assert result.c0_drift.state is IntervalState.ESTIMATED


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


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (([0] * 39, [0] * 40), "one each"),
        (([0.5] * 40, [0] * 40), "text or whole numbers"),
        (([0] * 40,), "2|pass"),
        (([0] * 20 + [1] * 20, [0] * 40), "have families of both conditions"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: tuple[list[int], list[int]], words: str) -> None:
    """A silent broadcast of labels would put families into the wrong shape."""
    with pytest.raises(DesignError, match=words):
        difference_in_differences(an_outcomes(), an_outcomes(), method="exact", cluster=labels)


def test_exact_method_refuses_what_it_cannot_enumerate() -> None:
    """A quiet fallback to simulation would make a number that nobody can repeat without a seed."""
    c0, c2 = an_outcomes(families=5), an_outcomes(families=5, lift=0.3)
    unequal = [0, 0, 0, 1, 1]
    wide = Outcomes(np.arange(40) ** 4, np.arange(40) ** 5, 40**5)

    with pytest.raises(UnsupportedMethodError, match="clusters of one size"):
        difference_in_differences(c0, c2, method="exact", cluster=(unequal, unequal))
    with pytest.raises(EnumerationError, match="possible values"):
        difference_in_differences(wide, wide, method="exact")


def test_whole_numbers_decide_ties_of_clusters_of_unequal_size() -> None:
    """The BCa bias counts ties; floats that differ in the last digit moved it by a third of all resamples."""
    c0, c2 = one_draw([-1, 1, 0, 0, 0, 0, 1, 1, 0, 0]), one_draw([1, 0, 0, 0])
    units = resampling_units(c0, c2, None, ([1, 1, 1, 1, 0, 1, 0, 0, 1, 1], [0, 0, 0, 1]))
    drawn = replicates(units, 4_000, np.random.Generator(np.random.PCG64(1)))
    estimate = Fraction(1, 4) - Fraction(2, 10)
    effects = [Fraction(int(y2), int(m2)) - Fraction(int(y0), int(m0)) for y0, m0, y2, m2 in drawn.totals]
    ties = sum(effect == estimate for effect in effects)
    below = (sum(effect < estimate for effect in effects) + ties / 2) / len(effects)

    found = share_below(drawn, Quantity.EFFECT)

    assert ties > len(effects) / 4
    assert found == below


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
