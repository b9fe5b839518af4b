"""Limits of the wire, each with its unit."""

from __future__ import annotations

from typing import Final

__all__ = ["ENTRIES_PER_PAGE", "FAMILIES_PER_PAGE", "MESSAGE_BYTES_MAX", "PAGE_SIZE_MAX", "RECORDS_PER_MESSAGE"]

MESSAGE_BYTES_MAX: Final = 4 * 1024 * 1024
PAGE_SIZE_MAX: Final = 1000
FAMILIES_PER_PAGE: Final = 500
ENTRIES_PER_PAGE: Final = 500
RECORDS_PER_MESSAGE: Final = 256
