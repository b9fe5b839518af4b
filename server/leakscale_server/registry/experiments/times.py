"""Moments as text."""

from __future__ import annotations

from datetime import datetime

__all__ = ["time_text"]


def time_text(moment: datetime) -> str:
    """Write a moment so that texts are in the order of time."""
    return moment.isoformat(timespec="microseconds")
