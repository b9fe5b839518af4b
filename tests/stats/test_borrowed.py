"""An effect whose counterfactual is borrowed is printed with what speaks against it, and never instead of a measured
one."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.stats.paper.test_exposure_numbers import UNTOUCHED, deep_arms, moved_by, study_5

from leakscale.stats import (
    BorrowedCounterfactual,
    GateVerdict,
    Outcomes,
    ParameterError,
    assumption_gate,
    borrowed_counterfactual,
)


def studies_5_and_6() -> BorrowedCounterfactual:
    """The paper's deep arm, borrowed from fresh forms as in Study 5, and measured as in Study 6."""
    own, exposed = deep_arms()
    return borrowed_counterfactual(exposed, study_5()[1].c0, own)


def twenty_parents() -> tuple[Outcomes, Outcomes]:
    """Study 5's gate: deep changes less fresh ones of mean -.10, with an interval from -.35 to +.15."""
    deep = [-1] * 4 + [1] * 2 + [0] * 14
    fresh = [0] * 18 + [-1, 1]
    ids = UNTOUCHED[:20]
    return (
        Outcomes([int(each < 0) for each in deep], [int(each > 0) for each in deep], 1, ids),
        Outcomes([int(each < 0) for each in fresh], [int(each > 0) for each in fresh], 2, ids),
    )


def test_the_paper_borrowed_six_points_too_much() -> None:
    """+.176 borrowed and +.238 measured: wrong by a quarter of its own size."""
    found = studies_5_and_6()

    assert found.borrowed.effect.estimate == pytest.approx(0.1758, abs=5e-5)
    assert found.direct is not None
    assert found.direct.effect.estimate == pytest.approx(0.2378, abs=1e-4)
    assert found.off_by is not None
    assert found.off_by == pytest.approx(-0.0620, abs=5e-5)
    assert found.off_by / found.direct.effect.estimate == pytest.approx(-0.26, abs=5e-3)
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_gate_is_measured_on_the_parents_that_have_both_forms() -> None:
    """Eighty-three of the hundred; the others say nothing of the assumption."""
    found = studies_5_and_6()

    assert found.gate is not None
    assert found.gate.parent_count == 83
    assert found.is_needed


def test_a_gate_of_twenty_parents_fires_seven_times_in_ten_where_the_assumption_holds() -> None:
    """As often as where it is off by the six points that were measured later: firing told nothing."""
    gate = assumption_gate(*twenty_parents(), tolerance=0.05, method="exact")
    error = gate.difference.standard_error
    assert error is not None
    assert gate.false_alarm is not None

    assert (gate.difference.low, gate.difference.estimate, gate.difference.high) == pytest.approx((-0.35, -0.1, 0.15))
    assert gate.verdict is GateVerdict.UNRESOLVED
    assert not gate.is_within_tolerance
    assert gate.false_alarm == pytest.approx(0.69, abs=0.005)
    fires_rightly = sum(math.erfc((0.05 + sign * 0.062) / error / math.sqrt(2)) / 2 for sign in (1, -1))
    assert fires_rightly - gate.false_alarm < 0.04


def test_false_alarms_are_as_frequent_as_said() -> None:
    """Counted over resamples of parents whose two changes differ by nothing on average."""
    deep, fresh = twenty_parents()
    gate = assumption_gate(deep, fresh, tolerance=0.05, seed=3, n_resamples=20_000)
    assert gate.false_alarm is not None
    rng = np.random.Generator(np.random.PCG64(1))
    differences = (deep.adapted - deep.base) - (fresh.adapted - fresh.base) / 2
    means = rng.choice(differences - differences.mean(), (20_000, 20)).mean(axis=1)

    assert np.mean(np.abs(means) > 0.05) == pytest.approx(gate.false_alarm, abs=0.05)


def test_without_a_parent_that_has_both_nothing_checks_the_assumption() -> None:
    """None has a deep form, or those that have one lack a fresh one."""
    _, exposed = deep_arms()
    lent = study_5()[1].c0
    none = borrowed_counterfactual(exposed, lent, None)
    strangers = borrowed_counterfactual(exposed, lent, moved_by(1, parents=4, ids=["x1", "x2", "x3", "x4"]))

    assert (none.direct, none.gate, none.off_by, none.verdict) == (None, None, None, GateVerdict.UNRESOLVED)
    assert strangers.direct is not None
    assert strangers.gate is None
    assert "no parent has both forms" in str(none)


def test_nothing_is_borrowed_where_every_untouched_parent_has_the_form() -> None:
    """The measured effect stands."""
    _, exposed = deep_arms()
    found = borrowed_counterfactual(exposed, study_5()[1].c0, moved_by(-1, ids=UNTOUCHED))

    assert not found.is_needed


def test_a_gate_without_a_spread_has_no_false_alarm() -> None:
    """Parents that all changed alike do not say how far others would."""
    still = Outcomes([0, 1, 0], [0, 1, 0], 1, UNTOUCHED[:3])
    found = borrowed_counterfactual(still, still, still)

    assert found.gate is not None
    assert found.gate.false_alarm is None
    assert found.verdict is GateVerdict.UNRESOLVED


def test_a_tolerance_of_nothing_is_refused_with_and_without_a_gate() -> None:
    """No gate passes it."""
    _, exposed = deep_arms()
    with pytest.raises(ParameterError, match="tolerance"):
        borrowed_counterfactual(exposed, study_5()[1].c0, None, tolerance=0)
