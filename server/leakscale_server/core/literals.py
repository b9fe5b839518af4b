"""Typed values, and how SQL, Python and JSON write them.

A masked value reaches a program only through here, as a literal of its own type; the author's text never decides how
it is quoted.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TypeAlias

__all__ = ["Plain", "Value", "as_operand", "plain_value", "python_literal", "sql_literal"]

Value: TypeAlias = int | Decimal | str | date
"""A candidate's value; candidates of one family share one type, so they sort."""

Plain: TypeAlias = int | float | str | bool | None
"""A value as fixtures, answers and programs hold it."""


def plain_value(value: Value | bool | None) -> Plain:
    """Return the value as JSON knows it: a decimal becomes a number, a date its ISO string.

    Decimals of the format have at most four places and stay below 10**9, so the nearest double writes back the same
    digits and equal decimals stay equal.
    """
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    return value


def python_literal(value: Value) -> str:
    """Write the value as a Python literal: `35`, `12.5`, `'north'`, `'2024-03-05'`."""
    return repr(plain_value(value))


def sql_literal(value: Value) -> str:
    """Write the value as an SQL literal: `35`, `12.5`, `'north'`, `'2024-03-05'`; quotes are doubled."""
    plain = plain_value(value)
    if isinstance(plain, str):
        return "'" + plain.replace("'", "''") + "'"
    return repr(plain)


def as_operand(literal: str) -> str:
    """Wrap a negative number in parentheses: after a minus it would begin an SQL comment, before `**` bind wrongly."""
    return f"({literal})" if literal.startswith("-") else literal
