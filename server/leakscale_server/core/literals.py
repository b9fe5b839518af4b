"""Typed values, and how SQL, Python and JSON write them.

A masked value reaches a program only through here, as a literal of its own type; the author's text never decides how
it is quoted.
"""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from leakscale.models import Domain

__all__ = ["Plain", "Value", "as_operand", "literal", "plain_value", "python_literal", "read_json", "sql_literal"]

Value: TypeAlias = bool | int | Decimal | str | date | None
"""A candidate's value. Type and value together tell two apart: `True`, `1` and `1.0` are three."""

Plain: TypeAlias = int | float | str | bool | None
"""A value as fixtures, answers and programs hold it."""


def plain_value(value: Value) -> Plain:
    """Return the value as JSON knows it: a decimal becomes a number, a date its ISO string.

    Decimals of the format have at most four places and stay below 10**9, so the nearest double writes back the same
    digits and equal decimals stay equal.
    """
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    return value


def read_json(text: str) -> Value:
    """Read the JSON text of one boolean, null, number or string, keeping decimals exact.

    Raises:
        ValueError: If it is anything else, or is not written as JSON writes it: `1e3`, `1.50`; or if it is `-0.0`.
    """
    try:
        value = json.loads(text, parse_float=Decimal)
        is_scalar = value is None or isinstance(value, bool | int | Decimal | str)
        is_plain = is_scalar and json.dumps(plain_value(value), ensure_ascii=False, allow_nan=False) == text
        if is_plain and text != "-0.0":
            return value  # type: ignore[no-any-return]
    except (ValueError, ArithmeticError, RecursionError):
        pass
    raise ValueError("no boolean, null, number or string as JSON writes it")


def literal(domain: Domain, value: Value) -> str:
    """Write the value as a literal of the domain's language."""
    return sql_literal(value) if domain is Domain.SQL else python_literal(value)


def python_literal(value: Value) -> str:
    """Write the value as a Python literal: `35`, `12.5`, `'north'`, `'2024-03-05'`, `None`."""
    return repr(plain_value(value))


def sql_literal(value: Value) -> str:
    """Write the value as an SQL literal: `35`, `12.5`, `'north'`, `'2024-03-05'`, `NULL`; quotes are doubled."""
    plain = plain_value(value)
    if plain is None:
        return "NULL"
    if isinstance(plain, str):
        return "'" + plain.replace("'", "''") + "'"
    return repr(plain)


def as_operand(written: str) -> str:
    """Wrap a negative number in parentheses: after a minus it would begin an SQL comment, before `**` bind wrongly."""
    return f"({written})" if written.startswith("-") else written
