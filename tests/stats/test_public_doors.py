"""What every public function does with numbers it was not written for: numpy's scalars, and numbers that are none.

A result that holds a numpy scalar cannot be written as JSON, a seed that is lost cannot be repeated, and a NaN that is
compared passes every range check.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from leakscale.stats import (
    DidResult,
    FinitePopulationDesign,
    Gaps,
    Outcomes,
    StatisticsError,
    approximate_power,
    assumption_gate,
    borrowed_counterfactual,
    breakdown_radius,
    budget_curve,
    claim_rule,
    comparable_depth,
    compare_detection,
    conditional_odds_ratio,
    control_bank_size_for,
    control_readings,
    cooccurrence_test,
    crossed_contrast,
    crossed_summary,
    detection_rate,
    difference_in_differences,
    false_rejection_rate,
    fieller,
    find_near_copies,
    gamma_sensitivity,
    gate_resolution,
    gate_size,
    manipulation_check,
    marginals,
    minimum_detectable_effect,
    negative_control_run,
    pacost_test,
    paired_gap,
    pooled_depth_correlation,
    pooled_effects,
    seed_contrast,
    seed_replication,
    sensitivity_curve,
    sensitivity_interval,
    size_for,
    transfer_share,
    visible_gap,
)

from .exposure_cases import an_outcomes, labels_in_turn

Door = Callable[..., Any]
FRAME = FinitePopulationDesign(1319)
GAPS = Gaps.of([1.0, -1.0, 0.5, 0.0, 0.0] * 50, denominator=2)
CONTROL = Gaps.of([1.0, -1.0, 0.0, 0.0, 0.0] * 12, denominator=2)
CORRECT = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]] * 4)
C0, C2 = an_outcomes(families=20, seed=1), an_outcomes(families=20, lift=0.3, seed=2)
LABELS = labels_in_turn(C0, C2, 2)


def an_effect(*, seed: int = 0, **settings: Any) -> DidResult:
    """Build an effect on twenty families in each condition."""
    c0, c2 = an_outcomes(families=20, seed=seed), an_outcomes(families=20, lift=0.3, seed=seed + 50)
    return difference_in_differences(c0, c2, **{"method": "exact", **settings})


def cells() -> dict[Any, tuple[Outcomes, Outcomes]]:
    return {(np.int64(model), "sql"): (an_outcomes(seed=model), an_outcomes(lift=0.2, seed=9)) for model in (1, 2)}


SEEDED: dict[str, Door] = {
    "difference_in_differences": lambda **settings: difference_in_differences(C0, C2, **settings),
    "crossed_summary": lambda **settings: crossed_summary(cells(), **settings),
    "marginals": lambda **settings: marginals(C0, C2, LABELS, **settings),
    "visible_gap": lambda **settings: visible_gap(an_effect(), an_effect(seed=1), **settings),
    "transfer_share": lambda **settings: transfer_share(
        an_effect(), an_effect(seed=1), method="percentile", **settings
    ),
    "pooled_effects": lambda **settings: pooled_effects(
        {"a": {"public": an_effect(), "fresh": an_effect(seed=1)}}, **settings
    ),
    "assumption_gate": lambda **settings: assumption_gate(C0, C2, **settings),
}
"""Every door that draws and records its seed."""


@pytest.mark.parametrize("name", SEEDED)
def test_numpy_settings_are_recorded_as_plain_numbers(name: str) -> None:
    """A seed that came out of an array was printed as None, and the rest could not be written as JSON."""
    found = SEEDED[name](seed=np.int64(5), n_resamples=np.int64(50), alpha=np.float32(0.125))
    plain = SEEDED[name](seed=5, n_resamples=50, alpha=0.125)

    assert found.seed == 5
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == json.loads(json.dumps(plain.to_dict()))


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("seed", [True, -1, 1.5, "a", math.nan, [1, 2], np.random.RandomState(1)])
def test_seeds_that_cannot_be_recorded_are_refused(name: str, seed: Any) -> None:
    """Nobody repeats a run whose seed is not in the record."""
    with pytest.raises(StatisticsError, match="pass a whole number from 0"):
        SEEDED[name](seed=seed, n_resamples=50)


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": math.nan},
        {"alpha": None},
        {"alpha": "0.05"},
        {"alpha": 1e-300},
        {"alpha": True},
        {"n_resamples": 50.0},
        {"n_resamples": math.nan},
        {"n_resamples": None},
        {"n_resamples": 1},
    ],
)
def test_settings_that_are_no_numbers_are_refused(name: str, settings: dict[str, Any]) -> None:
    """Each of them passed a comparison, or ended in an error of numpy that names nothing."""
    with pytest.raises(StatisticsError, match=next(iter(settings))):
        SEEDED[name](seed=1, **settings)


RULES: dict[str, Door] = {
    "floor": lambda value: manipulation_check(an_effect(), floor=value),
    "threshold": lambda value: negative_control_run({"public": an_effect()}, threshold=value),
    "planted": lambda value: negative_control_run({"public": an_effect()}, planted={"public": value}),
    "share_floor": lambda value: transfer_share(an_effect(), an_effect(seed=1), floor=value),
    "share_ceiling": lambda value: transfer_share(an_effect(), an_effect(seed=1), ceiling=value),
    "share_levels": lambda value: transfer_share(
        an_effect(), an_effect(seed=1), method="percentile", seed=1, n_resamples=50, levels=[value]
    ),
    "gate_tolerance": lambda value: assumption_gate(C0, C2, tolerance=value, method="exact"),
    "borrowed_tolerance": lambda value: borrowed_counterfactual(C2, C0, None, tolerance=value),
    "replication_tolerance": lambda value: seed_replication(
        {"s0": {"public": 0.4}, "s1": {"public": 0.3}}, registered_seed="s0", tolerance=value
    ),
    "replication_effect": lambda value: seed_replication(
        {"s0": {"public": 0.4}, "s1": {"public": value}}, registered_seed="s0"
    ),
    "advantage": lambda value: seed_contrast({"1": 0.4, "2": value}, {"1": 0.3, "2": 0.1}),
    "weight": lambda value: crossed_contrast(cells(), {(1, "sql"): value}, method="exact"),  # type: ignore[dict-item]
}
"""Every door that takes one number to hold a result against."""


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "0.05", 1j])
def test_rules_that_are_no_numbers_are_refused(name: str, value: Any) -> None:
    """A tolerance of infinity passes everything, and a floor of NaN nothing."""
    with pytest.raises(StatisticsError, match="finite number"):
        RULES[name](value)


@pytest.mark.parametrize("name", RULES)
def test_rules_out_of_an_array_are_written_as_json(name: str) -> None:
    """float32 is what a results file is read as; a numpy bool in the verdict breaks the whole record."""
    found = RULES[name](np.float32(0.125))

    assert json.dumps(found.to_dict(), allow_nan=False)


def test_weights_whose_squares_leave_the_doubles_are_refused() -> None:
    """A deviation of infinity is no error bar."""
    with pytest.raises(StatisticsError, match="weight"):
        RULES["weight"](1e300)


def test_levels_are_fractions_or_floats_alike() -> None:
    """An alpha split as a fraction among tests is a number like any other."""
    found = an_effect(alpha=Fraction(1, 8))

    assert json.loads(json.dumps(found.to_dict()))["alpha"] == 0.125


def test_names_out_of_an_array_are_written_as_text() -> None:
    """Seeds and models are often numbers in a table; JSON has text for names only."""
    contrast = seed_contrast({np.int64(7): 0.4, np.int64(8): 0.2}, {7: 0.1, 8: 0.1})  # type: ignore[dict-item]

    assert json.loads(json.dumps(contrast.to_dict()))["by_seed"].keys() == {"7", "8"}
    assert json.loads(json.dumps(crossed_summary(cells(), method="exact").to_dict()))["model_means"].keys() == {
        "1",
        "2",
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"numerator": math.nan},
        {"denominator": math.inf},
        {"numerator_variance": -1e-9},
        {"denominator_variance": -1.0},
        {"covariance": math.nan},
        {"numerator": 1e200},
        {"alpha": 0.0},
        {"alpha": 1e-17},
    ],
)
def test_fieller_refuses_what_is_no_estimate(settings: dict[str, float]) -> None:
    """A variance below zero, or a level finer than doubles tell, gave a set all the same: `nan or less`."""
    arguments = {
        "numerator": 0.1,
        "denominator": 0.4,
        "numerator_variance": 0.01,
        "denominator_variance": 0.01,
        "covariance": 0.0,
        "alpha": 0.05,
    }

    with pytest.raises(StatisticsError, match=next(iter(settings))):
        fieller(**{**arguments, **settings})


@pytest.mark.parametrize(
    ("parents", "deviation", "alpha"), [(10, 0.0, 1e-17), (math.nan, 0.5, 0.05), (10, 2.5, 0.05), (2.5, 0.5, 0.05)]
)
def test_gate_refuses_what_cannot_be_planned(parents: Any, deviation: float, alpha: float) -> None:
    """A resolution of NaN exceeds no tolerance."""
    with pytest.raises(StatisticsError):
        gate_resolution(parents, deviation, alpha=alpha)


def test_gate_that_no_bank_can_fill_is_refused() -> None:
    """The number of parents overflowed before anybody could be told that it was absurd."""
    with pytest.raises(StatisticsError, match="widen it"):
        gate_size(0.5, tolerance=1e-300)


AUDITS: dict[str, Door] = {
    "sensitivity_interval": lambda **settings: sensitivity_interval(GAPS, FRAME, CONTROL, **{"rho": 0.0, **settings}),
    "sensitivity_curve": lambda **settings: sensitivity_curve(GAPS, FRAME, CONTROL, **settings),
    "breakdown_radius": lambda **settings: breakdown_radius(GAPS, FRAME, CONTROL, **settings),
    "control_readings": lambda **settings: control_readings(GAPS, FRAME, CONTROL, **settings),
    "claim_rule": lambda **settings: claim_rule(GAPS, FRAME, CONTROL, **settings),
    "control_bank_size_for": lambda **settings: control_bank_size_for(
        **{"half_width": 0.1, "pilot": CONTROL, **settings}
    ),
    "minimum_detectable_effect": lambda **settings: minimum_detectable_effect(GAPS, FRAME, **settings),
    "size_for": lambda **settings: size_for(GAPS, FRAME, **{"advantage": 0.1, **settings}),
    "approximate_power": lambda **settings: approximate_power(GAPS, FRAME, **{"advantage": 0.1, "n": 200, **settings}),
    "detection_rate": lambda **settings: detection_rate(
        GAPS, FRAME, **{"advantage": 0.1, "n": 50, "replicates": 20, "seed": 1, **settings}
    ),
    "compare_detection": lambda **settings: compare_detection(
        np.concatenate([CORRECT, np.ones_like(CORRECT)]),
        FRAME,
        **{"advantage": 0.1, "n": 50, "replicates": 20, "seed": 1, **settings},
    ),
    "false_rejection_rate": lambda **settings: false_rejection_rate(
        CORRECT, **{"penalty": 0.1, "n": 50, "replicates": 20, "seed": 1, **settings}
    ),
    "budget_curve": lambda **settings: budget_curve(
        models(), **{"budgets": (5, 10), "replicates": 20, "seed": 1, **settings}
    ),
    "conditional_odds_ratio": lambda **settings: conditional_odds_ratio(CORRECT, **settings),
    "gamma_sensitivity": lambda **settings: gamma_sensitivity(CORRECT, **settings),
}
"""Every door of audits and relabelling that takes numbers besides its data."""
SIMULATED = ("detection_rate", "compare_detection")


def models() -> dict[Any, Gaps]:
    """Build two models with scores on the same twenty parents; the names come out of an array."""
    better = np.where(CORRECT.sum(axis=1, keepdims=True) > 1, 1, CORRECT)
    return {np.int64(k): paired_gap(one[:, 0], one[:, 1:]) for k, one in enumerate((CORRECT, better))}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("sensitivity_interval", {"rho": 0.125, "alpha": 0.125}),
        ("sensitivity_curve", {"alpha": 0.125}),
        ("breakdown_radius", {"alpha": 0.125}),
        ("control_readings", {"rho": 0.125, "alpha": 0.125}),
        ("claim_rule", {"rho": 0.125, "alpha": 0.125}),
        ("control_bank_size_for", {"half_width": 0.125, "alpha": 0.125, "audit_parents": 70}),
        ("minimum_detectable_effect", {"power": 0.75, "alpha": 0.125}),
        ("size_for", {"power": 0.75, "alpha": 0.125, "advantage": 0.125, "min_parents": 100, "min_nonzero": 20}),
        ("detection_rate", {"advantage": 0.125, "n": 60, "replicates": 30, "seed": 4, "min_parents": 50}),
        ("compare_detection", {"advantage": 0.125, "n": 60, "replicates": 30, "seed": 4, "min_parents": 50}),
        ("false_rejection_rate", {"penalty": 0.125, "n": 60, "replicates": 30, "seed": 4, "alpha": 0.125}),
        ("budget_curve", {"replicates": 30, "seed": 4, "alpha": 0.125}),
        ("conditional_odds_ratio", {"alpha": 0.125}),
        ("gamma_sensitivity", {"alpha": 0.125}),
    ],
)
def test_numpy_settings_of_audits_are_plain_numbers(name: str, settings: dict[str, Any]) -> None:
    """Plans are computed over grids, and a grid is a numpy array."""
    ours = {key: np.float32(value) if isinstance(value, float) else np.int64(value) for key, value in settings.items()}

    found, plain = AUDITS[name](**ours), AUDITS[name](**settings)

    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == json.loads(json.dumps(plain.to_dict()))
    assert str(found) == str(plain)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        *((name, "alpha") for name in AUDITS),
        *((name, "rho") for name in ("sensitivity_interval", "control_readings", "claim_rule")),
        *((name, "power") for name in ("minimum_detectable_effect", "size_for")),
        *((name, "advantage") for name in ("size_for", "approximate_power", *SIMULATED)),
        *((name, "min_parents") for name in ("size_for", "approximate_power", *SIMULATED)),
        *((name, "min_nonzero") for name in ("size_for", "approximate_power", *SIMULATED)),
        *((name, "n") for name in ("approximate_power", "false_rejection_rate", *SIMULATED)),
        *((name, "replicates") for name in ("false_rejection_rate", "budget_curve", *SIMULATED)),
        *((name, "seed") for name in ("false_rejection_rate", "budget_curve", *SIMULATED)),
        ("false_rejection_rate", "penalty"),
        ("control_bank_size_for", "half_width"),
        ("control_bank_size_for", "audit_parents"),
    ],
)
@pytest.mark.parametrize("value", [math.nan, math.inf, "0.05", 1j, -1])
def test_settings_of_audits_that_are_no_numbers_are_refused(name: str, setting: str, value: Any) -> None:
    """Each of them passed a comparison, or ended in an error of numpy that names nothing."""
    with pytest.raises(StatisticsError, match=setting):
        AUDITS[name](**{setting: value})


def test_grids_may_be_arrays_or_generators() -> None:
    """`np.linspace` is how people write a grid; its truth value is an error and a generator has none."""
    grid = np.linspace(0, 0.1, 3)

    curve = sensitivity_curve(GAPS, FRAME, CONTROL, rhos=grid)
    again = sensitivity_curve(GAPS, FRAME, CONTROL, rhos=(rho for rho in grid))
    budgets = budget_curve(models(), budgets=np.array([5, 10]), replicates=20, seed=1)

    assert curve.rhos == (0.0, 0.05, 0.1)
    assert again == curve
    assert [point.budget for point in budgets.points] == [5, 10]
    assert json.dumps([curve.to_dict(), budgets.to_dict()], allow_nan=False)


def test_benchmarks_too_large_to_simulate_are_refused() -> None:
    """numpy draws without replacement from fewer than a billion, and says so in words that name no argument."""
    with pytest.raises(StatisticsError, match="cannot be simulated"):
        detection_rate(GAPS, FinitePopulationDesign(10**9), n=50, advantage=0.1, seed=1)


PANEL = np.stack([CORRECT, CORRECT[::-1]])


def test_numpy_settings_of_item_checks_are_plain_numbers() -> None:
    """A count out of an array, and a level that turns a verdict into numpy's own truth value."""
    share: Any = np.float32(0.75)
    draws: Any = np.int64(20)

    overlap = cooccurrence_test(PANEL, monte_carlo_draws=draws, seed=np.int64(3))
    copies = find_near_copies(["a b c", "d e f"], [["a b c"], ["x y z"]], threshold=share)
    is_flagged = pacost_test(CORRECT[:, 0], CORRECT[:, 1:]).is_flagged(alpha=share)

    assert json.dumps([overlap.to_dict(), copies.to_dict(), is_flagged], allow_nan=False)


@pytest.mark.parametrize("value", [math.nan, -1, 2.5, None, "9"])
def test_draw_counts_that_are_none_are_refused(value: Any) -> None:
    """Two and a half simulations are a mistake of the caller, who must hear of it."""
    with pytest.raises(StatisticsError, match="monte_carlo_draws"):
        cooccurrence_test(PANEL, monte_carlo_draws=value, seed=1)


@pytest.mark.parametrize(
    "values", [[["a", "b"], ["c", "d"]], [[0.5], [0.5, 0.5]], np.array([[1j, 0.5], [0.5, 0.5]]), [[None, {}], [0, 1]]]
)
@pytest.mark.parametrize(
    "door",
    [
        comparable_depth,
        lambda values: pacost_test([0.5, 0.5], values),
        lambda values: cooccurrence_test([values, values]),
        lambda values: pooled_depth_correlation(values, [[[0, 1, 1], [0, 1, 0]]]),
    ],
)
def test_tables_that_hold_no_numbers_are_refused(door: Door, values: Any) -> None:
    """Ragged rows and text ended in errors of numpy, and an imaginary part was dropped without a word."""
    with pytest.raises(StatisticsError):
        door(values)


def test_masked_confidences_are_missing_and_no_numbers() -> None:
    """What lies beneath a mask is often a filler such as 9999."""
    public = np.ma.masked_array([0.5, 0.75, 9999.0, 0.25], mask=[False, False, True, False])

    found = pacost_test(public, [0.25, 0.5, 0.5, 0.125])

    assert (found.pair_count, found.missing_pair_count) == (3, 1)
    assert found.mean_difference == pytest.approx((0.25 + 0.25 + 0.125) / 3)


@pytest.mark.parametrize("scale", [1e-310, 1e308])
def test_confidences_at_the_ends_of_the_doubles_are_refused(scale: float) -> None:
    """Their squares are 0 or infinite, and so was the t that was printed."""
    with pytest.raises(StatisticsError, match="another unit"):
        pacost_test([scale, -scale], [-scale, 1.5 * scale])


@pytest.mark.parametrize(
    ("originals", "fresh"),
    [(["a train left"], ["a train left"]), ("ab", [["a"], ["b"]]), ([None], [["a"]]), (["a"], [[1]])],
)
def test_forms_that_are_no_texts_in_a_list_are_refused(originals: Any, fresh: Any) -> None:
    """A text in the place of a list of one text is a list of its letters, twelve forms a parent."""
    with pytest.raises(StatisticsError, match="text"):
        find_near_copies(originals, fresh)


def test_overlap_that_cannot_happen_is_expected_zero_times() -> None:
    """Rounding left -1e-16, and the line said that -0.0 were expected."""
    panel = np.zeros((3, 7, 2))
    panel[0, :3, 0] = 1

    found = cooccurrence_test(panel)

    assert "-0.0" not in str(found)
    assert found.expected >= 0


def test_labels_out_of_a_table_are_labels() -> None:
    """A column of text in a data frame is an array of objects."""
    objects = np.array(LABELS[0], dtype=object), np.array(LABELS[1], dtype=object)

    assert marginals(C0, C2, objects, method="exact").groups.keys() == {"g00", "g01"}
    with pytest.raises(StatisticsError, match="masked"):
        marginals(C0, C2, (np.ma.masked_array([0] * 20, mask=[True] + [False] * 19), LABELS[1]), method="exact")
