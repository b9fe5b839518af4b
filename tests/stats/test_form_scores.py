"""Scores of every form of a parent, whatever type they are stored in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leakscale.stats import ScoreError, randomization_test
from leakscale.stats.form_scores import FormScores


def thirds(count: int = 60) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.Generator(np.random.PCG64(5)).integers(0, 4, (count, 3)) / 3


def test_single_precision_scores_are_tested_as_the_fractions_they_stand_for() -> None:
    """On a lattice of a billionth the exact law has too many points, and ties are lost to rounding."""
    assert FormScores.of(thirds().astype(np.float32)).denominator == 3
    assert randomization_test(thirds().astype(np.float32)) == randomization_test(thirds())


def test_masked_form_is_a_missing_form() -> None:
    """A parent whose original is masked has no gap and is counted as left out."""
    scores = np.ma.array([[1, 0], [0, 1]], mask=np.array([[True, False], [False, False]]))

    forms = FormScores.of(scores)

    assert (forms.parent_count, forms.excluded_count) == (1, 1)
    assert forms.placebo_gaps[:, 0].tolist() == [-1]


@pytest.mark.parametrize("scores", [[["1", "0"]], [[1, 0], [1]], [[1j, 0]], None])
def test_what_is_no_table_of_scores_is_refused(scores: Any) -> None:
    """Text was parsed, and ragged rows ended in numpy's words."""
    with pytest.raises(ScoreError, match="scores"):
        FormScores.of(scores)
