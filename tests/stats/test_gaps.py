"""Gaps of parent items, held in whole numbers."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import DesignError, EmptySampleError, Gaps, ParameterError, ScoreError, paired_gap


def test_gap_is_the_original_minus_the_mean_of_the_fresh_forms() -> None:
    """The definition, parent by parent, on the lattice of 1/K."""
    gaps = paired_gap([1, 1, 1, 0, 0], [[0, 0], [1, 0], [1, 1], [1, 0], [1, 1]])

    assert gaps.numerators.tolist() == [2, 1, 0, -1, -2]
    assert gaps.denominator == 2
    assert (gaps.public_score, gaps.fresh_score, gaps.mean) == (0.6, 0.6, 0.0)


@given(st.integers(1, 6).flatmap(lambda k: st.lists(st.tuples(*[st.integers(0, 1)] * (k + 1)), min_size=1, max_size=9)))
def test_total_follows_from_the_counts_of_right_answers(rows: list[tuple[int, ...]]) -> None:
    """n K mean = (K+1) originals right - all right: the identity on which the relabelling test stands."""
    forms = len(rows[0]) - 1
    gaps = paired_gap([row[0] for row in rows], np.array(rows)[:, 1:])

    assert gaps.denominator == forms
    assert gaps.total == (forms + 1) * sum(row[0] for row in rows) - sum(map(sum, rows))


def test_one_fresh_form_may_come_as_a_vector() -> None:
    """An audit with a single rewrite is the common small case."""
    assert paired_gap([1, 0], [0, 0]).numerators.tolist() == [1, 0]


def test_missing_forms_leave_the_mean_and_are_counted() -> None:
    """A form that failed to parse must not become a wrong answer, nor vanish from the record."""
    gaps = paired_gap([1, 1, math.nan, 1], np.array([[1, math.nan], [1, 0], [1, 1], [math.nan, math.nan]]))

    assert [Fraction(n, gaps.denominator) for n in gaps.numerators.tolist()] == [0, Fraction(1, 2)]
    assert (gaps.missing_form_count, gaps.dropped_parent_count) == (1, 2)
    assert "1 fresh forms missing, 2 parents without a gap" in str(gaps)


def test_gaps_that_are_equal_stay_equal_whatever_the_scores() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point; a tie broken by rounding would move p-values (scipy #17667)."""
    gaps = paired_gap([0.15, 0.3, 0.7, 1 / 3], [[0.1, 0.2], [0.2, 0.4], [0.6, 0.8], [1 / 3, 1 / 3]])

    assert gaps.numerators.tolist() == [0, 0, 0, 0]
    assert gaps.nonzero_count == 0


def test_scores_that_are_no_small_fractions_are_rounded_to_a_billionth() -> None:
    """Model-graded scores can be any float; the gaps must still be whole numbers of something."""
    rng = np.random.Generator(np.random.PCG64(1))
    original, fresh = rng.random(50), rng.random((50, 2))

    gaps = paired_gap(original, fresh)

    assert gaps.denominator == 2 * 10**9
    assert gaps.values == pytest.approx(original - fresh.mean(axis=1), abs=1e-9)
    assert gaps.variance == pytest.approx(np.var(gaps.values, ddof=1), rel=1e-12)


def test_variance_is_exact_and_absent_for_one_parent() -> None:
    """Sums of squares far from zero lose digits in floating point; one observation has no variance, not 0."""
    assert Gaps.of([1.0, 0.5, -0.5]).variance == float(Fraction(7, 12))
    assert Gaps.of([0.5]).variance is None


@pytest.mark.parametrize(
    ("original", "fresh", "error", "words"),
    [
        ([1, 0], [[1, 0]], ScoreError, "do not|shape"),
        ([1, 2], [0, 0], ScoreError, "`original` lies outside 0..1"),
        ([1, 0], [0, -0.1], ScoreError, "`fresh` lies outside 0..1"),
        ([1, math.inf], [0, 0], ScoreError, "outside 0..1"),
        ([], np.zeros((0, 2)), EmptySampleError, "no gap to average"),
        ([math.nan], [1], EmptySampleError, "no gap to average"),
    ],
)
def test_scores_that_make_no_gaps_are_refused(
    original: list[float], fresh: list[float], error: type[Exception], words: str
) -> None:
    """Each message says which input is wrong and what would be right."""
    with pytest.raises(error, match=words):
        paired_gap(original, fresh)


@pytest.mark.parametrize(
    ("values", "error"),
    [([0.5, math.nan], ScoreError), ([1.5], ScoreError), ([[0.5]], ScoreError), ([], EmptySampleError)],
)
def test_numbers_that_are_no_gaps_are_refused(values: list[float], error: type[Exception]) -> None:
    """A NaN that slips in here would be a NaN in every table."""
    with pytest.raises(error):
        Gaps.of(values)


def test_gaps_off_the_stated_lattice_are_refused() -> None:
    """A third cannot come from right/wrong scores on two fresh forms; the columns are mixed up."""
    with pytest.raises(ScoreError, match="no multiple of 1/2"):
        Gaps.of([1 / 3], denominator=2)


def test_stratum_names_stay_with_their_parents() -> None:
    """A parent dropped from the gaps but not from the names would shift every name after it."""
    gaps = paired_gap([1, math.nan, 1], [0, 0, 1], strata=["a", "b", "c"])

    assert gaps.strata == ("a", "c")
    assert gaps.take([1]).strata == ("c",)
    with pytest.raises(DesignError, match="2 stratum names for 3 parents"):
        paired_gap([1, 1, 1], [0, 0, 1], strata=["a", "b"])


def test_taken_parents_keep_their_scores() -> None:
    """Dropping near-copies and recomputing must give the same gaps as an audit without them."""
    gaps = paired_gap([1, 1, 0], [[0, 0], [1, 0], [1, 1]])

    kept = gaps.take(np.array([True, False, True]))

    assert kept.numerators.tolist() == [2, -2]
    assert (kept.public_score, kept.fresh_score) == (0.5, 0.5)


def test_gaps_cannot_be_changed_after_the_fact() -> None:
    """Two intervals on the same object must be on the same data; the caller's own array stays the caller's."""
    mine = np.array([1, 0])
    gaps = Gaps(mine, 2)
    mine[0] = 2

    assert gaps.numerators.tolist() == [1, 0]
    with pytest.raises(ValueError, match="read-only"):
        gaps.numerators[0] = 0


def test_shares_are_not_taken_for_numerators() -> None:
    """Half a point cut to a whole number would be a gap of zero."""
    with pytest.raises(ScoreError, match="pass whole numbers"):
        Gaps(np.array([0.5, 1.0]), 2)


def test_gaps_travel_between_processes_and_into_json() -> None:
    """The laboratory sends them to its workers, and reports print their totals."""
    gaps = paired_gap([1, 0], [[0, 0], [1, 0]])

    assert pickle.loads(pickle.dumps(gaps)).to_dict() == gaps.to_dict()
    assert json.loads(json.dumps(gaps.to_dict()))["total"] == 1


def test_single_precision_scores_give_the_gaps_of_the_fractions() -> None:
    """Thirds in float32 are no multiples of a billionth, and would make nonzero gaps of ties."""
    scores = np.random.Generator(np.random.PCG64(0)).integers(0, 4, (60, 3)) / 3

    single, double = (paired_gap(each[:, 0], each[:, 1:]) for each in (scores.astype(np.float32), scores))

    assert single.denominator == double.denominator == 6
    assert single.numerators.tolist() == double.numerators.tolist()


def test_masked_scores_are_missing_scores() -> None:
    """The number beneath a mask was never measured."""
    fresh = np.ma.array([[1.0, 0.0], [1.0, 1.0]], mask=np.array([[False, True], [False, False]]))

    gaps = paired_gap([1, 0], fresh)

    assert gaps.missing_form_count == 1
    assert gaps.mean == -0.5


def test_gaps_from_numpy_numbers_are_plain_json() -> None:
    """A denominator taken from an array is a numpy integer, which JSON cannot write."""
    denominator: Any = np.int64(2)
    strata: Any = np.array(["a", 1], object)

    gaps = Gaps(np.array([1, 0]), denominator, strata)

    assert json.loads(json.dumps(gaps.to_dict()))["denominator"] == 2
    assert gaps.strata == ("a", "1")


@pytest.mark.parametrize("denominator", [0, -1, 2.5, np.nan, True, "2"])
def test_denominator_that_is_none_is_refused(denominator: Any) -> None:
    """A gap over 0 is no number, and 0 must not mean `find one`."""
    with pytest.raises(ParameterError, match="denominator is"):
        Gaps(np.array([0]), denominator)
    with pytest.raises(ParameterError, match="denominator is"):
        Gaps.of([0.0], denominator=denominator)


@pytest.mark.parametrize("rows", [[0.0], [2], [-3], [True], [[0]], "0"])
def test_rows_that_are_no_places_are_refused(rows: Any) -> None:
    """A mask of another length would take the wrong parents."""
    with pytest.raises(ParameterError, match="row"):
        Gaps(np.array([1, 0]), 1).take(rows)


@pytest.mark.parametrize("values", [[1e300], ["0.5"], [[1], [1, 2]], [1j], None])
def test_what_is_no_list_of_gaps_is_refused(values: Any) -> None:
    """A bare numpy error names neither the subject nor the next step."""
    with pytest.raises(ScoreError, match="gap"):
        Gaps.of(values)
