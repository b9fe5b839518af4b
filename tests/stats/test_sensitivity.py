"""The sensitivity interval, its breakdown radius, and the readings and size of a control bank."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import (
    RHO_GRID,
    FinitePopulationDesign,
    Gaps,
    IntervalState,
    NoInformationError,
    ParameterError,
    UnsupportedMethodError,
    breakdown_radius,
    control_bank_size_for,
    control_readings,
    guardrail,
    mean_ci,
    sensitivity_curve,
    sensitivity_interval,
)

FRAME = FinitePopulationDesign(1319)
SUPERPOPULATION = FinitePopulationDesign(None)
Z_UNION = 2.241402727604947
"""Normal quantile at alpha / 4, for alpha = .05."""


def a_bank(*, ones: int = 30, minus_ones: int = 20, halves: int = 20, zeros: int = 130) -> Gaps:
    """Build gaps on the lattice of two fresh forms, in mixed order."""
    values = [1.0] * ones + [-1.0] * minus_ones + [0.5] * halves + [0.0] * zeros
    order = np.random.Generator(np.random.PCG64(5)).permutation(len(values))
    return Gaps.of(np.array(values)[order], denominator=2)


def a_control(*, ones: int = 4, minus_ones: int = 4, zeros: int = 52) -> Gaps:
    """Build a control bank of 60 parents with mean gap 0."""
    return a_bank(ones=ones, minus_ones=minus_ones, halves=0, zeros=zeros)


def test_union_interval_is_the_sum_of_half_level_components_and_the_radius() -> None:
    """Proposition 3 pays for two events; the printed alpha = .05 half-widths would make it too narrow."""
    gaps, control = a_bank(), a_control()
    audit = mean_ci(gaps, FRAME, method="wald_fpc", alpha=0.025)
    bank = mean_ci(control, SUPERPOPULATION, method="wald_fpc", alpha=0.025)

    interval = sensitivity_interval(gaps, FRAME, control, rho=0.02, component="wald")

    assert interval.low == pytest.approx(audit.low - bank.high - 0.02, abs=1e-15)
    assert interval.high == pytest.approx(audit.high - bank.low + 0.02, abs=1e-15)
    assert interval.estimate == pytest.approx(gaps.mean - control.mean, abs=1e-15)


def test_independent_wald_components_add_their_variances() -> None:
    """Two independent errors meet at right angles; the union bound adds them end to end."""
    gaps, control = a_bank(), a_control()
    errors = [
        mean_ci(one, design, method="wald_fpc").standard_error or 0.0
        for one, design in ((gaps, FRAME), (control, SUPERPOPULATION))
    ]

    interval = sensitivity_interval(gaps, FRAME, control, rho=0.02, component="wald", combine="independent")

    assert interval.half_width == pytest.approx(1.959963984540054 * math.hypot(*errors) + 0.02, abs=1e-12)
    assert interval.standard_error == pytest.approx(math.hypot(*errors), abs=1e-15)


@pytest.mark.parametrize("component", ["wald", "betting"])
def test_independent_form_is_a_quarter_to_two_fifths_narrower(component: str) -> None:
    """The gain over the union bound is what the option is for: 25-38 % before the radius is added."""
    gaps, control = a_bank(), a_bank(ones=10, minus_ones=10, halves=0, zeros=180)

    widths = [
        sensitivity_interval(gaps, FRAME, control, rho=0, component=component, combine=combine).half_width
        for combine in ("union", "independent")
    ]

    assert 0.25 <= 1 - widths[1] / widths[0] <= 0.38


def test_primary_component_follows_the_guardrail() -> None:
    """Where the guardrail fires, a Wald component would make a claim easiest where Wald covers worst."""
    sparse = a_bank(ones=8, minus_ones=4, halves=4, zeros=184)
    bound = mean_ci(sparse, FRAME, method="hoeffding", alpha=0.025)
    bank = mean_ci(a_control(), SUPERPOPULATION, method="wald_fpc", alpha=0.025)

    interval = sensitivity_interval(sparse, FRAME, a_control(), rho=0)

    assert guardrail(sparse, FRAME).fired
    assert interval.low == pytest.approx(bound.low - bank.high, abs=1e-15)


def test_betting_component_reads_the_control_bank_by_betting_too() -> None:
    """A distribution-free interval beside a normal approximation on 60 parents would be neither."""
    gaps, control = a_bank(), a_control()

    default = sensitivity_interval(gaps, FRAME, control, rho=0, component="betting")

    assert default == sensitivity_interval(gaps, FRAME, control, rho=0, component="betting", control="betting")
    assert "control betting" in default.method


@pytest.mark.parametrize("combine", ["union", "independent"])
@pytest.mark.parametrize("component", ["primary", "wald", "betting"])
def test_mirrored_data_mirror_the_interval(component: str, combine: str) -> None:
    """Original and fresh forms exchanged must change the sign and nothing else."""
    gaps, control = a_bank(), a_control(ones=6, minus_ones=2)

    forth = sensitivity_interval(gaps, FRAME, control, rho=0.02, component=component, combine=combine)
    back = sensitivity_interval(
        gaps.mirrored(), FRAME, control.mirrored(), rho=0.02, component=component, combine=combine
    )

    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low), abs=1e-12)


@given(rho=st.floats(0, 1), more=st.floats(0, 1))
def test_radius_widens_both_sides_by_itself(rho: float, more: float) -> None:
    """The radius is an assumption about bias, so it adds to the width and never multiplies it."""
    narrow = sensitivity_interval(a_bank(), FRAME, a_control(), rho=rho, component="wald")
    wide = sensitivity_interval(a_bank(), FRAME, a_control(), rho=rho + more, component="wald")

    assert wide.low == pytest.approx(narrow.low - more, abs=1e-12)
    assert wide.high == pytest.approx(narrow.high + more, abs=1e-12)


def test_curve_holds_the_interval_of_each_radius() -> None:
    """The grid is registered as a whole, and must agree with the headline that is quoted from it."""
    curve = sensitivity_curve(a_bank(), FRAME, a_control())

    assert curve.rhos == RHO_GRID
    for rho, interval in zip(curve.rhos, curve.intervals, strict=True):
        assert interval == sensitivity_interval(a_bank(), FRAME, a_control(), rho=rho)
    assert json.loads(json.dumps(curve.to_dict()))["curve"][2]["rho"] == 0.02
    assert str(curve).startswith("exposure-related part in points, rho 0: ")
    assert curve.method == "sensitivity(wald_fpc, control wald_fpc, union)"


def test_full_audit_leaves_only_control_and_radius() -> None:
    """A census of the benchmark has no sampling error; what is left is what the control bank and the radius bring."""
    gaps, control = a_bank(), a_control()
    bank = mean_ci(control, SUPERPOPULATION, method="wald_fpc", alpha=0.025)

    interval = sensitivity_interval(gaps, FinitePopulationDesign(200), control, rho=0.05)

    assert interval.half_width == pytest.approx(bank.half_width + 0.05, abs=1e-15)
    assert interval.state is IntervalState.ESTIMATED


@pytest.mark.parametrize("combine", ["union", "independent"])
def test_control_bank_without_variation_supports_no_exclusion(combine: str) -> None:
    """Forty zero gaps under Wald are the `fixed` reading in disguise: a zero width that nobody measured."""
    flat = Gaps.of([0.0] * 40, denominator=2)
    strong = a_bank(ones=120, minus_ones=0, halves=0, zeros=80)

    interval = sensitivity_interval(strong, FRAME, flat, rho=0, component="wald", combine=combine)

    assert interval.state is IntervalState.CONSTANT
    assert not interval.excludes(0)
    assert breakdown_radius(strong, FRAME, flat, component="wald", combine=combine).radius == 0
    assert sensitivity_interval(strong, FRAME, flat, rho=0, control="betting").excludes(0)


@pytest.mark.parametrize("sign", [1, -1])
def test_breakdown_radius_is_where_zero_comes_in(sign: int) -> None:
    """The radius says how wrong the transport assumption may be; just beyond it the exclusion must be gone."""
    gaps = a_bank(ones=120, minus_ones=0, halves=0, zeros=80)
    control = a_control()
    if sign < 0:
        gaps, control = gaps.mirrored(), control.mirrored()

    found = breakdown_radius(gaps, FRAME, control)

    assert found.radius > 0.1
    assert sensitivity_interval(gaps, FRAME, control, rho=found.radius - 1e-9).excludes(0)
    assert not sensitivity_interval(gaps, FRAME, control, rho=found.radius + 1e-9).excludes(0)
    assert ("above" if sign > 0 else "below") in str(found)
    assert found.to_dict()["radius"] == found.radius


def test_breakdown_radius_is_zero_where_nothing_is_excluded() -> None:
    """A null result has no radius at which it breaks down."""
    found = breakdown_radius(a_bank(), FRAME, a_control())

    assert found.radius == 0
    assert "cannot be told from zero" in str(found)


def test_fixed_reading_alone_excludes_zero_and_the_readings_disagree() -> None:
    """The paper's one spurious exclusion: a small bank's noise taken for the truth becomes a contamination claim."""
    gaps = a_bank(ones=2, minus_ones=2, halves=4, zeros=192)
    control = Gaps.of([-1.0] * 3 + [1.0] + [0.5] + [-0.5] * 4 + [0.0] * 31, denominator=2)

    readings = control_readings(gaps, FRAME, control, component="wald")

    assert {name: one.excludes(0) for name, one in readings.intervals.items()} == {
        "wald": False,
        "guardrail": False,
        "fixed": True,
    }
    assert not readings.agree
    assert "disagree" in str(readings)
    assert json.loads(json.dumps(readings.to_dict()))["agree"] is False


def test_control_bank_size_is_the_smallest_that_is_precise_enough() -> None:
    """One parent fewer must miss the target, or the bank costs more writing than it has to."""
    pilot = a_control()
    size = control_bank_size_for(0.05, pilot=pilot)
    deviation = math.sqrt(pilot.variance or 0)

    assert size.parent_count == math.ceil((1.959963984540054 * deviation / 0.05) ** 2)
    assert size.half_width <= 0.05
    assert not size.is_set_by_audit


def test_control_bank_is_never_smaller_than_the_audit() -> None:
    """The paper's design rule: a small bank sets the width of every sensitivity interval."""
    size = control_bank_size_for(0.2, pilot=a_control(), audit_parents=200)

    assert size.parent_count == 200
    assert size.is_set_by_audit
    assert str(size).startswith("200 control parents for the size of the audit")
    assert json.dumps(size.to_dict())


def test_two_hundred_control_parents_bring_the_control_to_the_audits_half_width() -> None:
    """Section 7.4's advice, as a number: the same variability needs the same number of parents."""
    gaps = a_bank()
    audit = mean_ci(gaps, SUPERPOPULATION, method="wald_fpc")

    assert control_bank_size_for(audit.half_width, pilot=gaps).parent_count == 200


def test_hoeffding_control_bank_is_as_large_as_its_formula_says() -> None:
    """A distribution-free control at the audit's width takes an order of magnitude more writing."""
    size = control_bank_size_for(0.05, pilot=a_control(), method="hoeffding")

    assert size.parent_count == math.ceil(2 * math.log(2 / 0.05) / 0.05**2)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"rho": -0.01}, ParameterError),
        ({"rho": math.nan}, ParameterError),
        ({"rho": math.inf}, ParameterError),
        ({"rho": 0.02, "alpha": 1.0}, ParameterError),
        ({"rho": 0.02, "component": "hoeffding"}, UnsupportedMethodError),
        ({"rho": 0.02, "combine": "product"}, UnsupportedMethodError),
        ({"rho": 0.02, "control": "known"}, UnsupportedMethodError),
        ({"rho": 0.02, "bound": "student"}, UnsupportedMethodError),
    ],
)
def test_unusable_settings_are_refused(arguments: dict[str, object], error: type[Exception]) -> None:
    """A radius of NaN would pass every comparison and print an interval."""
    with pytest.raises(error):
        sensitivity_interval(a_bank(), FRAME, a_control(), **arguments)  # type: ignore[arg-type]


def test_unusable_plans_are_refused() -> None:
    """A pilot without variation says nothing about the variation of a larger bank."""
    with pytest.raises(NoInformationError):
        control_bank_size_for(0.05, pilot=[0.0] * 40)
    with pytest.raises(ParameterError):
        control_bank_size_for(0.0, pilot=a_control())
    with pytest.raises(ParameterError):
        control_bank_size_for(1e-5, pilot=a_control())
    with pytest.raises(ParameterError):
        sensitivity_curve(a_bank(), FRAME, a_control(), rhos=())


def test_degenerate_intervals_are_never_printed_as_bounds() -> None:
    """Forty zeros know nothing; printed with two numbers and "agree about zero", they read as a strong null."""
    strong, flat = a_bank(ones=120, minus_ones=0, halves=0, zeros=80), Gaps.of([0.0] * 40, denominator=2)

    curve = sensitivity_curve(strong, FRAME, flat, rhos=(0.0, 0.02))
    readings = control_readings(strong, FRAME, flat)
    radius = breakdown_radius(strong, FRAME, flat)

    reason = "no interval: no variation between observations"
    assert str(curve) == f"exposure-related part in points, rho 0: {reason}; rho 0.02: {reason}"
    assert readings.agree is None
    assert f"wald {reason}" in str(readings)
    assert "cannot be compared" in str(readings)
    assert readings.to_dict()["agree"] is None
    assert str(radius) == f"the exposure-related part has no breakdown radius ({reason})"


def test_full_audit_beside_a_fixed_control_is_an_assumption_and_no_precision() -> None:
    """A control of 60 parents taken for the truth leaves nothing that could err, which nobody measured."""
    frame = FinitePopulationDesign(200)

    point = sensitivity_interval(a_bank(), frame, a_control(), rho=0, control="fixed")
    with_radius = sensitivity_interval(a_bank(), frame, a_control(), rho=0.02, control="fixed")

    assert point.low == point.high
    assert point.state is IntervalState.ASSUMED
    assert point.standard_error is None
    assert not point.excludes(0)
    assert with_radius.state is IntervalState.ESTIMATED
    assert with_radius.half_width == pytest.approx(0.02, abs=1e-15)
