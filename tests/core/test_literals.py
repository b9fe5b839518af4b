"""A masked value must come out of SQL, Python and JSON as the value that went in."""

from __future__ import annotations

import ast
import json
import sqlite3
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.prompts import compact_answer
from leakscale_server.core.literals import Value, as_operand, plain_value, python_literal, sql_literal

values: st.SearchStrategy[Value] = st.one_of(
    st.integers(-(10**12), 10**12),
    st.decimals(-(10**9), 10**9, places=4),
    st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"), include_characters=" ")),
    st.dates(date(1900, 1, 1), date(2199, 12, 31)),
)


@given(values)
def test_sql_reads_back_the_same_value_and_type(value: Value) -> None:
    """Quotes inside a string must not end it, and a decimal must stay REAL."""
    connection = sqlite3.connect(":memory:")
    [(read,)] = connection.execute(f"SELECT {as_operand(sql_literal(value))}")
    connection.close()

    assert read == plain_value(value)
    assert type(read) is type(plain_value(value))


@given(values)
def test_python_reads_back_the_same_value_and_type(value: Value) -> None:
    read = ast.literal_eval(as_operand(python_literal(value)))

    assert read == plain_value(value)
    assert type(read) is type(plain_value(value))


@given(values)
def test_an_answer_reads_back_the_same_value_and_type(value: Value) -> None:
    read = json.loads(compact_answer(plain_value(value)))["choice"]

    assert read == plain_value(value)
    assert type(read) is type(plain_value(value))


@given(st.decimals(-(10**9), 10**9, places=4), st.decimals(-(10**9), 10**9, places=4))
def test_decimals_keep_their_order_as_doubles(one: Decimal, other: Decimal) -> None:
    """A fixture value on a candidate must stay on it, or `>=` would miss."""
    assert (plain_value(one) == plain_value(other)) == (one == other)
    assert (one < other) == (float(one) < float(other))


def test_a_negative_operand_cannot_begin_a_comment() -> None:
    """`a -{{policy}}` with -5 would read `a --5`: a comment to SQL."""
    assert f"1 -{as_operand(sql_literal(-5))}" == "1 -(-5)"
    assert f"{as_operand(python_literal(Decimal('-2')))} ** 2" == "(-2.0) ** 2"


@pytest.mark.parametrize(
    ("value", "sql", "python"),
    [
        (35, "35", "35"),
        (Decimal("12.50"), "12.5", "12.5"),
        (Decimal(12), "12.0", "12.0"),
        ("it's", "'it''s'", '"it\'s"'),
        (date(2024, 3, 5), "'2024-03-05'", "'2024-03-05'"),
    ],
)
def test_literals_are_written_plainly(value: Value, sql: str, python: str) -> None:
    assert sql_literal(value) == sql
    assert python_literal(value) == python
