"""What is written is held against what is computed again: numbers to nine digits, everything else exactly."""

from __future__ import annotations

from typing import Any

import pytest

from leakscale.evidence.comparing import count_numbers, text_difference, value_difference


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("a,0.1\nb,2\n", "a,0.1\nb,2\n"),
        ("0.30000000000000004,x\n", "0.3,x\n"),
        ("1e-17\n", "0.0\n"),
    ],
)
def test_the_last_bits_of_a_number_are_not_compared(found: str, expected: str) -> None:
    """Another processor sums in another order; that is no forgery."""
    assert text_difference(found, expected) == ""


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ("a\nb,0.1001\n", "a\nb,0.1\n", "line 2 is 'b,0.1001', expected 'b,0.1'"),
        ("a,3\n", "a,4\n", "line 1 is 'a,3', expected 'a,4'"),
        ("a\n", "a\nb\n", "line 2 is '', expected 'b'"),
        ("a,0.1\n", "b,0.1\n", "line 1 is"),
        ("deadbeef01\n", "deadbeef02\n", "line 1 is"),
        ("a", "a\n", "its last line has another end"),
        ("a\r\n", "a\n", "line 1 is 'a\\r', expected 'a'"),
    ],
)
def test_the_first_line_that_differs_is_named_with_what_was_expected(found: str, expected: str, words: str) -> None:
    """Whoever reads the failure needs neither file to understand it."""
    assert text_difference(found, expected).startswith(words)


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b is 1, expected 2"),
        ({"a": [1, 2]}, {"a": [1]}, "a[1] is there, expected none"),
        ({"a": 1}, {"a": 1, "b": None}, "b is missing, expected None"),
        ({"a": True}, {"a": 1}, "a is True, expected 1"),
        ({"a": "1"}, {"a": 1}, "a is '1', expected 1"),
        ({"a": {}}, {"a": []}, "a is {}, expected []"),
        ({"a": {"b": 2}, "a.b": 1}, {"a": {"b": 1}}, "a.b is 2, expected 1"),
        ({"a": [2], "a[0]": 1}, {"a": [1]}, "a[0] is 2, expected 1"),
        ({"a": 0.5}, {"a": 0.5000001}, "a is 0.5, expected 0.5000001"),
    ],
)
def test_the_first_field_that_differs_is_named(found: Any, expected: Any, words: str) -> None:
    """By its way through the objects, as people write it."""
    assert value_difference(found, expected) == words


def test_equal_values_do_not_differ() -> None:
    """Whole numbers that a reader of JSON took for floats are the same numbers."""
    value: dict[str, Any] = {"a": [1, {"b": 0.1 + 0.2}], "c": {}, "d": None, "e": 0.0}

    assert value_difference(value, {"a": [1, {"b": 0.3}], "c": {}, "d": None, "e": 0}) == ""


def test_digits_inside_of_words_are_no_numbers() -> None:
    """A count of compared numbers must not be made large by digests."""
    assert count_numbers('{"sha": "8d3f", "n": 12, "x": -0.5, "C0": [1e-3]}') == 3
