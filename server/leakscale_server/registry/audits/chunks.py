"""Answers to forms as they come in: a row a chunk, sealed to the vault; here only their places are known.

Each principal fills an answer set of its own, so that nobody stands in another's way; the first that seals has it.
Until then a chunk that is sent again, from another folder, takes the place of the one before: nothing was told of it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from leakscale_server.errors import BankIncomplete, CaseDuplicate, DigestConflict, InvalidRequest
from leakscale_server.registry.audits.audit import SetKey
from leakscale_server.store.database import InsertOnlyDatabase, Row

__all__ = ["FormChunk", "FormChunks"]

_OF_SET = "project = ? AND audit_id = ? AND variant = ? AND bank = ? AND model_id = ? AND principal = ?"
_PLACE_BYTES = 4
_CHUNKS_MIN = 64
"""Chunks that a principal may send to any set; to a larger one as many as it has answers."""
_VERSIONS_MAX = 8
"""How often a number may be taken: a stream without end would fill the registry."""


@dataclass(frozen=True, slots=True)
class FormChunk:
    """A chunk that is there, without its answers."""

    number: int
    digest: bytes
    answer_count: int


class FormChunks:
    """The chunks of every answer set of one registry."""

    def __init__(self, registry: InsertOnlyDatabase) -> None:
        self._registry = registry

    def has(self, key: SetKey, principal: str, *, number: int, digest: bytes) -> bool:
        """Tell whether a chunk is there already, and counts."""
        rows = self._rows(key, principal, "digest", "AND number = ? ORDER BY version", number)
        return bool(rows) and rows[-1]["digest"] == digest

    def add(
        self,
        key: SetKey,
        principal: str,
        *,
        number: int,
        digest: bytes,
        sealed: bytes,
        places: bytes,
        case_count: int,
    ) -> None:
        """Store a chunk that was judged and is not there; call it inside a transaction.

        Raises:
            InvalidRequest: If no set of so many answers has its number, or the set has too many chunks.
            DigestConflict: If its number was taken too often.
        """
        if number >= case_count:
            raise InvalidRequest(
                f"number {number} is not below {case_count}, the answers of set {key.name!r}; number chunks from 0",
                subject="number",
            )
        chunk_count_max = max(_CHUNKS_MIN, case_count)
        if len(self._rows(key, principal, "number")) >= chunk_count_max:
            raise InvalidRequest(
                f"answer set {key.name!r} has {chunk_count_max} chunks of yours, those that were replaced among them, "
                "which is the most; seal what is there, or go on by another principal",
                subject="number",
            )
        version = len(self._rows(key, principal, "version", "AND number = ?", number))
        if version == _VERSIONS_MAX:
            raise DigestConflict(
                f"chunk {number} of answer set {key.name!r} was sent {version} times with other answers, which is the "
                "most; go on with the last of them, or by another principal",
                subject=key.name,
            )
        row: Row = {
            "project": key.project,
            "audit_id": key.audit_id,
            "variant": key.variant,
            "bank": key.bank,
            "model_id": key.model_id,
            "principal": principal,
            "number": number,
            "version": version,
            "digest": digest,
            "answer_count": len(places) // _PLACE_BYTES,
            "case_count": case_count,
            "places": places,
            "sealed": sealed,
        }
        self._registry.add("form_chunks", [row])

    def listed(self, key: SetKey, principal: str, *, start: int, limit: int) -> list[FormChunk]:
        """List the chunks of a principal from a number on, in their order."""
        # Of columns beside max(), SQLite gives those of the row that has it.
        more = "AND number >= ? GROUP BY number ORDER BY number LIMIT ?"
        rows = self._rows(key, principal, "number, digest, answer_count, max(version)", more, start, limit)
        return [FormChunk(row["number"], row["digest"], row["answer_count"]) for row in rows]

    def whole(self, key: SetKey, principal: str, *, chunk_count: int) -> list[FormChunk]:
        """Return the chunks that make a complete set, in their order; those of higher numbers are left out.

        Raises:
            BankIncomplete: If one is missing, or an answer is.
            CaseDuplicate: If two answer one form.
        """
        columns = "number, digest, answer_count, case_count, places, max(version)"
        rows = self._rows(key, principal, columns, "AND number < ? GROUP BY number ORDER BY number", chunk_count)
        if [row["number"] for row in rows] != list(range(chunk_count)):
            raise BankIncomplete(
                f"answer set {key.name!r} has {len(rows)} chunks of yours, and chunks 0 to {chunk_count - 1} are to "
                "make it; submit what is missing, then seal",
                subject=key.name,
            )
        answered, case_count = len(self._places(rows)), rows[0]["case_count"]
        if answered < sum(row["answer_count"] for row in rows):
            raise CaseDuplicate(
                f"answer set {key.name!r} has two answers to one form, in two chunks of yours; send each answer once",
                subject=key.name,
            )
        if answered != case_count:
            raise BankIncomplete(
                f"answer set {key.name!r} has {answered} of {case_count} answers; submit the rest, then seal",
                subject=key.name,
            )
        return [FormChunk(row["number"], row["digest"], row["answer_count"]) for row in rows]

    def _places(self, rows: list[Row]) -> set[int]:
        return {place for row in rows for place in _unpacked(row["places"])}

    def _rows(self, key: SetKey, principal: str, columns: str, more: str = "", *parameters: int) -> list[Row]:
        query = f"SELECT {columns} FROM form_chunks WHERE {_OF_SET} {more}"  # noqa: S608 - words are ours
        place = (key.project, key.audit_id, key.variant, key.bank, key.model_id, principal)
        return self._registry.rows(query, (*place, *parameters))


def _unpacked(places: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(places) // _PLACE_BYTES}I", places)
