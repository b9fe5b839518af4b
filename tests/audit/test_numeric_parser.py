"""The registered parser reads what models write, and says in which format they wrote it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.audit.scoring import AnswerFormat, NumericParser
from leakscale.audit.scoring.numbers import read_number
from leakscale.errors import InvalidRequestError

HASH, BOXED, PHRASE, LAST = AnswerFormat.HASH, AnswerFormat.BOXED, AnswerFormat.PHRASE, AnswerFormat.LAST_NUMBER


@pytest.mark.parametrize(
    ("text", "value", "met"),
    [
        ("3 + 4 = 7\n#### 7", 7, HASH),
        ("#### -1,234.50 dollars", Fraction(-2469, 2), HASH),
        ("#### 5\nNo, wait.\n#### 6", 6, HASH),
        ("The answer is $3.50.", Fraction(7, 2), PHRASE),
        ("Final answer: 7 apples", 7, PHRASE),
        ("The answer is:\n\n**18**", 18, PHRASE),
        ("The answer is 3 x 4 = 12.", 12, PHRASE),
        ("the answer is 12%", 12, PHRASE),
        (r"so \boxed{1{,}000}", 1000, BOXED),
        (r"\boxed{x = -5}", -5, BOXED),
        (r"\boxed{\frac{1}{2}}", Fraction(1, 2), BOXED),
        (r"\boxed{2\frac{1}{2}} and \boxed{", Fraction(5, 2), BOXED),
        (r"\boxed{18 \text{ eggs}}", 18, BOXED),
        (r"The answer is 1, that is \boxed{2}", 2, BOXED),
        ("The answer is 2 1/2 cups", Fraction(5, 2), PHRASE),
        ("He had 3, then 4 apples.", 4, LAST),
        ("from 10-12", 12, LAST),
        ("it falls to -5", -5, LAST),
        ("it falls to −5", -5, LAST),
        ("10\u202f000 are left", 10_000, LAST),
        (r"\boxed{\frac{-3}{4}}", Fraction(-3, 4), BOXED),
        (r"\boxed{\frac34}", Fraction(3, 4), BOXED),
        (r"\boxed{\dfrac{3.5}{7}}", Fraction(1, 2), BOXED),
        (r"\boxed{\frac{1,000}{3}}", Fraction(1000, 3), BOXED),
        (r"\boxed{{3}/{4}}", Fraction(3, 4), BOXED),
        ("#### 3½", Fraction(7, 2), HASH),
        ("#### -½", Fraction(-1, 2), HASH),
        ("#### 3\u20444", Fraction(3, 4), HASH),
        ("#### \uff0d3", -3, HASH),
        ("#### \u20113", -3, HASH),
        ("The answer is minus 3", -3, PHRASE),
        ("It is negative 3", -3, LAST),
        ("5 minus 3", 3, LAST),
        ("5 - 3", 3, LAST),
        ("1.5e3", 1500, LAST),
        ("1.2 × 10^3", 1200, LAST),
        (r"\boxed{1.2 \times 10^{-3}}", Fraction(3, 2500), BOXED),
        ("5^2", 25, LAST),
        ("5²", 25, LAST),
        ("#### 12 000", 12_000, HASH),
        ("#### 1,23,456", 123_456, HASH),
        ("#### 4\u200b2", 42, HASH),
        ("#### \uff14\uff12", 42, HASH),
        ("The answer is 5=2+3", 5, PHRASE),
        ("#### 42.", 42, HASH),
        ("12,3456", None, AnswerFormat.NONE),
        ("3 or 1.234,50", None, AnswerFormat.NONE),
        ("3 or 3,5", None, AnswerFormat.NONE),
        ("1.2.3", None, AnswerFormat.NONE),
        ("9^999^", 9**999, LAST),
        ("99^999 " + "9" * 399 + "^999", None, AnswerFormat.NONE),
        ("1/0", None, AnswerFormat.NONE),
        ("I do not know.", None, AnswerFormat.NONE),
        ("", None, AnswerFormat.NONE),
        ("7" * 10_000, None, AnswerFormat.NONE),
    ],
)
def test_a_number_is_read_with_its_format(text: str, value: Fraction | int | None, met: AnswerFormat) -> None:
    """Each of these was written by some model; a parser that misses one censors the outcome."""
    parsed = NumericParser().parse(text)
    assert (parsed.value, parsed.format) == (value, met)


def test_only_registered_formats_are_read() -> None:
    """The paper's first parser took no box; its amendment did, and both are reported."""
    text = r"The answer is 3. \boxed{4}"
    assert NumericParser((HASH, PHRASE)).parse(text).value == 3
    assert NumericParser((HASH,)).parse(text).format is AnswerFormat.NONE


@pytest.mark.parametrize("formats", [(), (HASH, HASH), (AnswerFormat.NONE,)])
def test_formats_that_decide_nothing_are_refused(formats: tuple[AnswerFormat, ...]) -> None:
    """A registration is read once, before it binds."""
    with pytest.raises(InvalidRequestError, match=r"parser\.formats is"):
        NumericParser(formats)


def test_a_gold_answer_is_met_exactly() -> None:
    """A tolerance would score a wrong cent as right; a gold answer without a number is a fault of the bank."""
    parser = NumericParser()
    assert parser.is_right("#### 1,000.0", "1000")
    assert not parser.is_right("#### 0.33", "1/3")
    assert not parser.is_right("no number", "1")
    with pytest.raises(InvalidRequestError, match="gold answer 'many' is no number"):
        parser.is_right("#### 1", "many")


@given(st.fractions(max_denominator=10**6), st.sampled_from(["#### {}", "The answer is {}.", r"\boxed{{{}}}", "so {}"]))
def test_what_is_written_is_read(value: Fraction, frame: str) -> None:
    """Sign, fraction and format never change a value."""
    assert NumericParser().parse(frame.format(value)).value == value


@pytest.mark.parametrize("gold", ["many", "5 apples and 3 pears", "3,5", "NaN", "", "7" * 500])
def test_a_gold_answer_is_one_number(gold: str) -> None:
    """Of two numbers a gold answer would mean the first and an answer the last."""
    assert read_number(gold) is None


@pytest.mark.parametrize("gold", ["18 eggs", "$1,000.00", "−3", "½", "12%"])
def test_a_gold_answer_may_have_a_sign_and_a_unit(gold: str) -> None:
    """As benchmarks write them."""
    assert read_number(gold) is not None


@given(st.text(alphabet="0123456789.,/-−#{}\\boxedfrac answeris=\n$^²½×e", max_size=60))
def test_no_text_ends_the_parser(text: str) -> None:
    """Completions are whatever a model wrote."""
    NumericParser().parse(text)


SIZE = 256 * 1024
"""Bytes of the longest answer that a server judges."""


@pytest.mark.parametrize(
    "piece",
    [
        "#### \n" * 32 + " " * SIZE,
        "answer is \n" * 32 + "\t" * SIZE,
        ("####" + " a" * 4000) * 32,
        "\\boxed{" * 40 + "{" * SIZE,
        "1 " * 500 + "/",
        "1" * 500 + " " * 500,
        "1\u00a0",
        "\\frac{1}{",
        "1/",
        "1,",
        "1.",
        "½",
        "5^",
        "1 1/",
        "minus ",
    ],
    ids=lambda piece: repr(piece[:12]),
)
def test_a_text_made_to_keep_the_parser_busy_is_read(piece: str) -> None:
    """One answer would otherwise hold up the scorer of a whole server, for hours. A time is not asserted: it ends."""
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]

    assert not NumericParser().is_right(text, "77")


def test_a_number_far_behind_its_marker_is_not_the_markers() -> None:
    """What stands thousands of characters on is another matter; the last number is still one of the formats."""
    assert NumericParser((AnswerFormat.HASH,)).parse("#### so" + " " * 5000 + "7").value is None
    assert NumericParser((AnswerFormat.HASH,)).parse("#### so" + " " * 3000 + "7").value == 7
