"""Options that more than one command takes, with the range that the wire or a generator gives them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import typer

__all__ = ["COUNT_MAX", "SEED_MAX", "lifetime_of"]

COUNT_MAX: Final = 2**31 - 1
SEED_MAX: Final = 2**63 - 1
_DAYS_MAX: Final = 36_525.0


def lifetime_of(days: float, *, option: str) -> timedelta:
    """Return a number of days, to the second.

    Raises:
        typer.BadParameter: If it is none (`nan`), negative, or more than a century.
    """
    if not 0 <= days <= _DAYS_MAX:
        raise typer.BadParameter(f"{days:g} is no number of days from 0 to {_DAYS_MAX:g}", param_hint=option)
    return timedelta(seconds=round(days * 86_400))
