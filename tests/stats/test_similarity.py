"""Words that a fresh form keeps of its original."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import EmptySampleError, ParameterError, ScoreError, find_near_copies
from leakscale.stats.items.similarity import jaccard, parent_similarity, word_change, words

ORIGINAL = "A bag has a 5% discount. If it is marked $140, what is the price after the discount?"
LIGHT = "A jacket has a 5% discount. If it is marked $140, what is the price after the discount?"
DEEP = "After taking five percent off, how much does one pay for luggage listed at 140 dollars?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat's 3.5-kg Bag, THE bag!", ("the", "cat's", "3.5", "kg", "bag", "the", "bag")),
        ("1,250 well-known naïve words_here", ("1,250", "well-known", "naïve", "words", "here")),
        ("?!", ()),
    ],
)
def test_words_are_lower_case_without_punctuation(text: str, expected: tuple[str, ...]) -> None:
    """A full stop or a capital letter is no rewriting."""
    assert words(text) == expected


def test_one_word_exchanged_is_told_from_a_rewrite() -> None:
    """The two kinds of form that the audited bank mixed."""
    assert jaccard(ORIGINAL, LIGHT) == 13 / 15
    assert jaccard(ORIGINAL, DEEP) < 0.25


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1), st.lists(st.sampled_from("abcdefgh"), min_size=1))
def test_similarity_is_symmetric_and_a_share(first: list[str], second: list[str]) -> None:
    """Word order and repetitions play no part."""
    one, two = " ".join(first), " ".join(second)

    value = jaccard(one, two)

    assert value == jaccard(two, one)
    assert 0 <= value <= 1
    assert (value == 1) == (set(first) == set(second))


def test_word_change_counts_repetitions() -> None:
    """One word in nineteen, of eighteen distinct ones: the two measures differ, and both are reported."""
    assert word_change("a b a b", "a b a c") == 0.25
    assert word_change("a b", "b a") == 0
    assert word_change("a b", "") == 1


def test_near_copies_are_found_by_parent_and_by_form() -> None:
    """Which form is too close matters as much as how many are: it points at the pass that drafted it."""
    report = find_near_copies([ORIGINAL, ORIGINAL], [[LIGHT, DEEP], [DEEP, None]])

    assert report.flagged.tolist() == [True, False]
    assert report.counts_by_form == (1, 0)
    assert report.closest == 13 / 15
    assert report.median_word_change == pytest.approx(1 / 18)
    assert math.isnan(report.similarities[1, 1])
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["flagged_rows"] == [0]
    assert str(report).startswith("1 of 2 parents have a fresh form with similarity 0.8 or more (by form 1, 0)")


def test_form_at_the_threshold_is_a_near_copy() -> None:
    """The registered rule is `0.80 or more`; four words of five must not pass by a rounding error."""
    report = find_near_copies(["a b c d e"], [["a b c d"]], threshold=0.8)

    assert report.similarities[0, 0] == 0.8
    assert report.flagged_count == 1


def test_bank_without_near_copies_has_no_median_change() -> None:
    """A median of nothing is None, not NaN."""
    report = find_near_copies([ORIGINAL], [[DEEP]])

    assert report.flagged_count == 0
    assert report.median_word_change is None


def test_similarity_of_a_parent_is_the_mean_over_its_forms() -> None:
    """A parent without any form has none."""
    values = parent_similarity(np.array([[0.2, 0.6], [0.4, np.nan], [np.nan, np.nan]]))

    assert values[:2].tolist() == [0.4, 0.4]
    assert math.isnan(values[2])
    with pytest.raises(ScoreError, match=r"0\.\.1"):
        parent_similarity([1.2])


def test_texts_that_cannot_be_compared_are_refused_by_name() -> None:
    """An empty file read as a bank would be a bank of perfect rewrites."""
    with pytest.raises(ScoreError, match="without a word"):
        jaccard("...", "?")
    with pytest.raises(ScoreError, match="no word"):
        word_change("...", "a")
    with pytest.raises(ScoreError, match="K forms each"):
        find_near_copies(["a", "b"], [["a"], ["b", "c"]])
    with pytest.raises(ScoreError, match="K forms each"):
        find_near_copies(["a", "b"], [["a"]])
    with pytest.raises(EmptySampleError, match="no parent"):
        find_near_copies([], [])
    with pytest.raises(EmptySampleError, match="no parent"):
        find_near_copies(["a"], [[None]])
    with pytest.raises(ParameterError, match="at most 1"):
        find_near_copies(["a"], [["a"]], threshold=80)
