"""Limits of the wire and of calls, each with its unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "CHUNK_BYTES",
    "ENTRIES_PER_PAGE",
    "FAMILIES_PER_PAGE",
    "MESSAGE_BYTES_MAX",
    "PAGE_SIZE_MAX",
    "RECORDS_PER_MESSAGE",
    "TRACED_BYTES_MAX",
    "CallLimits",
]

CHUNK_BYTES: Final = 1024 * 1024
MESSAGE_BYTES_MAX: Final = 4 * 1024 * 1024
PAGE_SIZE_MAX: Final = 1000
FAMILIES_PER_PAGE: Final = 500
ENTRIES_PER_PAGE: Final = 500
RECORDS_PER_MESSAGE: Final = 256
TRACED_BYTES_MAX: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of the calls that a server handles."""

    stream_count_max: int = 48
    """Streams of everybody. A stream holds its thread for as long as its client likes, so some stay free."""
    idle_stream_s: float = 120.0
    """How long the client of a stream may do nothing, neither send nor take a message, before the stream is ended."""
    principal_stream_count_max: int = 16
    """Streams of one principal."""
    principal_call_count_max: int = 48
    """Calls of one principal, streams among them."""
    principal_calls_per_s: float = 500.0
    """Calls of one principal that may begin in a second, on average; 0: any number."""
    stranger_calls_per_s: float = 20.0
    """Calls without a valid token from one address that are told so in a second, on average; 0: any number."""
    burst_s: float = 2.0
    """Seconds that a principal or an address may save up: after a rest it may begin so many seconds' calls at once."""
