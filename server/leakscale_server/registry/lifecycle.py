"""The life of an edition: draft → certified → frozen → (exposed) → retired, each with who and when.

An edition is exposed once the corpus of a grant has left the server: from then on somebody holds its C2 associations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from leakscale.models import EditionPhase, SignedStatement
from leakscale_server.core.edition_keys import id_of
from leakscale_server.store.database import InsertOnlyDatabase

__all__ = ["Lifecycle", "ShownEdition", "Transition"]


@dataclass(frozen=True, slots=True)
class Transition:
    """A phase that an edition reached."""

    phase: EditionPhase
    time: datetime
    principal: str
    """Who brought it there; empty for an exposure, whose holder is the grant's business."""


class ShownEdition(Protocol):
    """What of an edition callers are shown, wherever it is kept."""

    @property
    def edition_id(self) -> str:
        """Its id."""

    @property
    def kind(self) -> str:
        """`practice` or `private`."""

    @property
    def phase(self) -> EditionPhase:
        """Where it is in its life."""

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """Phases that it reached, in their order."""

    @property
    def families_per_cell(self) -> int:
        """Families of one shape and condition."""

    @property
    def shape_ids(self) -> tuple[str, ...]:
        """Its shapes."""

    @property
    def certified_count(self) -> int:
        """Families that have their certificate."""

    @property
    def family_count(self) -> int:
        """Families that it will have."""

    @property
    def commitment_root(self) -> bytes:
        """Root over the commitments; empty in a draft."""

    @property
    def certificates_digest(self) -> bytes:
        """SHA-256 over the digests of all certificates; empty in a draft."""

    @property
    def create_time(self) -> datetime:
        """When its draft was made."""

    @property
    def freeze_time(self) -> datetime | None:
        """When it was frozen."""

    @property
    def freeze_statement(self) -> SignedStatement | None:
        """What the server states of a frozen one."""

    @property
    def retirement_statement(self) -> SignedStatement | None:
        """What the server states of a retired one."""


class Lifecycle:
    """Phases that the editions of a server reached. A phase once reached stays, with the first who and when."""

    def __init__(
        self, registry: InsertOnlyDatabase, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._registry = registry
        self._now = now

    def reach(self, key: str, phase: EditionPhase, *, principal: str) -> datetime:
        """Enter a phase and return when it was reached. Call it inside the transaction that makes it true."""
        row = {
            "edition_id": key,
            "phase": phase.value,
            "time": self._now().isoformat(),
            "principal": principal,
        }
        self._registry.add("transitions", [row])
        found = self._registry.row(
            "SELECT time FROM transitions WHERE edition_id = ? AND phase = ?", (key, phase.value)
        )
        assert found is not None  # noqa: S101 - added above, or before
        return datetime.fromisoformat(found["time"])

    def of(self, key: str) -> tuple[Transition, ...]:
        """Return the phases that an edition reached, in their order."""
        rows = self._registry.rows("SELECT * FROM transitions WHERE edition_id = ?", (key,))
        reached = [
            Transition(EditionPhase(row["phase"]), datetime.fromisoformat(row["time"]), row["principal"])
            for row in rows
        ]
        exposed = self._registry.row(
            "SELECT min(redeem_time) AS time FROM redemptions JOIN grants USING (grant_id) WHERE edition_id = ?",
            (id_of(key),),
        )
        # Grants are of the frozen edition with an id; a draft may have the same one.
        is_frozen = any(each.phase is EditionPhase.FROZEN for each in reached)
        if is_frozen and exposed is not None and exposed["time"] is not None:
            reached.append(Transition(EditionPhase.EXPOSED, datetime.fromisoformat(exposed["time"]), ""))
        order = list(EditionPhase)
        return tuple(sorted(reached, key=lambda transition: order.index(transition.phase)))
