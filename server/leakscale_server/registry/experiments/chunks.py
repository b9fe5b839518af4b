"""Answers of a bank, stored as the chunks in which they came: one row a chunk, whole or not at all.

A case is known by its place among the cases of its bank, in the order of (family id, draw). What an order of upload, a
repetition or a restart leaves is the same bank: chunks are put in order when they are read.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from leakscale.answers import ANSWERS_PER_CHUNK_MAX, CHUNK_BYTES_MAX, answer_line
from leakscale.models import Answer
from leakscale_server.errors import (
    AnswerTooLong,
    BankSealed,
    CaseDuplicate,
    CaseUnknown,
    DigestConflict,
    InvalidRequest,
)
from leakscale_server.store.database import InsertOnlyDatabase, Row

__all__ = ["ANSWER_BYTES_MAX", "AnswerChunk", "BankCases", "BankKey", "ChunkStore", "PlacedChunk", "StoredChunk"]

ANSWER_BYTES_MAX: Final = 4096
_NUMBER_MAX: Final = 2**20
_COVERED_COUNT_MAX: Final = 64
"""Banks of which it is remembered which cases have their answer; of others it is read again."""


@dataclass(frozen=True, slots=True)
class AnswerChunk:
    """Answers as a client sends them."""

    number: int
    digest: bytes
    """SHA-256 over their lines, as the client counts it."""
    answers: Sequence[Answer]


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk that is there, without its answers."""

    number: int
    digest: bytes
    answer_count: int


@dataclass(frozen=True, slots=True)
class BankKey:
    """Where a bank is."""

    project: str
    experiment_id: str
    bank_id: str


@dataclass(frozen=True, slots=True)
class BankCases:
    """The cases of a bank: each draw of each family."""

    places: Mapping[str, int]
    """Place of each family among the bank's, by id."""
    draw_count: int

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.places) * self.draw_count

    def place(self, answer: Answer) -> int:
        """Return the place of the case that an answer is to.

        Raises:
            CaseUnknown: If the bank has no such case.
        """
        family = self.places.get(answer.family_id)
        if family is None:
            raise CaseUnknown(f"family {answer.family_id[:80]!r} is not in this bank", subject="answers.family_id")
        if not 0 <= answer.draw < self.draw_count:
            raise CaseUnknown(
                f"draw {answer.draw} of family {answer.family_id!r} is not in 0 to {self.draw_count - 1}",
                subject="answers.draw",
            )
        return family * self.draw_count + answer.draw

    def name(self, place: int) -> str:
        """Name the case at a place, for a message."""
        family, draw = divmod(place, self.draw_count)
        return f"case ({list(self.places)[family]}, draw {draw})"


@dataclass(frozen=True, slots=True)
class PlacedChunk:
    """A chunk that fits its bank, ready to be stored."""

    number: int
    digest: bytes
    places: tuple[int, ...]
    lines: bytes

    @classmethod
    def of(cls, chunk: AnswerChunk, cases: BankCases) -> PlacedChunk:
        """Find the place of every answer.

        Raises:
            InvalidRequest: If it is empty, too large, or its number or digest is wrong.
            CaseUnknown: If a case is not the bank's.
            AnswerTooLong: If an answer is.
            CaseDuplicate: If a case occurs twice in it.
        """
        if not 0 <= chunk.number < _NUMBER_MAX:
            raise InvalidRequest(f"chunk number {chunk.number} is not in 0 to {_NUMBER_MAX - 1}", subject="number")
        if not 1 <= len(chunk.answers) <= ANSWERS_PER_CHUNK_MAX:
            raise InvalidRequest(
                f"chunk {chunk.number} carries {len(chunk.answers)} answers; use 1 to {ANSWERS_PER_CHUNK_MAX}",
                subject="answers",
            )
        places = tuple(_fitting_place(answer, cases) for answer in chunk.answers)
        if len(set(places)) < len(places):
            twice = next(one for one, other in pairwise(sorted(places)) if one == other)
            raise CaseDuplicate(
                f"{cases.name(twice)} occurs twice in chunk {chunk.number}; one case has one terminal answer",
                subject="answers",
            )
        lines = b"".join(map(answer_line, chunk.answers))
        if len(lines) > CHUNK_BYTES_MAX:
            raise InvalidRequest(
                f"chunk {chunk.number} has {len(lines)} bytes; at most {CHUNK_BYTES_MAX}, so send fewer answers in it",
                subject="answers",
            )
        if hashlib.sha256(lines).digest() != chunk.digest:
            raise InvalidRequest(
                f"chunk {chunk.number} is not what its digest says; send the SHA-256 of its answers' canonical lines",
                subject="digest",
            )
        return cls(chunk.number, chunk.digest, places, lines)


def _fitting_place(answer: Answer, cases: BankCases) -> int:
    place = cases.place(answer)
    if len(answer.text) > ANSWER_BYTES_MAX or len(answer.text.encode()) > ANSWER_BYTES_MAX:
        raise AnswerTooLong(
            f"the answer to ({answer.family_id}, draw {answer.draw}) is longer than {ANSWER_BYTES_MAX} bytes; submit "
            "what the model gave up to there",
            subject="answers.text",
        )
    return place


class ChunkStore:
    """Chunks of every bank, in the registry."""

    def __init__(self, registry: InsertOnlyDatabase) -> None:
        self._registry = registry
        self._covered: dict[BankKey, _Covered] = {}

    def add(self, key: BankKey, chunk: PlacedChunk, *, cases: BankCases, principal: str, is_closed: bool) -> None:
        """Store a chunk; one that is there already is left alone. Call it inside a transaction.

        Args:
            key: The bank.
            chunk: What to store.
            cases: Of the bank.
            principal: Who submits it.
            is_closed: Whether the bank takes no more answers.

        Raises:
            DigestConflict: If its number is taken by other answers.
            BankSealed: If it is new, and the bank is closed.
            CaseDuplicate: If a case has its answer in another chunk.
        """
        for stored in self._rows(key, "digest", "AND number = ?", chunk.number):
            if stored["digest"] != chunk.digest:
                raise DigestConflict(
                    f"chunk {chunk.number} of bank {key.bank_id!r} is there with other answers; one case has one "
                    "terminal answer, so send what is new under a new number",
                    subject=key.bank_id,
                )
            return
        if is_closed:
            raise BankSealed(
                f"bank {key.bank_id!r} is sealed and takes no more answers; chunk {chunk.number} is not among those "
                "that it has",
                subject=key.bank_id,
            )
        covered = self._coverage(key, cases)
        for place in chunk.places:
            if covered.flags[place]:
                raise CaseDuplicate(
                    f"{cases.name(place)} of bank {key.bank_id!r} has its answer already, in another chunk; one case "
                    "has one terminal answer",
                    subject=key.bank_id,
                )
        row = {
            "project": key.project,
            "experiment_id": key.experiment_id,
            "bank_id": key.bank_id,
            "number": chunk.number,
            "digest": chunk.digest,
            "principal": principal,
            "answer_count": len(chunk.places),
            "places": struct.pack(f"<{len(chunk.places)}I", *chunk.places),
            "lines": chunk.lines,
        }
        self._registry.add("chunks", [row])

    def answered_count(self, key: BankKey) -> int:
        """Return how many cases of a bank have their answer."""
        (row,) = self._rows(key, "total(answer_count) AS answered")
        return int(row["answered"])

    def listed(self, key: BankKey, *, start: int, limit: int) -> list[StoredChunk]:
        """List the chunks of a bank from a number on, in their order."""
        rows = self._rows(key, "number, digest, answer_count", "AND number >= ? ORDER BY number LIMIT ?", start, limit)
        return [StoredChunk(row["number"], row["digest"], row["answer_count"]) for row in rows]

    def principals(self, project: str, experiment_id: str) -> frozenset[str]:
        """Return who submitted answers to an experiment."""
        query = "SELECT DISTINCT principal FROM chunks WHERE project = ? AND experiment_id = ?"
        return frozenset(row["principal"] for row in self._registry.rows(query, (project, experiment_id)))

    def first_missing(self, key: BankKey, cases: BankCases) -> int | None:
        """Return the place of the first case without an answer, or None where all have theirs."""
        place = self._coverage(key, cases).flags.find(0)
        return None if place < 0 else place

    def lines(self, key: BankKey, cases: BankCases) -> bytes:
        """Return all answers of a complete bank as lines, in the order of its cases."""
        found: list[bytes] = [b""] * cases.count
        for row in self._rows(key, "places, lines"):
            for place, line in zip(_unpacked(row["places"]), row["lines"].splitlines(keepends=True), strict=True):
                found[place] = line
        return b"".join(found)

    def _coverage(self, key: BankKey, cases: BankCases) -> _Covered:
        """Return which cases have their answer. Rows only come, so what was read of them stays true."""
        covered = self._covered.pop(key, None) or _Covered(bytearray(cases.count), set())
        for row in self._rows(key, "number"):
            if row["number"] not in covered.numbers:
                (stored,) = self._rows(key, "places", "AND number = ?", row["number"])
                covered.numbers.add(row["number"])
                for place in _unpacked(stored["places"]):
                    covered.flags[place] = 1
        self._covered[key] = covered
        if len(self._covered) > _COVERED_COUNT_MAX:
            del self._covered[next(iter(self._covered))]
        return covered

    def _rows(self, key: BankKey, columns: str, more: str = "", *parameters: int) -> list[Row]:
        query = f"SELECT {columns} FROM chunks WHERE project = ? AND experiment_id = ? AND bank_id = ? {more}"  # noqa: S608 - words are ours
        return self._registry.rows(query, (key.project, key.experiment_id, key.bank_id, *parameters))


@dataclass(frozen=True, slots=True)
class _Covered:
    flags: bytearray
    """1 for each case that has its answer."""
    numbers: set[int]
    """Chunks that are counted in."""


def _unpacked(places: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(places) // 4}I", places)
