"""The analysis to avoid, with its placebo."""

from __future__ import annotations

import numpy as np
import pytest

from leakscale.stats import DidResult, NoInformationError, Outcomes, difference_in_differences, selected_gain


def test_selection_makes_up_a_gain_where_nothing_was_planted() -> None:
    """Public and fresh forms of a parent rise and fall together, so improvers on one improve on the other."""
    rng = np.random.Generator(np.random.PCG64(1))
    luck = rng.random((2, 2, 2000))  # group, state, parent: shared by all forms of a parent

    def result(forms: int) -> DidResult:
        arms = [
            Outcomes(rng.binomial(forms, luck[group, 0]), rng.binomial(forms, luck[group, 1]), forms)
            for group in (0, 1)
        ]
        return difference_in_differences(arms[0], arms[1], method="exact")

    public, fresh = result(1), result(2)
    gain = selected_gain(public, fresh)

    assert abs(fresh.effect.estimate) < 0.05
    assert gain.exposed > 0.25
    assert gain.placebo > 0.25
    assert abs(gain.beyond_selection) < 0.1
    assert "nothing was planted in" in str(gain)
    assert gain.to_dict()["placebo_count"] == gain.placebo_count


def test_nothing_to_select_is_said_by_name() -> None:
    """A mean of nobody is undefined."""
    still = Outcomes([0, 1], [0, 1], 1)
    result = difference_in_differences(still, still, method="exact")

    with pytest.raises(NoInformationError, match="no parent of c2 gained"):
        selected_gain(result, result)
