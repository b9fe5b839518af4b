"""What an edition is kept under: its id, and the project too where another project's draft had that id before.

An id stands for one edition from the freeze on. Until then each project may have a draft of it, and learns nothing of
the others': not by a refusal, and not by what it reads. Keys stay inside the server, ids are what the public sees.
"""

from __future__ import annotations

from typing import Final, NewType

__all__ = ["EditionKey", "first_key", "id_of", "key_within"]

EditionKey = NewType("EditionKey", str)
_MARK: Final = "@"
"""Stands in no id of an edition or a project."""


def first_key(edition_id: str) -> EditionKey:
    """Return the key of the first edition with an id."""
    return EditionKey(edition_id)


def key_within(project: str, edition_id: str) -> EditionKey:
    """Return the key of a project's edition whose id was another project's first."""
    return EditionKey(f"{edition_id}{_MARK}{project}")


def id_of(key: str) -> str:
    """Return the id of the edition with a key."""
    return key.partition(_MARK)[0]
