"""Manipulation check and negative control."""

from __future__ import annotations

import json

import numpy as np
import pytest

from leakscale.stats import (
    DidResult,
    EmptyCellError,
    Outcomes,
    ParameterError,
    difference_in_differences,
    manipulation_check,
    negative_control_run,
)


def an_effect(points: int, *, parents: int = 200) -> DidResult:
    """Build an effect of exactly `points` points on parents of which some rise and some fall."""
    c0 = Outcomes([0, 1] * (parents // 2), [1, 0] + [0, 1] * (parents // 2 - 1), 1)
    gained = points * parents // 100
    base = np.array([0] * (parents // 2) + [1] * (parents // 2))
    adapted = base.copy()
    adapted[: abs(gained) + 2] = 1
    adapted[-2:] = 0
    arms = (base, adapted) if points >= 0 else (adapted, base)
    return difference_in_differences(c0, Outcomes(*arms, 1), method="exact")


@pytest.mark.parametrize(("points", "passed"), [(49, True), (5, True), (4, False), (-22, False)])
def test_manipulation_is_judged_by_its_estimate_against_the_floor(points: int, passed: bool) -> None:
    """At the floor it passes; below, the study stops."""
    check = manipulation_check(an_effect(points))

    assert check.public.effect.estimate == pytest.approx(points / 100)
    assert check.is_passed is passed
    assert ("no transfer can be claimed" in str(check)) is not passed
    assert json.loads(json.dumps(check.to_dict(), allow_nan=False))["is_passed"] is passed


def test_passing_by_the_estimate_is_told_from_passing_by_the_interval() -> None:
    """Six points of noise reach the floor; a reader should see that they need not have been planted."""
    assert manipulation_check(an_effect(49)).is_clear
    assert not manipulation_check(an_effect(6)).is_clear


def test_empty_run_is_clean_within_the_threshold_and_around_zero() -> None:
    """Both rules: a small effect whose interval excludes zero is not clean, nor is a large one that does not."""
    small, large = an_effect(2), an_effect(7)
    steady = difference_in_differences(
        Outcomes([4] * 99 + [5], [4] * 100, 100), Outcomes([4] * 100, [6] * 99 + [7], 100), method="exact"
    )

    clean = negative_control_run({"public": small, "fresh": an_effect(-1)}, planted={"public": 0.49, "deep": 0.238})

    assert clean.is_clean
    assert clean.largest == pytest.approx(0.02)
    assert clean.resolution == max(small.effect.half_width, clean.effects["fresh"].effect.half_width)
    assert clean.planted_ratio == pytest.approx((11.9, 24.5))
    assert not negative_control_run({"public": large}).is_clean
    assert steady.effect.estimate < 0.05
    assert not negative_control_run({"public": steady}).is_clean
    assert "could have been missed" in str(clean)
    json.dumps(clean.to_dict(), allow_nan=False)


def test_run_without_variation_claims_no_resolution() -> None:
    """A width of zero from parents that all stood still is no precision."""
    still = Outcomes([0, 1], [0, 1], 1)

    control = negative_control_run({"public": difference_in_differences(still, still, method="exact")})

    assert control.resolution is None
    assert control.planted_ratio is None
    assert "what it could have missed is unknown" in str(control)


def test_rules_that_mean_nothing_are_refused() -> None:
    """A floor of zero would call nothing planted, a threshold of zero nothing clean."""
    with pytest.raises(ParameterError, match="above 0"):
        manipulation_check(an_effect(5), floor=0)
    with pytest.raises(ParameterError, match="above 0"):
        negative_control_run({"public": an_effect(5)}, threshold=0)
    with pytest.raises(EmptyCellError, match="at least one form type"):
        negative_control_run({})
