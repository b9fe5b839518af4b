"""Published figures of intervals for the mean gap, by their ids."""

# ruff: noqa: N802  (tests are named by the ids of the list, which are upper case)

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from leakscale.stats import (
    FinitePopulationDesign,
    Gaps,
    GuardrailReason,
    exact_coverage,
    guardrail,
    mean_bounds,
    mean_ci,
    mean_half_width,
)

GSM8K, ARC = FinitePopulationDesign(1319), FinitePopulationDesign(1165)
SPARSE: dict[float, int] = {-1: 20, 0: 900, 1: 80}
TWO_POINT: dict[float, int] = {-1: 450, 1: 550}
NEAR_NULL: dict[float, int] = {-1: 50, 0: 900, 1: 50}


def a_bank(*, up: int, down: int, half_up: int, half_down: int, parents: int = 200) -> Gaps:
    """Build the gaps of a bank with two fresh forms from the counts of +1, -1, +1/2 and -1/2."""
    counts = {2: up, -2: down, 1: half_up, -1: half_down}
    zeros = parents - sum(counts.values())
    return Gaps(np.repeat([*counts, 0], [*counts.values(), zeros]), 2)


def hoeffding(n: int, alpha: float = 0.05) -> float:
    return mean_half_width("hoeffding", n=n, population_size=None, variance=0.0, alpha=alpha)


def bernstein(n: int, variance: float) -> float:
    return mean_half_width("empirical_bernstein", n=n, population_size=None, variance=variance)


def ratio(n: int, variance: float) -> float:
    """Width of empirical Bernstein over the width of Hoeffding."""
    return bernstein(n, variance) / hoeffding(n)


def variance_of(population: dict[float, int]) -> float:
    """Finite-population variance with N - 1 below the line, which a sample variance estimates without bias."""
    values = np.repeat(list(population), list(population.values()))
    return float(values.var(ddof=1))


def scaled(population: dict[float, int], factor: int) -> dict[float, int]:
    return {gap: factor * count for gap, count in population.items()}


def test_CS001_hoeffding_half_width_at_200() -> None:
    assert hoeffding(200) == pytest.approx(0.192065, abs=5e-7)


def test_CS002_hoeffding_half_width_at_100() -> None:
    assert hoeffding(100) == pytest.approx(0.271620, abs=5e-7)


def test_CS003_hoeffding_half_width_at_half_the_level() -> None:
    """The sensitivity interval takes its components at alpha/2, not at the alpha of the table."""
    assert hoeffding(200, 0.025) == pytest.approx(0.20933, abs=5e-6)


def test_CS004_hoeffding_half_widths_of_the_control_banks() -> None:
    """The paper says "of 0.4" without an alpha; both readings round there for the bank of 40."""
    assert [round(hoeffding(40, alpha), 4) for alpha in (0.05, 0.025)] == [0.4295, 0.4681]
    assert [round(hoeffding(60, alpha), 3) for alpha in (0.05, 0.025)] == [0.351, 0.382]


def test_CS005_bernstein_additive_term_at_100_is_207_not_174() -> None:
    """7.9 quotes .174, which is log(2/alpha); the paper's own Proposition 5 has log(4/alpha)."""
    published = 14 * math.log(2 / 0.05) / (3 * 99)

    assert round(published, 3) == 0.174
    assert bernstein(100, 0.0) == pytest.approx(0.20656, abs=5e-6)


def test_CS006_bernstein_half_width_at_100_is_295_not_255() -> None:
    """So at n = 100 it is wider than Hoeffding's .272, where 7.9 says that it is narrower."""
    variance = 0.0892
    published = math.sqrt(2 * variance * math.log(40) / 100) + 14 * math.log(40) / (3 * 99)

    assert round(published, 3) == 0.255
    assert bernstein(100, variance) == pytest.approx(0.295, abs=0.002)
    assert bernstein(100, variance) > hoeffding(100)


def test_CS007_bernstein_on_two_points_is_62_percent_wider_at_200() -> None:
    assert ratio(200, variance_of(TWO_POINT)) == pytest.approx(1.62, abs=0.0005)


def test_CS008_largest_ratio_is_two_points_at_50() -> None:
    """An even 500/500 population would give 2.18, so the published 2.17 names the population."""
    assert round(ratio(50, variance_of(TWO_POINT)), 2) == 2.17
    assert round(ratio(50, variance_of({-1: 500, 1: 500})), 2) == 2.18


def test_CS009_smallest_ratio_is_low_variance_at_2500() -> None:
    assert round(ratio(2500, 0.0524), 2) == 0.40


def test_CS010_bernstein_is_narrower_in_23_of_36_settings() -> None:
    shapes = (0.0465, 0.100, 0.100, 0.1815, 0.288, 0.99)

    narrower = {n: sum(ratio(n, variance) < 1 for variance in shapes) for n in (50, 200, 500, 250, 1000, 2500)}

    assert list(narrower.values()) == [0, 4, 5, 4, 5, 5]
    assert sum(narrower.values()) == 23


@pytest.mark.parametrize(("variance", "published"), [(0.0465, 0.77), (0.1, 0.88), (0.182, 1.0), (0.288, 1.12)])
def test_CS011_CS012_CS013_CS014_ratios_at_200(variance: float, published: float) -> None:
    """Low-variance, sparse and near-null, right-skewed, balanced: 23 and 12 % narrower, level, 12 % wider."""
    assert ratio(200, variance) == pytest.approx(published, abs=0.005)


def test_CS015_bernstein_misses_at_most_one_in_five_thousand() -> None:
    """The smallest published coverage over 36 simulated settings is .9998; listed exactly, it is never lower."""
    for population in (SPARSE, TWO_POINT, NEAR_NULL):
        for factor, sizes in ((1, (50, 200, 500)), (5, (250, 1000, 2500))):
            for n in sizes:
                assert exact_coverage(scaled(population, factor), n, method="empirical_bernstein") >= 0.9998


def test_CS016_bernstein_is_wider_than_hoeffding_for_any_data_at_50() -> None:
    """Even without any variance; with log(2/alpha) it would be narrower, so Table 6 was made with log(4/alpha)."""
    assert ratio(50, 0.0) == pytest.approx(1.086, abs=0.0005)
    assert 14 * math.log(40) / (3 * 49) / hoeffding(50) == pytest.approx(0.915, abs=0.0005)


def test_CS017_bernstein_range_on_the_audited_data() -> None:
    assert (round(bernstein(200, 0.0467), 3), round(bernstein(200, 0.2027), 3)) == (0.148, 0.197)


def test_CS018_bernstein_half_width_near_the_ceiling() -> None:
    """Sixteen nonzero gaps of 200, five of them whole; the guardrail fires and the bound is .144."""
    bank = a_bank(up=2, down=3, half_up=5, half_down=6)

    result = guardrail(bank, GSM8K, bound="empirical_bernstein")

    assert bank.nonzero_count == 16
    assert result.reasons == (GuardrailReason.FEW_NONZERO,)
    assert round(result.primary.half_width, 3) == 0.144


def test_CS019_bernstein_is_a_quarter_narrower_near_the_ceiling() -> None:
    assert round(1 - 0.144 / round(hoeffding(200), 3), 2) == 0.25


def test_CS020_exact_wald_coverage_of_the_sparse_population_at_50() -> None:
    assert exact_coverage(SPARSE, 50, method="wald_fpc") == pytest.approx(0.912660, abs=1e-6)


def test_CS021_exact_wald_coverage_of_the_sparse_population_at_200() -> None:
    assert exact_coverage(SPARSE, 200, method="wald_fpc") == pytest.approx(0.946731, abs=1e-6)


def test_CS022_exact_wald_coverage_of_the_sparse_population_at_500() -> None:
    assert exact_coverage(SPARSE, 500, method="wald_fpc") == pytest.approx(0.949858, abs=1e-6)


def test_CS023_simulated_wald_coverage_agrees_with_the_exact_one() -> None:
    """2,000 replications have a standard error of .0063; the published .9145 and ours both lie within it."""
    draws = draw(np.repeat([-1, 0, 1], [20, 900, 80]), 50, repeats=2000)

    bounds = mean_bounds(draws, 1, FinitePopulationDesign(1000), method="wald_fpc")

    simulated = np.mean((bounds.low <= 0.06) & (bounds.high >= 0.06))
    assert simulated == pytest.approx(0.912660, abs=3 * 0.0063)
    assert simulated == pytest.approx(0.9145, abs=4 * 0.0063)


def test_CS025_smallest_exact_hoeffding_coverage() -> None:
    """The two-point population at n = 50; every other enumerated setting covers more."""
    at_50 = exact_coverage(TWO_POINT, 50, method="hoeffding")

    assert at_50 == pytest.approx(0.996833, abs=1e-6)
    assert all(exact_coverage(TWO_POINT, n, method="hoeffding") > at_50 for n in (200, 500))
    assert all(exact_coverage(SPARSE, n, method="hoeffding") > at_50 for n in (50, 200, 500))


def test_CS026_hoeffding_coverage_range_over_the_settings() -> None:
    """.9935 to 1 in 2,000 replications each; the worst shape is the one with all its mass at the ends."""
    coverages = [
        exact_coverage(scaled(TWO_POINT, factor), n, method="hoeffding")
        for factor, sizes in ((1, (50, 200, 500)), (5, (250, 1000, 2500)))
        for n in sizes
    ]

    assert min(coverages) >= 0.9935
    assert max(coverages) == pytest.approx(1, abs=1e-3)


def test_CS030_first_calibration_in_2400_parents_and_5000_replications() -> None:
    """Hoeffding covers every replication and Wald is close to nominal, as in Table 2."""
    population = np.repeat([-2, -1, 0, 1, 2], [60, 240, 1560, 340, 200])
    centre = population.sum() / (2 * 2400)
    assert population.size == 2400

    draws = draw(population, 240, repeats=5000)

    coverage = {}
    for method in ("hoeffding", "wald_fpc"):
        bounds = mean_bounds(draws, 2, FinitePopulationDesign(2400), method=method)
        coverage[method] = np.mean((bounds.low <= centre) & (centre <= bounds.high))
    assert coverage["hoeffding"] == 1
    assert coverage["wald_fpc"] == pytest.approx(0.95, abs=0.01)


def test_CS034_audits_of_200_leave_their_own_share_of_each_frame_unsampled() -> None:
    """1,319 GSM8K and 1,165 four-option ARC items: the correction is .848 and .828 of the variance."""
    widths = {
        size: mean_half_width("wald_fpc", n=200, population_size=size, variance=0.1) for size in (None, 1319, 1165)
    }

    assert round((widths[1319] / widths[None]) ** 2, 3) == round(1 - 200 / 1319, 3) == 0.848
    assert round((widths[1165] / widths[None]) ** 2, 3) == round(1 - 200 / 1165, 3) == 0.828


def test_CS035_guardrail_thresholds_are_below_200_parents_or_30_nonzero() -> None:
    """Strict, and by default: an audit of exactly 200 with exactly 30 nonzero gaps stays with Wald."""
    exactly = a_bank(up=5, down=5, half_up=10, half_down=10)
    one_nonzero_less = a_bank(up=5, down=4, half_up=10, half_down=10)
    one_parent_less = a_bank(up=5, down=5, half_up=10, half_down=10, parents=199)

    assert not guardrail(exactly, GSM8K).fired
    assert guardrail(one_nonzero_less, GSM8K).reasons == (GuardrailReason.FEW_NONZERO,)
    assert guardrail(one_parent_less, GSM8K).reasons == (GuardrailReason.FEW_PARENTS,)


@pytest.mark.parametrize(
    ("bank", "frame", "estimate", "half_width"),
    [
        pytest.param(a_bank(up=7, down=4, half_up=14, half_down=7), ARC, 0.0325, 0.036, id="Qwen2.5-7B ARC"),
        pytest.param(a_bank(up=5, down=4, half_up=15, half_down=10), GSM8K, 0.0175, 0.035, id="Phi-3 GSM8K"),
        pytest.param(a_bank(up=9, down=6, half_up=20, half_down=20), GSM8K, 0.015, 0.045, id="OLMo-2 GSM8K"),
        pytest.param(a_bank(up=7, down=6, half_up=16, half_down=11), ARC, 0.0175, 0.040, id="OLMo-2 ARC"),
    ],
)
def test_CS037_CS038_CS039_estimates_lie_on_the_lattice_of_400ths(
    bank: Gaps, frame: FinitePopulationDesign, estimate: float, half_width: float
) -> None:
    """Published .033, .018, .015 and .018 are totals of 13, 7, 6 and 7 halves; banks with that total give the width."""
    result = guardrail(bank, frame)

    assert result.primary.method == "wald_fpc"
    assert result.primary.estimate == estimate
    assert round(result.primary.half_width, 3) == half_width


def test_CS040_phi_3_on_arc_is_minus_a_quarter_point() -> None:
    """-.003 is -1/400; with 26 to 29 nonzero gaps the guardrail fires while Wald gives the published .028."""
    bank = a_bank(up=2, down=2, half_up=11, half_down=12)

    result = guardrail(bank, ARC)

    assert result.primary.method == "hoeffding"
    assert result.primary.estimate == -0.0025
    assert round(mean_ci(bank, ARC, method="wald_fpc").half_width, 3) == 0.028


def draw(population: NDArray[np.int64], n: int, *, repeats: int) -> NDArray[np.int64]:
    """Draw samples without replacement, shape (repeats, n)."""
    rng = np.random.Generator(np.random.PCG64(6))
    return rng.permuted(np.broadcast_to(population, (repeats, population.size)), axis=1)[:, :n]
