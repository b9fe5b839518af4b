"""Options that more than one command takes, with the range that the wire or a generator gives them."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Final

import typer

__all__ = ["COUNT_MAX", "SEED_MAX", "lifetime_of", "public_key_of"]

COUNT_MAX: Final = 2**31 - 1
SEED_MAX: Final = 2**63 - 1
_KEY: Final = re.compile(r"[0-9a-f]{64}")
_DAYS_MAX: Final = 36_525.0


def lifetime_of(days: float, *, option: str) -> timedelta:
    """Return a number of days, to the second.

    Raises:
        typer.BadParameter: If it is none (`nan`), negative, or more than a century.
    """
    if not 0 <= days <= _DAYS_MAX:
        raise typer.BadParameter(f"{days:g} is no number of days from 0 to {_DAYS_MAX:g}", param_hint=option)
    return timedelta(seconds=round(days * 86_400))


def public_key_of(text: str) -> bytes:
    """Return a server's key, given as hexadecimal digits or as a file that holds them.

    Raises:
        typer.BadParameter: If it is neither.
    """
    digits = text.strip()
    if not _KEY.fullmatch(digits.lower()) and Path(text).is_file():
        digits = Path(text).read_text(encoding="ascii", errors="replace").strip()
    if not _KEY.fullmatch(digits.lower()):
        raise typer.BadParameter(
            f"{text[:80]!r} is neither 64 hexadecimal digits nor a file that holds them; `leakscale server status` "
            "prints the key",
            param_hint="--public-key",
        )
    return bytes.fromhex(digits)
