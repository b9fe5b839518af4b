"""The life of an edition: draft → certified → frozen → (exposed) → retired, each with who and when.

An edition is exposed once the corpus of a grant has left the server: from then on somebody holds its C2 associations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from leakscale.models import EditionPhase
from leakscale_server.store.database import InsertOnlyDatabase

__all__ = ["Lifecycle", "Transition"]


@dataclass(frozen=True, slots=True)
class Transition:
    """A phase that an edition reached."""

    phase: EditionPhase
    time: datetime
    principal: str
    """Who brought it there; empty for an exposure, whose holder is the grant's business."""


class Lifecycle:
    """Phases that the editions of a server reached. A phase once reached stays, with the first who and when."""

    def __init__(
        self, registry: InsertOnlyDatabase, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._registry = registry
        self._now = now

    def reach(self, edition_id: str, phase: EditionPhase, *, principal: str) -> datetime:
        """Enter a phase and return when it was reached. Call it inside the transaction that makes it true."""
        row = {
            "edition_id": edition_id,
            "phase": phase.value,
            "time": self._now().isoformat(),
            "principal": principal,
        }
        self._registry.add("transitions", [row])
        found = self._registry.row(
            "SELECT time FROM transitions WHERE edition_id = ? AND phase = ?", (edition_id, phase.value)
        )
        assert found is not None  # noqa: S101 - added above, or before
        return datetime.fromisoformat(found["time"])

    def of(self, edition_id: str) -> tuple[Transition, ...]:
        """Return the phases that an edition reached, in their order."""
        rows = self._registry.rows("SELECT * FROM transitions WHERE edition_id = ?", (edition_id,))
        reached = [
            Transition(EditionPhase(row["phase"]), datetime.fromisoformat(row["time"]), row["principal"])
            for row in rows
        ]
        exposed = self._registry.row(
            "SELECT min(redeem_time) AS time FROM redemptions JOIN grants USING (grant_id) WHERE edition_id = ?",
            (edition_id,),
        )
        if exposed is not None and exposed["time"] is not None:
            reached.append(Transition(EditionPhase.EXPOSED, datetime.fromisoformat(exposed["time"]), ""))
        order = list(EditionPhase)
        return tuple(sorted(reached, key=lambda transition: order.index(transition.phase)))
