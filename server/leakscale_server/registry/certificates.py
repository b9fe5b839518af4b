"""Certificates of the families of every edition; the first of a family stays."""

from __future__ import annotations

from leakscale.models import Condition
from leakscale_server.core.building.families import FamilySlot
from leakscale_server.registry.edition import Edition, SignedCertificate
from leakscale_server.store.database import InsertOnlyDatabase, Row

__all__ = ["Certificates"]


class Certificates:
    """The certificates of one server."""

    def __init__(self, registry: InsertOnlyDatabase) -> None:
        self._registry = registry

    def find(self, edition: Edition, slot: FamilySlot) -> SignedCertificate | None:
        """Return the certificate of a family, if it has one."""
        row = self._registry.row(
            "SELECT * FROM certificates WHERE edition_id = ? AND shape_id = ? AND condition = ? AND ordinal = ?",
            (edition.key, slot.shape_id, slot.condition.value, slot.ordinal),
        )
        return _certificate(row) if row else None

    def of(self, edition: Edition) -> list[SignedCertificate]:
        """Return all certificates of an edition in the order of family ids."""
        query = "SELECT * FROM certificates WHERE edition_id = ? ORDER BY family_id"
        return [_certificate(row) for row in self._registry.rows(query, (edition.key,))]

    def count(self, edition_key: str) -> int:
        """Return how many families of an edition have one."""
        found = self._registry.row("SELECT count(*) AS n FROM certificates WHERE edition_id = ?", (edition_key,))
        return int(found["n"]) if found else 0

    def add(self, edition: Edition, certificate: SignedCertificate) -> None:
        """Store the certificate of a family unless it has one."""
        row: Row = {
            "edition_id": edition.key,
            "family_id": certificate.family_id,
            "shape_id": certificate.slot.shape_id,
            "condition": certificate.slot.condition.value,
            "ordinal": certificate.slot.ordinal,
            "payload": certificate.payload,
            "payload_digest": certificate.payload_digest,
            "signature": certificate.signature,
        }
        self._registry.add("certificates", [row])


def _certificate(row: Row) -> SignedCertificate:
    return SignedCertificate(
        slot=FamilySlot(row["shape_id"], Condition(row["condition"]), row["ordinal"]),
        family_id=row["family_id"],
        payload=row["payload"],
        payload_digest=row["payload_digest"],
        signature=row["signature"],
    )
