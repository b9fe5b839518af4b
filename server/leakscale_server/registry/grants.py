"""Exposure grants: requested by a holder, approved by somebody of the edition's project, redeemed once.

Source: DESIGN of exposure grants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from leakscale.digests import canonical_json
from leakscale.models import GrantPhase
from leakscale.sealing import is_holder_key
from leakscale_server.errors import AlreadyDone, DigestConflict, GrantNotOpen, InvalidRequest, NotFound, ScopeMissing
from leakscale_server.identity.caller import Caller
from leakscale_server.registry.names import check_id
from leakscale_server.registry.parties import require_apart_to_redeem
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["LIFETIME_MAX", "LIFETIME_MIN", "Grant", "GrantRegistry"]

LIFETIME_MIN: Final = timedelta(minutes=1)
LIFETIME_MAX: Final = timedelta(days=7)
_PRESERVATION_MAX: Final = 65_536


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission to read the associations of an edition's C2 families once."""

    grant_id: str
    edition_id: str
    project: str
    """Of the holder."""
    holder: str
    """Principal that asked for it."""
    holder_key: bytes
    preservation_count: int
    create_time: datetime
    approver: str
    approve_time: datetime | None
    expire_time: datetime | None
    redeem_time: datetime | None

    @property
    def name(self) -> str:
        """Resource name."""
        return f"editions/{self.edition_id}/grants/{self.grant_id}"

    def phase(self, now: datetime) -> GrantPhase:
        """Tell where it is in its life."""
        if self.redeem_time is not None:
            return GrantPhase.REDEEMED
        if self.expire_time is None:
            return GrantPhase.REQUESTED
        return GrantPhase.APPROVED if now < self.expire_time else GrantPhase.EXPIRED


class GrantRegistry:
    """Grants of one server.

    Args:
        registry: Where they are kept.
        ledger: Where each step is entered.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        ledger: Ledger,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._now = now

    def request(
        self, edition_id: str, caller: Caller, *, holder_key: bytes, preservation_count: int, request_id: str
    ) -> Grant:
        """Ask for a grant; the same request again returns the same grant.

        Raises:
            InvalidRequest: If the key, the count or the request id breaks a rule.
            DigestConflict: If the request id asked for something else before.
        """
        check_id(request_id, field="request_id")
        if not 0 <= preservation_count <= _PRESERVATION_MAX:
            raise InvalidRequest(
                f"preservation_count {preservation_count} is not in 0 to {_PRESERVATION_MAX}",
                subject="preservation_count",
            )
        if not is_holder_key(holder_key):
            raise InvalidRequest(
                f"holder_key of {len(holder_key)} bytes is no X25519 public key of 32; make one with "
                "`leakscale.sealing.HolderKey`",
                subject="holder_key",
            )
        with self._registry.transaction():
            row: Row = {
                "grant_id": _grant_id(edition_id, caller, request_id),
                "edition_id": edition_id,
                "project": caller.project,
                "holder": caller.principal,
                "holder_key": holder_key,
                "preservation_count": preservation_count,
                "request_id": request_id,
                "create_time": self._now().isoformat(),
            }
            if self._registry.add("grants", [row]):
                self._enter("grant-requested", edition_id, row["grant_id"], caller)
            stored = self._registry.row(
                "SELECT * FROM grants WHERE edition_id = ? AND project = ? AND holder = ? AND request_id = ?",
                (edition_id, caller.project, caller.principal, request_id),
            )
        asked = {name: row[name] for name in ("holder_key", "preservation_count")}
        if stored is None or any(stored[name] != value for name, value in asked.items()):
            raise DigestConflict(
                f"request id {request_id!r} asked for another grant before, with another key or count; use a new one",
                subject=request_id,
            )
        return self._grant(stored)

    def approve(self, grant: Grant, caller: Caller, *, lifetime: timedelta) -> Grant:
        """Approve a request until its lifetime is over; approved already, that approval stands.

        Raises:
            InvalidRequest: If the lifetime is out of range.
            GrantNotOpen: If it was approved before, and that approval has expired.
        """
        if not LIFETIME_MIN <= lifetime <= LIFETIME_MAX:
            raise InvalidRequest(
                f"lifetime {lifetime.total_seconds() / 86400:.12g} days is not in one minute to seven days",
                subject="lifetime",
            )
        now = self._now()
        row: Row = {
            "grant_id": grant.grant_id,
            "approver": caller.principal,
            "approve_time": now.isoformat(),
            "expire_time": (now + lifetime).isoformat(),
        }
        with self._registry.transaction():
            if self._registry.add("grant_approvals", [row]):
                self._enter("grant-approved", grant.edition_id, grant.grant_id, caller)
        approved = self.get(grant.edition_id, grant.grant_id)
        if approved.phase(now) is GrantPhase.EXPIRED:
            self._require_open(approved)
        return approved

    def redeem(self, grant: Grant, caller: Caller, *, request_id: str) -> Grant:
        """Mark a grant as redeemed by a request of its holder; the same request may come again until it expires.

        Raises:
            ScopeMissing: If the caller is not the holder.
            GrantNotOpen: If it waits for approval, or has expired.
            PartiesMixed: If the holder submitted answers in an experiment on a private edition that is not marked.
            AlreadyDone: If another request redeemed it.
        """
        check_id(request_id, field="request_id")
        if (caller.project, caller.principal) != (grant.project, grant.holder):
            raise ScopeMissing(
                f"grant {grant.name!r} is redeemed by its holder; ask for one of your own", subject=grant.name
            )
        with self._registry.transaction():
            self._require_open(grant)
            require_apart_to_redeem(self._registry, grant.edition_id, principal=caller.principal)
            row: Row = {
                "grant_id": grant.grant_id,
                "request_id": request_id,
                "principal": caller.principal,
                "redeem_time": self._now().isoformat(),
            }
            if self._registry.add("redemptions", [row]):
                self._enter("grant-redeemed", grant.edition_id, grant.grant_id, caller)
            redemption = self._registry.row("SELECT * FROM redemptions WHERE grant_id = ?", (grant.grant_id,))
        if redemption is None or redemption["request_id"] != request_id:
            raise AlreadyDone(
                f"grant {grant.name!r} was redeemed by another request id; repeat that one, or ask for a new grant",
                subject=grant.name,
            )
        return self.get(grant.edition_id, grant.grant_id)

    def get(self, edition_id: str, grant_id: str) -> Grant:
        """Return a grant.

        Raises:
            NotFound: If the edition has none of that id.
        """
        row = self._registry.row("SELECT * FROM grants WHERE grant_id = ? AND edition_id = ?", (grant_id, edition_id))
        if row is None:
            name = f"editions/{edition_id}/grants/{grant_id}"
            raise NotFound(f"grant {name!r} does not exist on this server", subject=name)
        return self._grant(row)

    def of_edition(self, edition_id: str) -> list[Grant]:
        """Return every grant of an edition, newest first."""
        query = "SELECT * FROM grants WHERE edition_id = ? ORDER BY create_time DESC, grant_id"
        return [self._grant(row) for row in self._registry.rows(query, (edition_id,))]

    def redeemers(self, edition_id: str) -> frozenset[str]:
        """Return the principals that redeemed a grant of an edition."""
        query = "SELECT DISTINCT principal FROM redemptions JOIN grants USING (grant_id) WHERE edition_id = ?"
        return frozenset(row["principal"] for row in self._registry.rows(query, (edition_id,)))

    def phase(self, grant: Grant) -> GrantPhase:
        """Tell where a grant is in its life now."""
        return grant.phase(self._now())

    def _require_open(self, grant: Grant) -> None:
        if grant.expire_time is None:
            raise GrantNotOpen(
                f"grant {grant.name!r} waits for approval; somebody of the edition's project runs "
                f"`leakscale grant approve {grant.name}`",
                subject=grant.name,
            )
        if self._now() >= grant.expire_time:
            raise GrantNotOpen(
                f"grant {grant.name!r} expired at {grant.expire_time:%Y-%m-%d %H:%M:%S} UTC; ask for a new one",
                subject=grant.name,
            )

    def _enter(self, kind: str, edition_id: str, grant_id: str, caller: Caller) -> None:
        body = {"edition": edition_id, "grant": grant_id, "by": caller.principal}
        self._ledger.append(kind, body, project=caller.project)

    def _grant(self, row: Row) -> Grant:
        approval = self._registry.row("SELECT * FROM grant_approvals WHERE grant_id = ?", (row["grant_id"],)) or {}
        redemption = self._registry.row("SELECT * FROM redemptions WHERE grant_id = ?", (row["grant_id"],)) or {}
        return Grant(
            grant_id=row["grant_id"],
            edition_id=row["edition_id"],
            project=row["project"],
            holder=row["holder"],
            holder_key=row["holder_key"],
            preservation_count=row["preservation_count"],
            create_time=datetime.fromisoformat(row["create_time"]),
            approver=approval.get("approver", ""),
            approve_time=_time(approval.get("approve_time")),
            expire_time=_time(approval.get("expire_time")),
            redeem_time=_time(redemption.get("redeem_time")),
        )


def _grant_id(edition_id: str, caller: Caller, request_id: str) -> str:
    """Name a grant after who asked for what, so that a study that is repeated has the same decoys, and the same result.

    A guessed name opens nothing: a grant is seen by two projects, and redeemed by its holder.
    """
    asked = canonical_json([edition_id, caller.project, caller.principal, request_id])
    return f"g-{hashlib.sha256(asked).hexdigest()[:16]}"


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
