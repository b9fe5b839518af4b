"""The exposure effect without each group."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from leakscale.stats import (
    DesignError,
    EmptyCellError,
    Outcomes,
    difference_in_differences,
    leave_one_group_out,
    marginals,
)

from .exposure_cases import an_outcomes, labels_in_turn


@pytest.mark.parametrize("cell", range(4))
def test_balanced_effects_equal_the_closed_form(cell: int) -> None:
    """All 128 leave-one-shape-out effects of four cells: (32 effect - effect of the shape) / 31."""
    c0, c2 = an_outcomes(families=512, seed=cell), an_outcomes(families=512, lift=0.2, seed=cell + 9)
    shapes = labels_in_turn(c0, c2, 32)

    result = leave_one_group_out(c0, c2, shapes)
    by_shape = marginals(c0, c2, shapes, method="exact").groups

    assert len(result.without) == 32
    for shape, effect in result.without.items():
        expected = (32 * float(result.effect) - by_shape[shape].effect.estimate) / 31
        assert float(effect) == pytest.approx(expected, abs=1e-12)


def test_unbalanced_effects_equal_recomputation() -> None:
    """Without balance there is no short cut, only the families that are left."""
    c0, c2 = an_outcomes(families=37, seed=1), an_outcomes(families=29, draws=16, lift=0.2, seed=2)
    groups = labels_in_turn(c0, c2, 5)

    result = leave_one_group_out(c0, c2, groups)

    for name, effect in result.without.items():
        kept = [np.array(labels) != name for labels in groups]
        left0, left2 = (Outcomes(o.base[k], o.adapted[k], o.draws) for o, k in zip((c0, c2), kept, strict=True))
        expected = difference_in_differences(left0, left2, method="exact").effect.estimate
        assert float(effect) == pytest.approx(expected, abs=1e-15)
    assert result.least[1] <= float(result.effect) <= result.greatest[1]


def test_exchanged_conditions_change_only_the_sign() -> None:
    """In exact fractions, so to the last digit."""
    c0, c2 = an_outcomes(families=30, seed=1), an_outcomes(families=30, lift=0.2, seed=2)
    groups = labels_in_turn(c0, c2, 5)

    forth = leave_one_group_out(c0, c2, groups).without
    back = leave_one_group_out(c2, c0, (groups[1], groups[0])).without

    assert back == {name: -effect for name, effect in forth.items()}


def test_group_that_carries_the_effect_alone_is_named() -> None:
    """This is what the table is read for."""
    still = Outcomes([4] * 8, [4] * 8, 8)
    one_jumps = Outcomes([0] * 8, [0] * 6 + [8] * 2, 8)
    groups = [0, 0, 1, 1, 2, 2, 3, 3]

    result = leave_one_group_out(still, one_jumps, (groups, groups))

    assert result.effect == Fraction(1, 4)
    assert result.least == ("3", 0.0)
    assert not result.keeps_sign
    assert "+0.00 (without 3)" in str(result)
    assert result.to_dict()["greatest"] == ["0", pytest.approx(1 / 3)]


def test_group_that_is_a_whole_condition_is_refused() -> None:
    """Without it the effect is undefined, not zero."""
    c0, c2 = an_outcomes(families=6), an_outcomes(families=6)

    with pytest.raises(EmptyCellError, match="all families of c0 are in one group"):
        leave_one_group_out(c0, c2, ([0] * 6, [0, 0, 0, 1, 1, 1]))
    with pytest.raises(DesignError, match="groups of c2 has shape"):
        leave_one_group_out(c0, c2, ([0] * 6, [0] * 5))
