"""How an interval is read, by a person and by a program."""

from __future__ import annotations

import json
import math

import pytest

from leakscale.stats import Interval, IntervalState, IntervalUnit

KNOWING = {IntervalState.ESTIMATED, IntervalState.CENSUS, IntervalState.UNBOUNDED}


def an_interval(
    *,
    low: float = 0.01,
    high: float = 0.05,
    state: IntervalState = IntervalState.ESTIMATED,
    unit: IntervalUnit = IntervalUnit.SHARE,
) -> Interval:
    return Interval(0.03, low, high, 0.01, "wald_fpc", 0.05, state, unit)


def test_shares_are_printed_as_points_and_ratios_as_numbers() -> None:
    """An odds ratio of 1.2 is not 120 points."""
    assert str(an_interval()) == "+3.00 points (95 % interval +1.00 to +5.00; wald_fpc)"
    assert str(an_interval(unit=IntervalUnit.RATIO)) == "0.03 (95 % interval 0.01 to 0.05; wald_fpc)"


@pytest.mark.parametrize("state", IntervalState)
def test_only_knowledge_can_exclude_a_value(state: IntervalState) -> None:
    """Bounds that come from a lack of variation would exclude zero for one lucky parent."""
    interval = an_interval(state=state)

    assert interval.excludes(0.0) == (state in KNOWING)
    assert interval.is_degenerate == (state not in KNOWING)
    assert not interval.excludes(0.03)


@pytest.mark.parametrize("state", sorted(set(IntervalState) - KNOWING))
def test_degenerate_interval_prints_no_bounds(state: IntervalState) -> None:
    """A printed bound is a quoted bound."""
    text = str(an_interval(state=state))

    assert "no interval: " in text
    assert "+1.00" not in text


def test_unbounded_interval_goes_into_json() -> None:
    """JSON has no infinity; Python would write a token that other readers refuse."""
    interval = an_interval(high=math.inf, state=IntervalState.UNBOUNDED, unit=IntervalUnit.RATIO)

    content = json.loads(json.dumps(interval.to_dict(), allow_nan=False))

    assert (content["high"], content["half_width"], content["state"]) == ("inf", "inf", "unbounded")
    assert float(content["high"]) == math.inf
    assert "0.01 to inf" in str(interval)
