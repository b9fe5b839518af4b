"""What an audit can see: minimum detectable effect, planned size, planted detection rate."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from leakscale.stats import (
    DesignError,
    FinitePopulationDesign,
    Gaps,
    NoInformationError,
    ParameterError,
    SeedRequiredError,
    UnsupportedMethodError,
    approximate_power,
    detection_rate,
    mean_ci,
    minimum_detectable_effect,
    size_for,
)
from leakscale.stats.planning.detection import planted_samples

FRAME = FinitePopulationDesign(1319)
SHARES = (0.24, 0.15, 0.08)
"""Shares of nonzero gaps in the papers' banks: GSM8K, ARC, and a model near its ceiling."""


def a_pilot(*, nonzero: float = 0.24, parents: int = 1200) -> Gaps:
    """Build the gaps of a model that has seen nothing: forms are exchangeable, so the mean gap is 0."""
    unit = round(nonzero * parents / 6)
    values = [1.0, -1.0, 0.5, 0.5, -0.5, -0.5] * unit
    return Gaps.of(values + [0.0] * (parents - len(values)), denominator=2)


def test_effect_with_power_one_half_is_the_half_width() -> None:
    """That is what the paper calls minimum detectable, and what half of all audits miss."""
    gaps = a_pilot(parents=300)

    effect = minimum_detectable_effect(gaps, FRAME)

    assert effect.effect == mean_ci(gaps, FRAME, method="wald_fpc").half_width
    assert effect.primary == "wald_fpc"


def test_effect_with_power_eighty_adds_the_normal_margin() -> None:
    """The usual planning figure is larger by 0.84 standard errors, and must not be confused with the paper's."""
    gaps = a_pilot(parents=300)
    wald = mean_ci(gaps, FRAME, method="wald_fpc")

    effect = minimum_detectable_effect(gaps, FRAME, power=0.8)

    assert wald.standard_error is not None
    assert effect.effect == pytest.approx(wald.half_width + 0.8416212335729143 * wald.standard_error, abs=1e-12)
    assert "declared with probability 0.8" in str(effect)
    assert json.loads(json.dumps(effect.to_dict()))["power"] == 0.8


def test_guardrail_sets_the_effect_of_a_small_audit() -> None:
    """Below 200 parents the registered bound leaves nothing plausible to detect; betting leaves ten points."""
    gaps = a_pilot(parents=96)

    registered = minimum_detectable_effect(gaps, FRAME).effect
    betting = minimum_detectable_effect(gaps.take(np.random.default_rng(1).permutation(96)), FRAME, bound="betting")

    assert registered > 0.27
    assert betting.effect < 0.14


def test_full_audit_detects_everything() -> None:
    """Nothing is left to sample, so any advantage is seen."""
    assert minimum_detectable_effect(a_pilot(), FinitePopulationDesign(1200), power=0.8).effect == 0


def test_constant_gaps_have_a_half_width_and_no_power() -> None:
    """No variation says nothing about how far a mean strays."""
    flat = [0.0] * 50

    assert minimum_detectable_effect(flat, FRAME).effect == mean_ci(flat, FRAME, method="hoeffding").half_width
    with pytest.raises(NoInformationError):
        minimum_detectable_effect(flat, FRAME, power=0.8)


@pytest.mark.parametrize(("n", "advantage"), [(100, 0.20), (200, 0.05), (200, 0.10), (400, 0.05), (800, 0.02)])
@pytest.mark.parametrize("share", SHARES)
def test_formula_agrees_with_the_simulation(n: int, advantage: float, share: float) -> None:
    """A planning formula that the planted audits do not confirm would plan audits that see nothing."""
    formula = approximate_power(a_pilot(nonzero=share), FRAME, n=n, advantage=advantage)

    simulated = detection_rate(a_pilot(nonzero=share), FRAME, n=n, advantage=advantage, seed=4)

    assert formula == pytest.approx(simulated.rate, abs=0.05)


def test_planned_size_is_the_smallest_with_the_power() -> None:
    """One parent fewer must fall short."""
    size = size_for(a_pilot(), FRAME, advantage=0.05)

    assert approximate_power(a_pilot(), FRAME, n=size.parent_count, advantage=0.05) == size.power >= 0.8
    assert approximate_power(a_pilot(), FRAME, n=size.parent_count - 1, advantage=0.05) < 0.8
    assert size.primary == "wald_fpc"
    assert str(size).startswith(f"{size.parent_count} parents declare 5 points")
    assert json.dumps(size.to_dict())


def test_registered_guardrail_makes_two_hundred_parents_the_least_useful_audit() -> None:
    """Twenty points need only some sixty parents under Wald, but the guardrail waits until 200."""
    assert size_for(a_pilot(), FRAME, advantage=0.20).parent_count >= 150
    assert size_for(a_pilot(), FRAME, advantage=0.20, min_parents=2, min_nonzero=0).parent_count < 80


def test_superpopulation_needs_more_parents_than_a_frame() -> None:
    """Without a finite population there is nothing to correct for."""
    frame = size_for(a_pilot(), FRAME, advantage=0.03).parent_count

    assert size_for(a_pilot(), FinitePopulationDesign(None), advantage=0.03).parent_count > frame


@pytest.mark.parametrize("share", SHARES)
def test_planting_moves_the_mean_by_the_advantage(share: float) -> None:
    """An advantage of ten points must be ten points, whatever the share of zero gaps it is planted into."""
    pilot = a_pilot(nonzero=share)
    audits = planted_samples(pilot, FRAME, n=100, advantage=0.10, replicates=4000, rng=np.random.default_rng(3))

    assert audits.mean() / 2 == pytest.approx(0.10, abs=0.003)
    assert set(np.unique(audits).tolist()) == {-2, -1, 0, 1, 2}


@pytest.mark.parametrize("share", SHARES)
def test_planting_touches_zero_gaps_only(share: float) -> None:
    """Exposure to the public form turns no-gap parents into public-only ones; it does not repair the others."""
    pilot = a_pilot(nonzero=share)
    whole = planted_samples(
        pilot, FinitePopulationDesign(1200), n=1200, advantage=0.2, replicates=2, rng=np.random.default_rng(3)
    )

    before = dict(zip(*np.unique(pilot.numerators, return_counts=True), strict=True))
    after = dict(zip(*np.unique(whole[0], return_counts=True), strict=True))
    assert {value: after[value] - before[value] for value in before} == {-2: 0, -1: 0, 0: -240, 1: 0, 2: 240}
    assert sorted(whole[0]) == sorted(whole[1])
    assert whole[0].tolist() != whole[1].tolist()


def test_audits_stray_as_samples_without_replacement_do() -> None:
    """An audit of most of a benchmark strays little; one drawn with replacement would stray as far as ever."""
    pilot = a_pilot()
    means = [
        planted_samples(pilot, design, n=900, advantage=0.0, replicates=4000, rng=np.random.default_rng(3)).mean(axis=1)
        for design in (FinitePopulationDesign(1200), FinitePopulationDesign(None))
    ]
    within, without = (float(np.var(one)) for one in means)

    assert within / without == pytest.approx((1200 - 900) / 1199, rel=0.1)


@pytest.mark.parametrize(("share", "least"), [(0.24, 0.42), (0.15, 0.55), (0.08, 0.67)])
def test_betting_on_the_guardrail_branch_sees_ten_points_in_a_hundred_parents(share: float, least: float) -> None:
    """The registered rule sees nothing at this size; that is the price of Hoeffding and not of validity."""
    settings = {"n": 100, "advantage": 0.10, "replicates": 8_000, "seed": 6}

    registered = detection_rate(a_pilot(nonzero=share), FRAME, **settings)  # type: ignore[arg-type]
    betting = detection_rate(a_pilot(nonzero=share), FRAME, bound="betting", **settings)  # type: ignore[arg-type]

    assert registered.rate < 0.001
    assert betting.rate >= least - betting.standard_error


def test_rate_without_an_advantage_is_a_quarter_of_the_level_or_less() -> None:
    """Half of alpha lies above, and the bound is conservative."""
    rate = detection_rate(a_pilot(), FRAME, n=100, advantage=0.0, bound="betting", replicates=4000, seed=2).rate

    assert rate <= 0.0125


def test_rate_is_the_same_for_the_same_seed() -> None:
    """A simulated rate is cited with its seed."""
    settings = {"n": 50, "advantage": 0.1, "replicates": 300, "rule": "wald_fpc"}
    first = detection_rate(a_pilot(), FRAME, seed=5, **settings)  # type: ignore[arg-type]

    assert detection_rate(a_pilot(), FRAME, seed=np.random.Generator(np.random.PCG64(5)), **settings) == first  # type: ignore[arg-type]


def test_rate_is_read_as_a_share_with_its_simulation_error() -> None:
    """No simulated share is without error, not even 0 of 2,000."""
    rate = detection_rate(a_pilot(), FRAME, n=100, advantage=0.05, seed=1)

    assert rate.detected == 0
    assert 0 < rate.standard_error < 0.001
    assert str(rate) == "5 points are detected in 0.0 % of audits of 100 parents (guardrail(hoeffding, 200, 30))"
    assert json.dumps(rate.to_dict())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"seed": None}, SeedRequiredError),
        ({"rule": "student"}, UnsupportedMethodError),
        ({"advantage": 0.8}, ParameterError),
        ({"advantage": -0.1}, ParameterError),
        ({"advantage": math.nan}, ParameterError),
        ({"n": 0}, ParameterError),
        ({"n": 2000}, DesignError),
        ({"replicates": 0}, ParameterError),
    ],
)
def test_unusable_simulations_are_refused(arguments: dict[str, object], error: type[Exception]) -> None:
    """An advantage that does not fit into the bank would be planted smaller than it is called."""
    settings: dict[str, object] = {"n": 100, "advantage": 0.05, "seed": 1, **arguments}
    with pytest.raises(error):
        detection_rate(a_pilot(), FRAME, **settings)  # type: ignore[arg-type]


def test_unusable_plans_are_refused() -> None:
    """Each would print a number of parents that means nothing."""
    with pytest.raises(ParameterError):
        minimum_detectable_effect(a_pilot(), FRAME, power=1.0)
    with pytest.raises(ParameterError):
        size_for(a_pilot(), FRAME, advantage=0.0)
    with pytest.raises(ParameterError):
        size_for(a_pilot(), FRAME, advantage=0.05, power=0.3)
    with pytest.raises(ParameterError):
        size_for(a_pilot(), FinitePopulationDesign(None), advantage=1e-5)
    with pytest.raises(NoInformationError):
        approximate_power([0.0] * 50, FRAME, n=100, advantage=0.0)
    with pytest.raises(UnsupportedMethodError):
        approximate_power(a_pilot(), FRAME, n=100, advantage=0.05, bound="betting")


def test_the_guarded_interval_is_no_bound_for_itself() -> None:
    """With Wald as its own replacement, twenty equal gaps declared an effect of 0.0 points."""
    flat = Gaps.of([0.0] * 20, denominator=2)

    with pytest.raises(UnsupportedMethodError, match="takes the place of"):
        minimum_detectable_effect(flat, FRAME, bound="wald_fpc")
    with pytest.raises(UnsupportedMethodError, match="takes the place of"):
        size_for(a_pilot(), FRAME, advantage=0.1, bound="wald_fpc")
    with pytest.raises(UnsupportedMethodError, match="takes the place of"):
        detection_rate(a_pilot(), FRAME, n=100, advantage=0.1, bound="wald_fpc", seed=1)


def test_power_below_one_half_is_refused() -> None:
    """The formula went below zero there: an effect of -1.2 points that an audit declares as an advantage."""
    with pytest.raises(ParameterError, match=r"from 0\.5"):
        minimum_detectable_effect(a_pilot(parents=300), FRAME, power=0.01)
