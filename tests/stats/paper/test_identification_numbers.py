"""Published figures on transport, control banks, the claim rule and power, by their ids.

The audits behind them are unpublished. Where a figure pins the lattice of two fresh forms down, the bank below was
found by search: it is the one whose widths round to everything that was printed about it.
"""

# ruff: noqa: N802  (tests are named by the ids of the list, which are upper case)

from __future__ import annotations

import math

import numpy as np
import pytest

from leakscale.stats import (
    RHO_GRID,
    RHO_HEADLINE,
    FinitePopulationDesign,
    Gaps,
    claim_rule,
    control_bank_size_for,
    control_readings,
    detection_rate,
    guardrail,
    mean_bounds,
    mean_ci,
    minimum_detectable_effect,
    sensitivity_curve,
    sensitivity_interval,
)
from leakscale.stats.planning.detection import planted_samples

GSM8K, ARC, WRITING = (FinitePopulationDesign(size) for size in (1319, 1165, None))


def a_bank(*, up: int = 0, down: int = 0, half_up: int = 0, half_down: int = 0, parents: int = 200) -> Gaps:
    """Build the gaps of a bank with two fresh forms from the counts of +1, -1, +1/2 and -1/2."""
    counts = {2: up, -2: down, 1: half_up, -1: half_down}
    return Gaps(np.repeat([*counts, 0], [*counts.values(), parents - sum(counts.values())]), 2)


SMOLLM2_ARC = a_bank(up=2, down=2, half_up=13, half_down=9)
SMOLLM2_CONTROL = a_bank(up=1, down=3, half_up=1, half_down=4, parents=40)
PHI3_ARC = a_bank(up=2, down=2, half_up=11, half_down=12)
PHI3_CONTROL = a_bank(up=2, down=1, half_up=2, half_down=4, parents=40)


def a_bank_as_wide_as(half_width: float, *, parents: int, design: FinitePopulationDesign) -> Gaps:
    """Build gaps of mean zero with this Wald half-width at alpha = .05, which is all that is known of them."""
    unsampled = 1 - parents / design.population_size if design.population_size else 1.0
    gap = half_width / 1.959963984540054 * math.sqrt((parents - 1) / unsampled)
    return Gaps.of([gap, -gap] * (parents // 2))


def width(gaps: Gaps, control: Gaps, *, component: str, design: FinitePopulationDesign = ARC) -> float:
    interval = sensitivity_interval(gaps, design, control, rho=RHO_HEADLINE, component=component)
    return interval.high - interval.low


def stress_intervals(audits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends at radius 0, for 800 + 800 parents and an ordinary gap five points above the control's."""
    rng, design = np.random.Generator(np.random.PCG64(1)), FinitePopulationDesign(2400)
    control = a_bank(up=96, down=60, half_up=252, half_down=204, parents=2400)
    benchmark = a_bank(up=96, down=60, half_up=372, half_down=84, parents=2400)
    audit, bank = (
        mean_bounds(
            planted_samples(one, population, n=800, advantage=0.0, replicates=audits, rng=rng),
            2,
            population,
            method="wald_fpc",
            alpha=0.025,
        )
        for one, population in ((benchmark, design), (control, WRITING))
    )
    return audit.low - bank.high, audit.high - bank.low


@pytest.mark.parametrize(("rho", "published"), [(0.0, 0.445), (0.025, 0.931), (0.05, 0.9997)])
def test_CS031_coverage_of_the_stress_test(rho: float, published: float) -> None:
    """The middle value identifies the split of alpha: at the whole alpha it would be .905."""
    low, high = stress_intervals(8000)

    coverage = float(np.mean((low - rho <= 0) & (high + rho >= 0)))

    assert coverage == pytest.approx(published, abs=0.03 if rho == 0 else 0.01)


@pytest.mark.parametrize(("rho", "published"), [(0.0, 0.095), (0.025, 0.145), (0.05, 0.195)])
def test_CS032_radius_adds_twice_itself_to_the_width(rho: float, published: float) -> None:
    """The three widths differ by exactly .05, whatever the data."""
    low, high = stress_intervals(500)

    assert float(np.mean(high - low)) + 2 * rho == pytest.approx(published, abs=0.0015)


def test_CS036_grid_of_radii_and_the_headline() -> None:
    """The radii were fixed before unblinding; a default that differs would be another registration."""
    curve = sensitivity_curve(SMOLLM2_ARC, ARC, SMOLLM2_CONTROL)

    assert curve.rhos == RHO_GRID == (0, 0.01, 0.02, 0.05, 0.10)
    assert RHO_HEADLINE == 0.02
    assert claim_rule(SMOLLM2_ARC, ARC, SMOLLM2_CONTROL).rho == RHO_HEADLINE


def test_CS042_guardrail_component_doubles_the_width_for_smollm2() -> None:
    """.355 with Wald as registered, .711 with the bound that the guardrail makes primary."""
    assert guardrail(SMOLLM2_ARC, ARC).fired
    assert round(width(SMOLLM2_ARC, SMOLLM2_CONTROL, component="wald"), 3) == 0.355
    assert round(width(SMOLLM2_ARC, SMOLLM2_CONTROL, component="primary"), 3) == 0.711


def test_CS043_guardrail_component_doubles_the_width_for_phi_3() -> None:
    """.345 and .700. No bank of 40 on the lattice prints both; this one is .0006 off in the second."""
    assert guardrail(PHI3_ARC, ARC).fired
    assert round(width(PHI3_ARC, PHI3_CONTROL, component="wald"), 3) == 0.345
    assert width(PHI3_ARC, PHI3_CONTROL, component="primary") == pytest.approx(0.700, abs=0.001)


@pytest.mark.parametrize(("control", "audit", "published"), [(0.049, 0.035, 0.23), (0.119, 0.058, 0.44)])
def test_CS044_widths_range_from_23_to_44_points(control: float, audit: float, published: float) -> None:
    """The printed alpha = .05 half-widths, taken to alpha = .025 each, plus the radius on both sides."""
    gaps = a_bank_as_wide_as(audit, parents=200, design=GSM8K)
    bank = a_bank_as_wide_as(control, parents=60, design=WRITING)

    assert round(width(gaps, bank, component="wald", design=GSM8K), 2) == published


def test_CS045_half_widths_of_the_control_banks_are_on_the_lattice() -> None:
    """The recovered bank of 40 lies inside the published range, near its upper end."""
    assert 0.049 <= mean_ci(SMOLLM2_CONTROL, WRITING, method="wald_fpc").half_width <= 0.119
    assert 0.049 <= mean_ci(PHI3_CONTROL, WRITING, method="wald_fpc").half_width <= 0.119


def test_CS046_fixed_reading_is_the_one_spurious_exclusion() -> None:
    """[+.05, +.15] for SmolLM2 on ARC: the noise of 40 control parents, taken for the truth."""
    readings = control_readings(SMOLLM2_ARC, ARC, SMOLLM2_CONTROL, component="wald")

    fixed = readings.intervals["fixed"]
    assert (round(fixed.low, 2), round(fixed.high, 2)) == (0.05, 0.15)
    assert {name: interval.excludes(0) for name, interval in readings.intervals.items()} == {
        "wald": False,
        "guardrail": False,
        "fixed": True,
    }


def test_CS047_smollm2_control_gap_lies_on_the_lattice_of_eightieths() -> None:
    """-.088 stands for -7/80, and its own interval holds zero comfortably."""
    interval = mean_ci(SMOLLM2_CONTROL, WRITING, method="wald_fpc")

    assert interval.estimate == -7 / 80
    assert interval.estimate == pytest.approx(-0.088, abs=0.000501)
    assert interval.low < -0.19
    assert interval.high > 0.02


def test_control_bank_of_the_audits_size_halves_the_sensitivity_interval_or_nearly() -> None:
    """Section 7.4's design rule: 200 control parents bring the control half-width to the audit's."""
    gaps = a_bank(up=4, down=4, half_up=17, half_down=11)
    small = a_bank_as_wide_as(0.119, parents=40, design=WRITING)
    size = control_bank_size_for(mean_ci(gaps, GSM8K, method="wald_fpc").half_width, pilot=gaps)
    large = a_bank_as_wide_as(size.half_width, parents=2 * (size.parent_count // 2), design=WRITING)

    assert 200 <= size.parent_count <= 240
    ratio = width(gaps, large, component="wald", design=GSM8K) / width(gaps, small, component="wald", design=GSM8K)
    assert 0.4 <= ratio <= 0.6


@pytest.mark.parametrize(
    ("gaps", "design", "half", "eighty"),
    [
        pytest.param(a_bank(up=4, down=4, half_up=17, half_down=11), GSM8K, 0.035, 0.050, id="CS060 Phi-3"),
        pytest.param(a_bank(up=15, down=15, half_up=22, half_down=22), GSM8K, 0.058, 0.083, id="CS060 SmolLM2"),
        pytest.param(a_bank(up=2, down=2, half_up=13, half_down=13), ARC, 0.029, 0.041, id="CS061 narrowest"),
        pytest.param(a_bank(up=7, down=7, half_up=12, half_down=12), ARC, 0.040, 0.057, id="CS061 widest"),
    ],
)
def test_CS060_CS061_minimum_detectable_effects_at_200(
    gaps: Gaps, design: FinitePopulationDesign, half: float, eighty: float
) -> None:
    """The paper's figure is the effect with power one half; with the usual 80 % an audit sees half as much again."""
    assert round(minimum_detectable_effect(gaps, design).effect, 3) == half
    assert round(minimum_detectable_effect(gaps, design, power=0.8).effect, 3) == eighty


@pytest.mark.parametrize("nonzero", [0.24, 0.15, 0.08])
def test_CS062_registered_guardrail_has_no_power_at_100_parents(nonzero: float) -> None:
    """Nothing up to ten points, and about one audit in twenty at twenty points."""
    unit = round(nonzero * 1200 / 6)
    pilot = a_bank(up=unit, down=unit, half_up=2 * unit, half_down=2 * unit, parents=1200)

    ten, twenty = (
        detection_rate(pilot, GSM8K, n=100, advantage=advantage, replicates=4000, seed=1).rate
        for advantage in (0.10, 0.20)
    )

    assert ten < 0.001
    assert 0.03 <= twenty <= 0.10
