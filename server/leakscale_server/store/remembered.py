"""What was read of a database, for as long as nothing was written to it; see `InsertOnlyDatabase.version`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from leakscale_server.store.database import InsertOnlyDatabase

__all__ = ["Remembered"]

T = TypeVar("T")
_COUNT_MAX: Final = 1024


class Remembered(Generic[T]):
    """Answers of reads, each believed until the next write, whoever makes it.

    Within a transaction nothing is remembered and nothing believed: what it wrote may yet be taken back.
    """

    def __init__(self, database: InsertOnlyDatabase) -> None:
        self._database = database
        self._known: tuple[object, dict[Hashable, T]] = (None, {})
        """One version and what was read of it, replaced together."""

    def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what `read` gives, from memory if it can be; what it raises is not remembered."""
        version = self._database.version
        if version is None:
            return read()
        of_version, answers = self._known
        if version != of_version or len(answers) >= _COUNT_MAX:
            answers = {}
            self._known = (version, answers)
        if key in answers:
            return answers[key]
        answer = read()
        # A write meanwhile, and nobody knows on which side of it this was read.
        if self._database.version == version:
            answers[key] = answer
        return answer
