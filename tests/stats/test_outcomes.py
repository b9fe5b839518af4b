"""Counts that go into an estimator."""

from __future__ import annotations

import json
from typing import Any

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
        ([0.5, 0.25], [0.5, 0.5], 32, "pass whole numbers"),
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
    with pytest.raises(OutcomeError, match="a part is a list"):
        Outcomes.pooled([sql, python])  # type: ignore[arg-type]
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


def test_counts_from_numpy_and_object_columns_are_plain() -> None:
    """Tables hold Python's ints in object columns, and a numpy count of draws is no JSON."""
    draws: Any = np.int64(4)
    ids: Any = np.array(["a", "b"], object)

    outcomes = Outcomes(np.array([1, 2], object), np.array([3, 4], object), draws, ids)

    assert json.loads(json.dumps(outcomes.to_dict()))["draws"] == 4
    assert outcomes.ids == ("a", "b")
    assert str(outcomes) == "2 families, 4 draws each, correct in 37.50 % before adaptation and 87.50 % after"


@pytest.mark.parametrize("draws", [2.5, True, np.nan, "2"])
def test_draws_that_are_no_whole_number_are_refused(draws: Any) -> None:
    """2.5 draws were silently taken for 2."""
    with pytest.raises(OutcomeError, match="draws is"):
        Outcomes([2], [2], draws)


@pytest.mark.parametrize("values", ["11", [[1], [1, 0]], np.ma.array([1, 1], mask=np.array([False, True]))])
def test_what_is_no_array_of_counts_is_refused(values: Any) -> None:
    """A masked count was never observed, and ragged rows have no shape."""
    with pytest.raises(OutcomeError, match="base"):
        Outcomes(values, values, 1)


def test_masked_forms_are_missing_forms() -> None:
    """The score beneath a mask must not enter the accuracy."""
    base = np.ma.array([[0, 1], [1, 1]], mask=np.array([[False, False], [False, True]]))

    assert Outcomes.from_forms(base, base).base.tolist() == [1, 2]
    assert Outcomes.from_forms(base, base).draws == 2


def test_more_numbers_of_forms_than_64_bits_weigh_are_refused() -> None:
    """The least common multiple of 1..45 overflowed without a word about forms."""
    scores = np.ones((45, 45))
    scores[np.arange(45)[:, None] < np.arange(45)] = np.nan

    with pytest.raises(OutcomeError, match="one number of forms"):
        Outcomes.from_forms(scores, scores)
