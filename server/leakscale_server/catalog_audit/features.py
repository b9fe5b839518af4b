"""What an attacker can read off the public bytes of a family, as columns of 0 and 1.

The attacker is asked which of four displayed candidates is right, so there is a row for each candidate. A leak is most
often a relation, such as *the key's last digit is the place* or *in this shape it is the largest*. So a row says what
the candidate is, which numbers of its family point to its place, and how its places go with what its family is.

A feature is a word; its column is a digest of it, the same in every process.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from leakscale.models import Family
from leakscale_server.core.format.candidates import CANDIDATE_COUNT

__all__ = ["PublicFamily", "Rows", "read_features"]

_COLUMN_COUNT: Final = 1 << 13
"""Short enough that a product of two vectors is not worth a second thread to the linear algebra library: on a busy
machine, its threads wait for each other longer than they work."""
_KEY_DIGITS: Final = 8
_SQUARE: Final = 16
"""Families that share a Latin square of display positions."""


@dataclass(frozen=True, slots=True)
class PublicFamily:
    """Everything public about one family."""

    rings: Sequence[Family]
    """R0 first."""
    condition: str
    ordinal: int
    """0-based within shape and condition, as the stream of certification shows it."""
    place: int
    """0-based in the edition's order, which is that of family ids."""
    certificate: bytes = b""
    """Its signed payload, where there is one."""

    @property
    def cell(self) -> str:
        """Return the name of its shape and condition."""
        return f"{self.rings[0].shape_id}/{self.condition}"


@dataclass(frozen=True, slots=True)
class Rows:
    """Features of candidates, four rows in display order for each family."""

    relations: csr_array
    """What a candidate is, what points to its place, and its places within shape, order and key."""
    words: csr_array
    """The same, and its places beside every word of the text."""
    families: csr_array
    """One row for each family: what it is."""


def read_features(families: Sequence[PublicFamily]) -> Rows:
    """Return the features of every candidate."""
    relations: list[list[str]] = []
    words: list[list[str]] = []
    for family in families:
        context, text = _context(family), _words(family)
        for own, places in _candidates(family):
            near = [*own, *places, *(f"{place}, {each}" for place in places for each in context)]
            relations.append(near)
            words.append([*near, *(f"{place}, {word}" for place in places for word in text)])
    return Rows(_matrix(relations), _matrix(words), _matrix([_context(each) + _words(each) for each in families]))


def _matrix(rows: Sequence[Sequence[str]]) -> csr_array:
    columns = [[zlib.crc32(name.encode()) % _COLUMN_COUNT for name in row] for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    indices = np.fromiter((column for row in columns for column in row), dtype=np.int64, count=int(starts[-1]))
    return csr_array((np.ones(len(indices)), indices, starts), shape=(len(rows), _COLUMN_COUNT))


def _candidates(family: PublicFamily) -> Iterator[tuple[list[str], list[str]]]:
    """Yield for each candidate what it is by itself, and its places: on display, and in several orders."""
    candidates = family.rings[0].candidates
    values = [json.loads(candidate.answer)["choice"] for candidate in candidates]
    texts = [candidate.text for candidate in candidates]
    orders = {
        "value": _ranks([_sortable(value) for value in values]),
        "text": _ranks(texts),
        "length": _ranks([len(text) for text in texts]),
        "digest": _ranks([hashlib.sha256(text.encode()).digest() for text in texts]),
    }
    numbers = _numbers(family)
    for position, (value, text) in enumerate(zip(values, texts, strict=True)):
        ranks = {"position": position, **{name: order[position] for name, order in orders.items()}}
        own = [
            f"is {text}",
            f"type {type(value).__name__}",
            f"length {len(text)}",
            *(f"letter {place} {letter}" for place, letter in enumerate(text)),
            *_pointers(numbers, ranks),
        ]
        yield own, [f"{name} {rank}" for name, rank in ranks.items()]


def _pointers(numbers: Mapping[str, int], ranks: Mapping[str, int]) -> Iterator[str]:
    """Yield each number of a family that, taken by fours, is the candidate's place."""
    for what, number in numbers.items():
        for name, rank in ranks.items():
            yield from [f"{what} points to {name}"] * (number % CANDIDATE_COUNT == rank)
            yield from [f"{what} points to {name} from behind"] * (-number % CANDIDATE_COUNT == rank)


def _numbers(family: PublicFamily) -> dict[str, int]:
    """Return the numbers of a family; any of them could be the right place in disguise."""
    exact = family.rings[0]
    key, name = int(exact.key[2:], 16), int(exact.family_id[2:], 16)
    return {
        **{f"digit {place} of the key": key >> 4 * place for place in range(_KEY_DIGITS)},
        "half a digit of the key": key >> 2,
        "sum of the key": sum(int(digit, 16) for digit in exact.key[2:]),
        "digest of the key": hashlib.sha256(exact.key.encode()).digest()[-1],
        "id": name,
        "start of the id": name >> 44,
        "order": family.place,
        "order by fours": family.place // CANDIDATE_COUNT,
        "ordinal": family.ordinal,
        "row": family.ordinal // CANDIDATE_COUNT,
        "diagonal": family.ordinal + family.ordinal // CANDIDATE_COUNT,
        **{f"length of {ring.ring}": len(ring.task) + sum(map(len, ring.inputs)) for ring in family.rings},
        **{f"length of the task of {ring.ring}": len(ring.task) for ring in family.rings},
        "length of the certificate": len(family.certificate),
    }


def _context(family: PublicFamily) -> list[str]:
    exact = family.rings[0]
    return [
        f"shape {exact.shape_id}",
        f"cell {family.cell}",
        f"ordinal {family.ordinal % _SQUARE}",
        f"shape {exact.shape_id} and ordinal {family.ordinal % CANDIDATE_COUNT}",
        *(f"digit {place} {digit}" for place, digit in enumerate(exact.key[2:])),
    ]


def _words(family: PublicFamily) -> list[str]:
    """Return the words of a family's prompts in every ring, and how long they are."""
    texts = {ring.ring.value: "\n".join((ring.task, *ring.inputs)) for ring in family.rings}
    return [
        *(f"{ring} says {word}" for ring, text in texts.items() for word in sorted(set(re.findall(r"\w+", text)))),
        *(f"{ring} has {len(text)}" for ring, text in texts.items()),
    ]


def _sortable(value: Any) -> tuple[str, Any]:
    """Return a value that sorts beside others of its kind; numbers are of one kind."""
    if value is None or isinstance(value, bool):
        return type(value).__name__, bool(value)
    return ("number" if isinstance(value, int | float) else "text"), value


def _ranks(values: Sequence[Any]) -> list[int]:
    """Return how many values are smaller than each one."""
    return [sum(other < value for other in values) for value in values]
