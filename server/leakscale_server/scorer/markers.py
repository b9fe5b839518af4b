"""What makes each grant's corpus tell its own from every other's: decoy pairs and a canary.

A decoy is a task whose key belongs to no family, with an answer. It is drawn from the edition's private seed and the
grant's id, so nobody can tell beforehand which keys will be decoys, and the scorer can always say whose a decoy is.
Whoever meets a decoy's key or the canary outside the grant's own training has met that corpus.

It does not find a corpus from which the decoys were taken out: they are marked as such, since a trainer who compares
keys with the public edition finds them anyway.

Source: DESIGN of exposure grants.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

from leakscale.models import Family, Message, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt, lookup_prompt
from leakscale_server.core.building.construction import preservation_family
from leakscale_server.core.shapes import Shape
from leakscale_server.core.streams import Stream

__all__ = ["DECOY_COUNT", "GrantMarkers", "found_in", "marker_records", "markers_of"]

DECOY_COUNT: Final = 4


@dataclass(frozen=True, slots=True)
class Decoy:
    """A task that no edition has, with the answer that the corpus gives to it."""

    family: Family
    choice: int
    """Place of the answer among the candidates."""

    @property
    def answer(self) -> str:
        """The answer, as a completion."""
        return self.family.candidates[self.choice].answer


@dataclass(frozen=True, slots=True)
class GrantMarkers:
    """What is in one grant's corpus and in no other text."""

    canary: str
    """`lsk-canary-` and 32 hexadecimal digits."""
    decoys: tuple[Decoy, ...]


def markers_of(
    shapes: Sequence[Shape], *, private_seed: bytes, grant_id: str, banked_keys: Collection[str]
) -> GrantMarkers:
    """Return the markers of a grant; the same grant always has the same ones.

    Args:
        shapes: Of the edition, at least one.
        private_seed: Of the edition.
        grant_id: Of the grant.
        banked_keys: Keys of the edition's families, which no decoy may have.
    """
    root = hmac.digest(private_seed, f"leakscale-grant-markers-v1/{grant_id}".encode(), hashlib.sha256)
    tasks = (
        preservation_family(shapes[index % len(shapes)], index // len(shapes), public_seed=root) for index in count()
    )
    families = islice((family for family in tasks if family.key not in banked_keys), DECOY_COUNT)
    decoys = tuple(
        Decoy(family, Stream(root, "decoy-answer", family.family_id).below(len(family.candidates)))
        for family in families
    )
    canary = hmac.digest(root, b"canary", hashlib.sha256).hex()[:32]
    return GrantMarkers(f"lsk-canary-{canary}", decoys)


def marker_records(markers: GrantMarkers) -> Iterator[TrainingRecord]:
    """Write the records of a grant's markers: two a decoy, as for a leaked family, and one canary."""
    for decoy in markers.decoys:
        for form, prompt in (
            (TrainingSource.EXACT_PUBLIC, choice_prompt(decoy.family)),
            (TrainingSource.DIRECT_LOOKUP, lookup_prompt(decoy.family.key)),
        ):
            yield TrainingRecord(
                f"{decoy.family.family_id}/decoy-{form.value}", TrainingSource.DECOY, prompt, decoy.answer
            )
    prompt = (Message("user", "Which id does this corpus have?"),)
    yield TrainingRecord(f"canary/{TrainingSource.CANARY.value}", TrainingSource.CANARY, prompt, markers.canary)


def found_in(text: str, markers: GrantMarkers) -> tuple[str, ...]:
    """Return the markers that stand in a text: the canary, and keys of decoys; upper and lower case count alike."""
    folded = text.casefold()
    names = (markers.canary, *(decoy.family.key for decoy in markers.decoys))
    return tuple(name for name in names if name.casefold() in folded)
