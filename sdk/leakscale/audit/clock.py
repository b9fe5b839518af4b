"""The time that an audit's records carry: the clock of whoever wrote them, and no proof of anything."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["utc_now"]


def utc_now() -> datetime:
    """Return the time, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
