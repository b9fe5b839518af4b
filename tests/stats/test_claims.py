"""The registered claim rule."""

from __future__ import annotations

import json

import numpy as np
import pytest

from leakscale.stats import ClaimVerdict, FinitePopulationDesign, Gaps, claim_rule

FRAME = FinitePopulationDesign(1319)


def a_sample(*, ones: int, minus_ones: int = 0, zeros: int) -> Gaps:
    """Build gaps in random order, as they are drawn."""
    values = np.array([1.0] * ones + [-1.0] * minus_ones + [0.0] * zeros)
    return Gaps.of(np.random.Generator(np.random.PCG64(5)).permutation(values), denominator=2)


CONSTANT_CONTROL = a_sample(ones=0, zeros=60)
QUIET_CONTROL = a_sample(ones=8, minus_ones=8, zeros=184)


@pytest.mark.parametrize(
    ("gaps", "control", "verdict"),
    [
        pytest.param(a_sample(ones=80, minus_ones=10, zeros=110), QUIET_CONTROL, ClaimVerdict.ADVANTAGE, id="both"),
        pytest.param(
            a_sample(ones=80, minus_ones=10, zeros=110),
            a_sample(ones=70, minus_ones=10, zeros=120),
            ClaimVerdict.GAP_ONLY,
            id="the control shows the same gap",
        ),
        pytest.param(a_sample(ones=20, minus_ones=20, zeros=160), QUIET_CONTROL, ClaimVerdict.NONE, id="no gap"),
        pytest.param(
            a_sample(ones=20, minus_ones=20, zeros=160),
            a_sample(ones=0, minus_ones=120, zeros=80),
            ClaimVerdict.NONE,
            id="only the control shows one",
        ),
        pytest.param(
            a_sample(ones=10, minus_ones=80, zeros=110), QUIET_CONTROL, ClaimVerdict.REVERSED, id="fresh is easier"
        ),
    ],
)
def test_claim_needs_both_intervals_above_zero(gaps: Gaps, control: Gaps, verdict: ClaimVerdict) -> None:
    """A gap alone is form mismatch, and a control gap alone is the control's; exposure needs both."""
    claim = claim_rule(gaps, FRAME, control)

    assert claim.verdict is verdict
    assert claim.is_claimed == (verdict is ClaimVerdict.ADVANTAGE)


def test_radius_can_undo_a_claim() -> None:
    """A claim that a transport error of two points would explain must not survive that radius."""
    gaps = a_sample(ones=48, minus_ones=10, zeros=142)

    assert claim_rule(gaps, FRAME, QUIET_CONTROL, rho=0.02).is_claimed
    assert claim_rule(gaps, FRAME, QUIET_CONTROL, rho=0.10).verdict is ClaimVerdict.GAP_ONLY


def test_guardrail_binds_both_conditions() -> None:
    """Twenty-five gaps of one sign are significant under Wald and not under the registered bound."""
    sparse = a_sample(ones=25, zeros=175)

    claim = claim_rule(sparse, FRAME, QUIET_CONTROL)

    assert claim.gap.intervals["wald_fpc"].excludes(0)
    assert claim.verdict is ClaimVerdict.NONE
    assert claim_rule(sparse, FRAME, QUIET_CONTROL, bound="betting").verdict is ClaimVerdict.ADVANTAGE


def test_degenerate_control_supports_no_claim() -> None:
    """A control bank at ceiling has a Wald width of zero, which would make every gap a claim."""
    claim = claim_rule(a_sample(ones=80, zeros=120), FRAME, a_sample(ones=0, zeros=60))

    assert claim.verdict is ClaimVerdict.GAP_ONLY
    assert claim.exposure.is_degenerate


def test_claim_can_be_read_and_stored() -> None:
    """The verdict travels with the two intervals that made it."""
    claim = claim_rule(a_sample(ones=80, minus_ones=10, zeros=110), FRAME, QUIET_CONTROL)

    stored = json.loads(json.dumps(claim.to_dict()))

    assert stored["verdict"] == "advantage"
    assert stored["gap"]["primary"]["method"] == "wald_fpc"
    assert str(claim).startswith("exposure-consistent advantage of the public form: gap +35.00 points")
    assert claim.method.startswith("claim(guardrail(")


def test_a_control_bank_that_never_varies_disarms_the_rule_under_wald_alone() -> None:
    """Items that nobody can answer would else be the control bank of whoever wants no claim."""
    gaps = a_sample(ones=120, minus_ones=0, zeros=80)
    wald = claim_rule(gaps, FRAME, CONSTANT_CONTROL, control="wald", bound="betting")
    bound = claim_rule(gaps, FRAME, CONSTANT_CONTROL, control="wald-or-bound", bound="betting")

    assert (wald.verdict, wald.exposure.is_degenerate) == (ClaimVerdict.GAP_ONLY, True)
    assert (bound.verdict, bound.exposure.is_degenerate) == (ClaimVerdict.ADVANTAGE, False)
    steady = claim_rule(gaps, FRAME, QUIET_CONTROL, control="wald", bound="betting").exposure
    assert claim_rule(gaps, FRAME, QUIET_CONTROL, control="wald-or-bound", bound="betting").exposure == steady
