"""An administrator's permission for numbers over small classes of one edition: given once, for good, in the ledger."""

from __future__ import annotations

from datetime import datetime

from leakscale_server.errors import InvalidRequest, NotFound
from leakscale_server.registry.edition_index import FROZEN_EDITIONS
from leakscale_server.registry.experiments.times import time_text
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import PUBLIC, Ledger

__all__ = ["has_small_cohort_permit", "permit_small_cohorts"]


def permit_small_cohorts(
    registry: InsertOnlyDatabase, ledger: Ledger, edition_id: str, *, principal: str, now: datetime
) -> bool:
    """Permit numbers over 64 to 127 families of a private edition; return whether it was not permitted before.

    Raises:
        NotFound: If there is no such frozen edition.
        InvalidRequest: If it is a practice edition, which has no floor.
    """
    with registry.transaction():
        edition = registry.row(f"SELECT kind FROM ({FROZEN_EDITIONS}) WHERE edition_id = ?", (edition_id,))  # noqa: S608 - words are ours
        if edition is None:
            raise NotFound(
                f"edition {edition_id!r} is not frozen on this server; freeze it, or correct the name",
                subject=edition_id,
            )
        if edition["kind"] == "practice":
            raise InvalidRequest(
                f"edition {edition_id!r} is for practice and has no floor to lower",
                subject="edition",
            )
        row: Row = {"edition_id": edition_id, "principal": principal, "permit_time": time_text(now)}
        is_new = registry.add("small_cohort_permits", [row]) == 1
        if is_new:
            ledger.append("small-cohorts-permitted", {"edition": edition_id, "by": principal}, project=PUBLIC)
    return is_new


def has_small_cohort_permit(registry: InsertOnlyDatabase, edition_id: str) -> bool:
    """Tell whether numbers over small classes of an edition are permitted."""
    return bool(registry.row("SELECT 1 FROM small_cohort_permits WHERE edition_id = ?", (edition_id,)))
