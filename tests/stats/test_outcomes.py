"""Counts that go into an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from leakscale.stats import EmptyCellError, OutcomeError, Outcomes


def test_matrix_of_draws_and_counts_are_the_same_outcomes() -> None:
    """Both forms appear in the wild; neither may change a number."""
    base = np.array([[1, 0, 0], [1, 1, 0]], dtype=np.int8)
    adapted = np.array([[True, True, True], [False, False, True]])

    outcomes = Outcomes(base, adapted)

    assert outcomes.draws == 3
    assert outcomes.base.tolist() == [1, 2]
    assert outcomes.changes.tolist() == [2, -1]
    assert outcomes.base_accuracy == 0.5


@pytest.mark.parametrize("empty", [[], np.zeros((0, 32), int), np.zeros((3, 0), int)])
def test_empty_condition_is_an_error(empty: ArrayLike) -> None:
    """An effect of nothing is undefined, not zero."""
    with pytest.raises(EmptyCellError, match="undefined"):
        Outcomes(empty, empty, None if np.ndim(empty) == 2 else 32)


@pytest.mark.parametrize(
    ("base", "adapted", "draws", "words"),
    [
        ([1, 2], [1], 32, "family by family"),
        ([1, 33], [1, 2], 32, r"outside 0\.\.32"),
        ([1, -1], [1, 2], 32, r"outside 0\.\.32"),
        ([0.5, 0.25], [0.5, 0.5], 32, "not shares"),
        ([1, 2], [1, 2], None, "with `draws`"),
        ([[1, 0]], [[1, 1]], 3, "leave `draws` out"),
        ([[2, 0]], [[1, 1]], None, "0 and 1 only"),
        ([[[1]]], [[[1]]], 1, "0/1 matrices"),
    ],
)
def test_impossible_counts_are_refused(base: ArrayLike, adapted: ArrayLike, draws: int | None, words: str) -> None:
    """A silent cast or broadcast here would be a wrong number in a report."""
    with pytest.raises(OutcomeError, match=words):
        Outcomes(base, adapted, draws)


def test_outcomes_cannot_be_changed_after_the_fact() -> None:
    """A result keeps the counts that it was computed from."""
    counts = np.array([1, 2])
    outcomes = Outcomes(counts, counts, 32)
    counts[0] = 30

    assert outcomes.base.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        outcomes.base[0] = 5


def test_pooled_outcomes_keep_families_apart() -> None:
    """Two domains pool into more families, not into longer ones."""
    sql, python = Outcomes([3, 0, 9], [4, 0, 8], 32), Outcomes([1, 2, 3, 4], [9, 9, 9, 9], 32)

    pooled = Outcomes.pooled(sql, python)

    assert pooled.family_count == 7
    assert pooled.changes.tolist() == [*sql.changes.tolist(), *python.changes.tolist()]
    with pytest.raises(OutcomeError, match="cannot be pooled"):
        Outcomes.pooled(sql, Outcomes([1], [2], 16))
