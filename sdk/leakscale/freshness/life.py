"""The life of an edition: when it was frozen, exposed by which grant, disclosed and retired, as the ledger tells it.

Times are the server's own word, signed with the entry that has them; their order it cannot change afterwards.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from leakscale.errors import IntegrityError, NotFoundError
from leakscale.models import EditionPhase, LedgerEntry
from leakscale.tables import Table, TableHead
from leakscale.verify.directory import ServerDirectory, facts_of, read_entries

if TYPE_CHECKING:
    from leakscale.client import Client

__all__ = ["LIFE", "LifeEvent", "LifeRow", "edition_life", "life_from_export", "life_from_ledger", "life_table"]

LIFE: Final = TableHead("", "life", "Life of the edition")


class LifeEvent(enum.StrEnum):
    """What happened to an edition."""

    FROZEN = "frozen"
    EXPOSED = "exposed"
    DISCLOSED = "disclosed"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class LifeRow:
    """One event."""

    event: LifeEvent
    time: str
    """UTC, ISO 8601."""
    ledger_entry: int | None
    """Its position in the ledger; None where the caller may not read the entry."""
    what: str
    """Grant or experiment; empty for the edition itself."""


_KINDS: Final[Mapping[str, tuple[LifeEvent, str]]] = {
    "edition-frozen": (LifeEvent.FROZEN, ""),
    "grant-redeemed": (LifeEvent.EXPOSED, "grant"),
    "experiment-disclosed": (LifeEvent.DISCLOSED, "experiment"),
    "edition-retired": (LifeEvent.RETIRED, ""),
}


def life_from_ledger(entries: Iterable[LedgerEntry], *, edition_id: str) -> tuple[LifeRow, ...]:
    """Return what the readable entries of a ledger say of an edition, in their order."""
    experiments: set[str] = set()
    rows = []
    for entry in entries:
        facts = facts_of(entry)
        if facts.get("edition") == edition_id and facts.get("kind") == "experiment-registered":
            experiments.add(facts["experiment"])
        is_own = facts.get("edition") == edition_id or facts.get("experiment") in experiments
        if is_own and facts.get("kind") in _KINDS:
            event, name = _KINDS[facts["kind"]]
            rows.append(LifeRow(event, facts["time"], entry.position, facts.get(name, "")))
    return tuple(rows)


def edition_life(client: Client, name: str) -> tuple[LifeRow, ...]:
    """Return what a server's ledger says of an edition to this caller.

    Args:
        client: Of the server.
        name: `editions/{edition}`.

    Grants and experiments of other projects are not shown, but for the time at which the edition was first exposed.
    """
    edition = client.editions.get(name)
    rows = life_from_ledger(client.ledger.entries(), edition_id=name.rpartition("/")[2])
    if any(row.event is LifeEvent.EXPOSED for row in rows):
        return rows
    unseen = (
        LifeRow(LifeEvent.EXPOSED, each.time.isoformat(timespec="seconds"), None, "")
        for each in edition.transitions
        if each.phase is EditionPhase.EXPOSED
    )
    return tuple(sorted((*rows, *unseen), key=lambda row: row.time))


def life_from_export(folder: Path, *, edition_id: str) -> tuple[LifeRow, ...]:
    """Return what an exported ledger says of an edition. It is not verified; `leakscale verify` does that.

    Raises:
        NotFoundError: If there is no ledger in the folder, or no entry of such an edition.
        IntegrityError: If it cannot be read.
    """
    path = ServerDirectory(folder).ledger
    try:
        rows = life_from_ledger(read_entries(path), edition_id=edition_id)
    except FileNotFoundError as error:
        raise NotFoundError(f"'{folder}' has no ledger; write one with `leakscale ledger export`") from error
    except ValueError as error:
        raise IntegrityError(f"'{path}' is damaged: {error}; export it again") from error
    if not rows:
        raise NotFoundError(f"the ledger in '{folder}' has no entry of edition '{edition_id}' that you may read")
    return rows


def life_table(rows: Iterable[LifeRow]) -> Table[LifeRow]:
    """Arrange a life as a table."""
    return LIFE.filled(rows, "Times are the server's word; `leakscale verify` checks the order of the entries.")
