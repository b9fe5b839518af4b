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


def test_missing_forms_leave_every_parent_the_same_weight() -> None:
    """A parent with one of two rewrites counts as much as its neighbours, and one with none is left out by name."""
    base = np.array([[0, 1], [1, np.nan], [np.nan, np.nan]])
    adapted = np.array([[1, 1], [0, np.nan], [np.nan, np.nan]])

    outcomes = Outcomes.from_forms(base, adapted, ["p1", "p2", "p3"])

    assert outcomes.ids == ("p1", "p2")
    assert outcomes.draws == 2
    assert outcomes.base.tolist() == [1, 2]
    assert outcomes.changes.tolist() == [1, -2]


@pytest.mark.parametrize(
    ("base", "adapted", "error", "words"),
    [
        ([[0, 1]], [[np.nan, 1]], OutcomeError, "blank it in both"),
        ([[0.5, 1]], [[1, 1]], OutcomeError, "not 0, 1 or NaN"),
        ([0, 1], [1, 1], OutcomeError, r"\(parents, forms\)"),
        ([[np.nan]], [[np.nan]], EmptyCellError, "undefined"),
    ],
)
def test_impossible_forms_are_refused(base: ArrayLike, adapted: ArrayLike, error: type[Exception], words: str) -> None:
    """A form scored in one state only would compare two different sets of forms."""
    with pytest.raises(error, match=words):
        Outcomes.from_forms(base, adapted)


@pytest.mark.parametrize(("ids", "words"), [(["a"], "1 ids for 2"), (["a", "a"], "'a' occurs twice")])
def test_ids_that_do_not_fit_are_refused(ids: list[str], words: str) -> None:
    """A name that stands for two families would join the wrong rows."""
    with pytest.raises(OutcomeError, match=words):
        Outcomes([1, 2], [1, 2], 2, ids)


def test_pooled_outcomes_keep_their_ids_or_refuse() -> None:
    """Half-named families could be joined with nothing."""
    first, second = Outcomes([1], [2], 4, ["a"]), Outcomes([1], [2], 4, ["b"])

    assert Outcomes.pooled(first, second).ids == ("a", "b")
    with pytest.raises(OutcomeError, match="1 of 2 parts have ids"):
        Outcomes.pooled(first, Outcomes([1], [2], 4))
    with pytest.raises(OutcomeError, match="occurs twice"):
        Outcomes.pooled(first, first)
