"""Gates that know what they can see."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import (
    GateVerdict,
    Outcomes,
    PairingError,
    ParameterError,
    UnderpoweredGateError,
    assumption_gate,
    gate_resolution,
    gate_size,
    register_gate,
)


def two_forms(parents: int, *, shift: float = 0.0, seed: int = 0, ids: list[str] | None = None) -> list[Outcomes]:
    """Simulate control parents that hardly move, on a deep form (shifted) and on two fresh ones."""
    rng = np.random.Generator(np.random.PCG64(seed))
    forms = []
    for draws, gain in ((1, shift), (2, 0.0)):
        base = rng.binomial(draws, 0.5, parents)
        flips = rng.random(parents)
        adapted = np.where(flips < 0.2 + max(gain, 0), draws, np.where(flips > 0.8 + min(gain, 0), 0, base))
        forms.append(Outcomes(base, adapted, draws, ids))
    return forms


def test_twenty_parents_cannot_be_registered_for_a_tolerance_of_five_points() -> None:
    """Study 5: the gate fired, and would have fired about as readily where the assumption held."""
    deep, fresh = two_forms(20, shift=-0.2, seed=4)

    gate = assumption_gate(deep, fresh, tolerance=0.05, seed=1, n_resamples=2000)

    assert gate.resolution > 0.05
    assert gate.verdict is GateVerdict.UNRESOLVED
    assert not gate.is_equivalent
    with pytest.raises(UnderpoweredGateError, match=rf"20 parents .* take about {gate.parents_needed} parents"):
        gate.registered()
    assert json.loads(json.dumps(gate.to_dict(), allow_nan=False))["verdict"] == "unresolved"


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, GateVerdict.HOLDS), (-0.2, GateVerdict.VIOLATED)])
def test_gate_that_can_see_its_tolerance_gives_a_verdict(shift: float, verdict: GateVerdict) -> None:
    """Resolution first, then the registered rule."""
    deep, fresh = two_forms(3000, shift=shift, seed=4)

    gate = assumption_gate(deep, fresh, tolerance=0.05, method="exact")

    assert gate.registered() is gate
    assert gate.verdict is verdict
    assert gate.is_equivalent == (verdict is GateVerdict.HOLDS)
    assert f"assumption {verdict.value}" in str(gate)


def test_parents_needed_are_those_whose_half_width_is_the_tolerance() -> None:
    """The advice must be worth following."""
    deep, fresh = two_forms(5000, seed=4)
    needed = assumption_gate(deep, fresh, tolerance=0.05, method="exact").parents_needed
    assert needed is not None

    again = assumption_gate(*two_forms(needed, seed=5), tolerance=0.05, method="exact")

    assert again.resolution == pytest.approx(0.05, rel=0.08)


@given(st.integers(1, 5000), st.floats(0.01, 2), st.floats(0.005, 0.5), st.sampled_from([0.01, 0.05, 0.2]))
def test_planned_gate_is_registered_exactly_from_its_size_on(
    parents: int, deviation: float, tolerance: float, alpha: float
) -> None:
    """One parent fewer is one too few."""
    needed = gate_size(deviation, tolerance=tolerance, alpha=alpha)

    assert gate_resolution(needed, deviation, alpha=alpha) <= tolerance
    assert needed == 1 or gate_resolution(needed - 1, deviation, alpha=alpha) > tolerance * (1 - 1e-9)
    if parents >= needed:
        assert register_gate(parents, deviation, tolerance=tolerance, alpha=alpha) <= tolerance
    else:
        with pytest.raises(UnderpoweredGateError, match=f"take about {needed} parents"):
            register_gate(parents, deviation, tolerance=tolerance, alpha=alpha)


def test_parents_without_both_forms_are_left_out_by_name() -> None:
    """A deep form exists for some parents only."""
    ids = [f"p{i}" for i in range(60)]
    deep, fresh = two_forms(60, seed=4, ids=ids)
    some = Outcomes(deep.base[:50], deep.adapted[:50], 1, ids[:50])

    gate = assumption_gate(some, fresh, method="exact")

    moved = deep.changes[:50] - fresh.changes[:50] / 2
    assert gate.parent_count == 50
    assert gate.difference.estimate == pytest.approx(moved.mean())
    with pytest.raises(PairingError, match="no parent has both forms"):
        assumption_gate(Outcomes([1], [1], 1, ["x"]), fresh, method="exact")


def test_gate_without_spread_is_unresolved_and_says_so() -> None:
    """Ten parents that all stood still show no spread to plan with; zero width is not resolution."""
    still = Outcomes([0, 1] * 5, [0, 1] * 5, 1)

    gate = assumption_gate(still, still, method="exact")

    assert gate.verdict is GateVerdict.UNRESOLVED
    assert gate.parents_needed is None
    with pytest.raises(UnderpoweredGateError, match="no spread to plan with"):
        gate.registered()


def test_rules_that_mean_nothing_are_refused() -> None:
    """A tolerance of zero cannot be met, a standard deviation above two cannot be."""
    deep, fresh = two_forms(20)

    with pytest.raises(ParameterError, match="above 0"):
        assumption_gate(deep, fresh, tolerance=0, method="exact")
    with pytest.raises(ParameterError, match=r"in 0\.\.2"):
        gate_resolution(20, 2.5)
