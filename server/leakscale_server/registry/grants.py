"""Exposure grants: issued for a frozen edition, redeemed by one request."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from leakscale_server.errors import AlreadyDone, DigestConflict, InvalidRequest, NotFound
from leakscale_server.identity.bootstrap import BOOTSTRAP_PROJECT
from leakscale_server.registry.names import check_id
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["Grant", "GrantRegistry"]

_PRESERVATION_MAX: Final = 65_536


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission to read the associations of an edition's C2 families once."""

    grant_id: str
    edition_id: str
    preservation_count: int
    create_time: datetime
    redeem_time: datetime | None


class GrantRegistry:
    """Grants of one server."""

    def __init__(self, registry: InsertOnlyDatabase, ledger: Ledger) -> None:
        self._registry = registry
        self._ledger = ledger

    def create(self, edition_id: str, *, preservation_count: int, request_id: str) -> Grant:
        """Issue a grant; the same request id returns the same grant.

        Raises:
            InvalidRequest: If the count or the request id breaks a rule.
            DigestConflict: If the request id was used with another count.
        """
        check_id(request_id, field="request_id")
        if not 0 <= preservation_count <= _PRESERVATION_MAX:
            raise InvalidRequest(
                f"preservation_count {preservation_count} is not in 0 to {_PRESERVATION_MAX}",
                subject="preservation_count",
            )
        with self._registry.transaction():
            row: Row = {
                "grant_id": f"g-{secrets.token_hex(8)}",
                "edition_id": edition_id,
                "preservation_count": preservation_count,
                "request_id": request_id,
                "create_time": datetime.now(UTC).isoformat(),
            }
            if self._registry.add("grants", [row]):
                self._ledger.append(
                    "grant-issued", {"edition": edition_id, "grant": row["grant_id"]}, project=BOOTSTRAP_PROJECT
                )
            stored = self._registry.row(
                "SELECT * FROM grants WHERE edition_id = ? AND request_id = ?", (edition_id, request_id)
            )
        if stored is None or stored["preservation_count"] != preservation_count:
            raise DigestConflict(
                f"request id {request_id!r} issued another grant before; use a new one", subject=request_id
            )
        return self._grant(stored)

    def redeem(self, grant_id: str, *, edition_id: str, request_id: str) -> Grant:
        """Mark a grant as redeemed by a request; the same request may come again.

        Raises:
            NotFound: If the edition has no such grant.
            AlreadyDone: If another request redeemed it.
        """
        check_id(request_id, field="request_id")
        name = f"editions/{edition_id}/grants/{grant_id}"
        with self._registry.transaction():
            stored = self._registry.row(
                "SELECT * FROM grants WHERE grant_id = ? AND edition_id = ?", (grant_id, edition_id)
            )
            if stored is None:
                raise NotFound(f"grant {name!r} does not exist on this server", subject=name)
            row = {"grant_id": grant_id, "request_id": request_id, "redeem_time": datetime.now(UTC).isoformat()}
            if self._registry.add("redemptions", [row]):
                self._ledger.append(
                    "grant-redeemed", {"edition": edition_id, "grant": grant_id}, project=BOOTSTRAP_PROJECT
                )
            redemption = self._registry.row("SELECT * FROM redemptions WHERE grant_id = ?", (grant_id,))
        if redemption is None or redemption["request_id"] != request_id:
            raise AlreadyDone(f"grant {name!r} was redeemed by another request; issue a new grant", subject=name)
        return self._grant(stored)

    def _grant(self, row: Row) -> Grant:
        redemption = self._registry.row("SELECT * FROM redemptions WHERE grant_id = ?", (row["grant_id"],))
        return Grant(
            grant_id=row["grant_id"],
            edition_id=row["edition_id"],
            preservation_count=row["preservation_count"],
            create_time=datetime.fromisoformat(row["create_time"]),
            redeem_time=datetime.fromisoformat(redemption["redeem_time"]) if redemption else None,
        )
