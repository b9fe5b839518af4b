"""What of an edition is looked for, and what meeting it is worth.

| kind | what | evidence |
|---|---|---|
| `key` | policy key of a family, 32 bits that nobody else drew | yes |
| `family-id` | id of a family, 48 bits | yes |
| `8-gram` | eight words in a row of a task or an input line, in any ring | of the edition or another of its shapes |
| `handle` | name of an SQL candidate, 16 bits | beside its family's key or another of its handles; else counted |
| `value` | literal of a candidate, such as `42` | never by itself; looked for beside its family's key |
| `canary`, `other-key` | what has the form of a grant's marker; only the server knows whose it is | see `markers` |

The words around every task (`Pick one candidate`) are those of every edition, and not looked for.
"""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from leakscale.freshness.scan.folding import fold_text
from leakscale.models import Family

__all__ = ["GRAM_WORDS", "Kind", "Needle", "Needles", "needles_of"]

GRAM_WORDS: Final = 8
_HANDLE: Final = re.compile(r"h_[0-9a-f]{4}")


class Kind(enum.StrEnum):
    """What was met."""

    KEY = "key"
    FAMILY_ID = "family-id"
    GRAM = "8-gram"
    HANDLE = "handle"
    VALUE = "value"
    CANARY = "canary"
    OTHER_KEY = "other-key"


@dataclass(frozen=True, slots=True)
class Needle:
    """Words that are looked for."""

    kind: Kind
    text: str
    """As the edition writes it; an 8-gram folded."""
    families: tuple[str, ...]
    """Ids of the families that have it, in order."""


@dataclass(frozen=True, slots=True, eq=False)
class Needles:
    """All that is looked for of one edition."""

    by_form: Mapping[bytes, Needle]
    """By the folded form, which no two share."""
    handles: Mapping[str, tuple[bytes, ...]]
    """Folded handles of each SQL family, by its id."""
    values: Mapping[str, tuple[tuple[str, bytes], ...]]
    """Answers of each family and their folded forms, by its id; handles of SQL included."""
    keys: Mapping[str, bytes]
    """Folded key of each family, by its id."""

    def count(self, kind: Kind) -> int:
        """Return how many there are of a kind."""
        return sum(needle.kind is kind for needle in self.by_form.values())


def needles_of(families: Iterable[Family]) -> Needles:
    """Collect what is looked for.

    Args:
        families: Of one edition, each in every ring that it has; the same family may come several times.
    """
    found: dict[tuple[Kind, bytes], tuple[str, set[str]]] = {}
    handles: defaultdict[str, tuple[bytes, ...]] = defaultdict(tuple)
    values: dict[str, tuple[tuple[str, bytes], ...]] = {}
    keys: dict[str, bytes] = {}

    def add(kind: Kind, text: str, family: Family, form: bytes) -> None:
        found.setdefault((kind, form), (text, set()))[1].add(family.family_id)

    for family in families:
        keys[family.family_id] = fold_text(family.key)
        add(Kind.KEY, family.key, family, keys[family.family_id])
        add(Kind.FAMILY_ID, family.family_id, family, fold_text(family.family_id))
        values[family.family_id] = tuple((each.text, fold_text(each.text)) for each in family.candidates)
        for text, form in values[family.family_id]:
            if _HANDLE.fullmatch(text):
                add(Kind.HANDLE, text, family, form)
        handles[family.family_id] = tuple(form for text, form in values[family.family_id] if _HANDLE.fullmatch(text))
        for line in (family.task, *family.inputs):
            for gram in _grams(line):
                add(Kind.GRAM, gram.decode().strip(), family, gram)
    by_form = {form: Needle(kind, text, tuple(sorted(ids))) for (kind, form), (text, ids) in sorted(found.items())}
    return Needles(by_form, handles, values, keys)


def _grams(text: str) -> Iterable[bytes]:
    words = fold_text(text).split()
    for start in range(len(words) - GRAM_WORDS + 1):
        yield b" " + b" ".join(words[start : start + GRAM_WORDS]) + b" "
