"""Which edition an id stands for: the frozen one for everybody, and before that the draft of whoever asks.

Nothing here tells a project of another's drafts: their ids are free to it.
"""

from __future__ import annotations

from typing import Final

from leakscale_server.core.edition_keys import EditionKey, first_key, id_of, key_within
from leakscale_server.store.database import InsertOnlyDatabase, Row

__all__ = ["FROZEN_EDITIONS", "EditionIndex"]

_ROWS: Final = (
    "SELECT editions.edition_id AS edition_key, project, freezes.edition_id IS NOT NULL AS is_frozen "
    "FROM editions LEFT JOIN freezes USING (edition_id)"
)
"""The column keeps its name from when every id was its own key."""


FROZEN_EDITIONS: Final = (
    "SELECT substr(edition_id, 1, instr(edition_id || '@', '@') - 1) AS edition_id, kind "
    "FROM editions JOIN freezes USING (edition_id)"
)
"""A query: the id and kind of every frozen edition."""


class EditionIndex:
    """Ids and keys of the editions of a server."""

    def __init__(self, registry: InsertOnlyDatabase) -> None:
        self._registry = registry

    def frozen(self, edition_id: str) -> EditionKey | None:
        """Return the key of the frozen edition with an id, if there is one."""
        return next((EditionKey(row["edition_key"]) for row in self._of(edition_id) if row["is_frozen"]), None)

    def own(self, edition_id: str, *, project: str) -> EditionKey | None:
        """Return the key of a project's edition with an id, frozen or not, if it has one."""
        return next((EditionKey(row["edition_key"]) for row in self._of(edition_id) if row["project"] == project), None)

    def first(self, edition_id: str) -> EditionKey | None:
        """Return the key of the first edition with an id, if there is one."""
        rows = self._of(edition_id)
        return EditionKey(rows[0]["edition_key"]) if rows else None

    def free(self, edition_id: str, *, project: str) -> EditionKey:
        """Return the key for a new draft of a project that has none with this id."""
        return key_within(project, edition_id) if self._of(edition_id) else first_key(edition_id)

    def visible(self, *, project: str | None) -> list[str]:
        """List the ids of frozen editions and of a project's drafts, newest first; None lists those of all drafts."""
        rows = self._registry.rows(f"{_ROWS} ORDER BY create_time DESC, edition_key")
        frozen = {id_of(row["edition_key"]) for row in rows if row["is_frozen"]}
        shown = (row for row in rows if row["is_frozen"] or project in (None, row["project"]))
        # An id that a draft shares with a frozen edition stands for that, in the place of that.
        ids = (
            id_of(row["edition_key"]) for row in shown if row["is_frozen"] or id_of(row["edition_key"]) not in frozen
        )
        return list(dict.fromkeys(ids))

    def _of(self, edition_id: str) -> list[Row]:
        """Return the editions with an id, the first one first."""
        query = f"{_ROWS} WHERE editions.edition_id = ? OR editions.edition_id BETWEEN ? AND ? ORDER BY edition_key"
        least, most = key_within("", edition_id), key_within("\x7f", edition_id)
        return self._registry.rows(query, (edition_id, least, most))
