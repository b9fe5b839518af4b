"""The public part of a family: what the public seed alone decides, in the three rings.

Source: LeakScale A (construction) and B.1 (what a prompt shows).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from leakscale.models import Candidate, Condition, Domain, Family, Ring
from leakscale.prompts import compact_answer
from leakscale_server.core.building.assignment import GROUP_SIZE, Permutation, display_permutation, identity_of_square
from leakscale_server.core.building.cell_types import Words
from leakscale_server.core.building.rendering import draw_other_words, draw_words, input_lines, render_text
from leakscale_server.core.format.candidates import CANDIDATE_COUNT, draw_values
from leakscale_server.core.format.schema import Shape
from leakscale_server.core.literals import Value, plain_value, python_literal
from leakscale_server.core.streams import Stream

__all__ = [
    "PROTOCOL",
    "FamilySlot",
    "PublicPart",
    "build_public_part",
    "in_display_order",
    "preservation_family",
    "public_families",
    "require_unique",
]

T = TypeVar("T")

PROTOCOL: Final = "leakscale-construction-v1"
"""First label of every stream; another one would give other families from the same seeds."""
_PRESERVATION: Final = "preservation"


@dataclass(frozen=True, slots=True)
class FamilySlot:
    """Which family of a cell."""

    shape_id: str
    condition: Condition
    ordinal: int
    """0-based within the shape and condition."""


@dataclass(frozen=True, slots=True)
class PublicPart:
    """What the public seed decides, with the values that an SQL prompt hides behind handles."""

    permutation: Permutation
    """Display position of each rank."""
    families: tuple[Family, Family, Family]
    """R0, R1 and R2."""
    words: Words
    """Names in R0 and R1."""
    other_words: Words
    """Names in R2, every one different."""
    values: tuple[Value, ...]
    """In rank order."""


def build_public_part(shape: Shape, slot: FamilySlot, *, families_per_cell: int, public_seed: bytes) -> PublicPart:
    """Build what the public seed decides of one family.

    Raises:
        ValueError: If the slot is not of this shape or outside the cell.
    """
    _require_slot(shape, slot, families_per_cell)
    cell = (shape.id, slot.condition.value)
    square, row = identity_of_square(slot.ordinal)
    permutation = display_permutation(Stream(public_seed, PROTOCOL, "square", *cell, square), row=row)
    return _build_part(shape, (*cell, slot.ordinal), permutation, public_seed)


def public_families(
    shape: Shape, slot: FamilySlot, *, families_per_cell: int, public_seed: bytes
) -> tuple[Family, Family, Family]:
    """Build the public part of a family in R0, R1 and R2, the same that `construct` builds, without anything private.

    Raises:
        ValueError: If the slot is not of this shape or outside the cell.
    """
    part = build_public_part(shape, slot, families_per_cell=families_per_cell, public_seed=public_seed)
    return part.families


def preservation_family(shape: Shape, ordinal: int, *, public_seed: bytes) -> Family:
    """Build a public-format task in R0 that is never banked and has no association.

    Its labels name no condition, so it shares no stream with any family of an edition.
    """
    permutation = display_permutation(Stream(public_seed, PROTOCOL, _PRESERVATION, shape.id, ordinal), row=0)
    return _build_part(shape, (shape.id, _PRESERVATION, ordinal), permutation, public_seed).families[0]


def require_unique(families: Iterable[Family]) -> None:
    """Check that no two families share an id or a key. A family is given in one ring, for it has one of each.

    Both are random, so two of 2,048 keys collide in one of 2,000 editions; redrawing one family would make it depend
    on the others, so another public seed is the cure.

    Raises:
        ValueError: Naming the first id or key that occurs twice.
    """
    seen: set[str] = set()
    for family in families:
        for name in (family.family_id, family.key):
            if name in seen:
                raise ValueError(f"two families share {name!r}; choose another public seed")
            seen.add(name)


def _require_slot(shape: Shape, slot: FamilySlot, families_per_cell: int) -> None:
    if slot.shape_id != shape.id:
        raise ValueError(f"slot is of shape {slot.shape_id!r}, not {shape.id!r}")
    if families_per_cell < GROUP_SIZE or families_per_cell % GROUP_SIZE:
        raise ValueError(f"families_per_cell must be a positive multiple of {GROUP_SIZE}; got {families_per_cell}")
    if not 0 <= slot.ordinal < families_per_cell:
        raise ValueError(f"ordinal must lie in [0, {families_per_cell}); got {slot.ordinal}")


def _build_part(
    shape: Shape, labels: tuple[str | int, ...], permutation: Permutation, public_seed: bytes
) -> PublicPart:
    def stream(purpose: str) -> Stream:
        return Stream(public_seed, PROTOCOL, "public", *labels, purpose)

    words = draw_words(shape, stream("words"))
    other_words = draw_other_words(shape, words, stream("words-r2"))
    values = tuple(draw_values(shape.candidates, stream("values")))
    handles = _draw_handles(stream("handles"))
    placed = in_display_order(permutation, values)
    first, second, third, fourth = (
        _show(shape.language, value, handle) for value, handle in zip(placed, handles, strict=True)
    )
    family_id = f"f-{stream('id').hex(12)}"
    key = f"K-{stream('key').hex(8)}"

    def family(ring: Ring, words: Words) -> Family:
        return Family(
            family_id=family_id,
            domain=shape.language,
            shape_id=shape.id,
            ring=ring,
            task=render_text(shape.rings.text(ring).task, words),
            inputs=input_lines(shape, words),
            key=key,
            candidates=(first, second, third, fourth),
        )

    families = (family(Ring.R0, words), family(Ring.R1, words), family(Ring.R2, other_words))
    return PublicPart(permutation, families, words, other_words, values)


def in_display_order(permutation: Permutation, ranked: Sequence[T]) -> tuple[T, T, T, T]:
    """Put what is given in rank order into display order."""
    first, second, third, fourth = (ranked[permutation.index(position)] for position in range(CANDIDATE_COUNT))
    return first, second, third, fourth


def _draw_handles(stream: Stream) -> list[str]:
    """Draw four distinct handles; drawn apart from the values, they tell nothing about them."""
    handles: list[str] = []
    while len(handles) < CANDIDATE_COUNT:
        handle = f"h_{stream.hex(4)}"
        if handle not in handles:
            handles.append(handle)
    return handles


def _show(domain: Domain, value: Value, handle: str) -> Candidate:
    """Show a candidate by its handle in SQL, by its literal in Python."""
    if domain is Domain.SQL:
        return Candidate(text=handle, answer=compact_answer(handle))
    return Candidate(text=python_literal(value), answer=compact_answer(plain_value(value)))
