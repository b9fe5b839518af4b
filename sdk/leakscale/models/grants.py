"""Exposure grants: requested, approved, redeemed, met again."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

__all__ = [
    "Grant",
    "GrantPhase",
    "GrantTrace",
]


class GrantPhase(enum.StrEnum):
    """Where an exposure grant is in its life."""

    REQUESTED = "requested"
    """Waits for approval."""
    APPROVED = "approved"
    """May be redeemed by its holder."""
    REDEEMED = "redeemed"
    """Was redeemed; its corpus may have left the server."""
    EXPIRED = "expired"
    """Was approved, and its time is over."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission to read the associations of an edition's C2 families once."""

    name: str
    """`editions/{edition}/grants/{grant}`."""
    phase: GrantPhase
    holder: str
    """Principal that asked for it, and alone may redeem it."""
    holder_key: bytes
    """Raw X25519 public key that its corpus is sealed to, 32 bytes."""
    preservation_count: int
    create_time: datetime
    approver: str
    """Principal that approved it; empty until then."""
    approve_time: datetime | None
    expire_time: datetime | None
    """From when on it opens nothing."""
    redeem_time: datetime | None


@dataclass(frozen=True, slots=True)
class GrantTrace:
    """What of one grant's corpus stands in a text."""

    grant: str
    """`editions/{edition}/grants/{grant}`."""
    markers: tuple[str, ...]
    """The canary, and keys of decoys."""
