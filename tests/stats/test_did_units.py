"""What is drawn together: strata and clusters of families, and what is said where there are few."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from leakscale.stats import (
    DesignError,
    IntervalState,
    Outcomes,
    difference_in_differences,
)
from leakscale.stats.exposure.did_simulated import replicates, share_below
from leakscale.stats.exposure.resampling_units import Quantity, resampling_units

from .exposure_cases import SIMULATED, an_outcomes, bounds, one_draw

SMALL_CHANGES = st.lists(st.integers(-1, 1), min_size=2, max_size=4)


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
