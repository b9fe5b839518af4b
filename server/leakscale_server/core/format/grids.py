"""Ranges of evenly spaced values: integers, decimals and dates, alike in everything but arithmetic."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = ["Amount", "DateGrid", "DecimalGrid", "Grid", "Integer", "IntegerGrid", "Strict"]


class Strict(BaseModel):
    """A part of a shape file: immutable, no unknown field, no coerced type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


def _widen(value: object) -> object:
    """Let `1` stand where a decimal is meant; TOML writes it so."""
    return Decimal(value) if type(value) is int else value


Integer = Annotated[int, Field(ge=-(10**12), le=10**12)]
"""Stays far inside 2**53, so JSON, SQLite and Python agree on it."""

Amount = Annotated[
    Decimal, BeforeValidator(_widen), Field(ge=-(10**9), le=10**9, decimal_places=4, allow_inf_nan=False)
]
"""A decimal whose nearest double writes back the same digits."""

_DATE = Field(ge=date(1900, 1, 1), le=date(2199, 12, 31))


class IntegerGrid(Strict):
    """Integers from `low` to at most `high`, `step` apart."""

    low: Integer
    high: Integer
    step: Annotated[int, Field(ge=1, le=10**9)] = 1

    @property
    def count(self) -> int:
        """Return how many values the range holds."""
        return (self.high - self.low) // self.step + 1

    def at(self, index: int) -> int:
        """Return the value at `index`, 0 being `low`."""
        return self.low + index * self.step

    def near(self, value: object, offset: int) -> int:
        """Return the value `offset` steps from another one, kept inside the range."""
        assert isinstance(value, int)  # noqa: S101 - the parser matched the types
        return min(max(value + offset * self.step, self.low), self.high)


class DecimalGrid(Strict):
    """Decimals from `low` to at most `high`, `step` apart."""

    low: Amount
    high: Amount
    step: Annotated[Amount, Field(gt=0)]

    @property
    def count(self) -> int:
        """Return how many values the range holds."""
        return int((self.high - self.low) // self.step) + 1

    def at(self, index: int) -> Decimal:
        """Return the value at `index`, 0 being `low`."""
        return self.low + index * self.step

    def near(self, value: object, offset: int) -> Decimal:
        """Return the value `offset` steps from another one, kept inside the range."""
        assert isinstance(value, Decimal)  # noqa: S101 - the parser matched the types
        return min(max(value + offset * self.step, self.low), self.high)


class DateGrid(Strict):
    """Dates from `low` to at most `high`, `step` days apart."""

    low: Annotated[date, _DATE]
    high: Annotated[date, _DATE]
    step: Annotated[int, Field(ge=1, le=3660)] = 1

    @property
    def count(self) -> int:
        """Return how many values the range holds."""
        return (self.high - self.low).days // self.step + 1

    def at(self, index: int) -> date:
        """Return the value at `index`, 0 being `low`."""
        return self.low + timedelta(days=index * self.step)

    def near(self, value: object, offset: int) -> date:
        """Return the value `offset` steps from another one, kept inside the range."""
        assert isinstance(value, date)  # noqa: S101 - the parser matched the types
        return min(max(value + timedelta(days=offset * self.step), self.low), self.high)


Grid: TypeAlias = IntegerGrid | DecimalGrid | DateGrid
