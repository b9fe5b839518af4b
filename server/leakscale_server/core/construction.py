"""Build a family from two seeds: its public tasks from the public one, its truth and fixtures from both.

A family is asked in three rings. R1 has another task and another program for the same fixtures; R2 is R0 under other
names, its fixtures holding the same values. Key, candidates, display order and truth are one for all three.

Nothing that the public sees depends on the private seed, and the private seed decides nothing but what stays private.
Every part has a stream of its own (`streams`), so families come out the same in any order, alone or in parallel.

Source: LeakScale A (construction) and B.1 (what a prompt shows).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from leakscale.models import Candidate, Condition, Domain, Family, Ring
from leakscale.prompts import compact_answer
from leakscale_server.core.assignment import (
    GROUP_SIZE,
    Permutation,
    display_permutation,
    identity_of_square,
    truth_rank,
)
from leakscale_server.core.candidates import CANDIDATE_COUNT, draw_values
from leakscale_server.core.cell_types import Words
from leakscale_server.core.fixtures import draw_data, write_fixture
from leakscale_server.core.literals import Value, literal, plain_value, python_literal
from leakscale_server.core.rendering import draw_other_words, draw_words, input_lines, render_program, render_text
from leakscale_server.core.schema import Shape
from leakscale_server.core.streams import Stream

__all__ = [
    "Construction",
    "FamilySlot",
    "RingForm",
    "construct",
    "preservation_family",
    "public_families",
    "require_unique",
]

T = TypeVar("T")

_PROTOCOL = "leakscale-construction-v1"
_PRESERVATION = "preservation"
_NONCE_BYTES = 32
_RINGS = (Ring.R0, Ring.R1, Ring.R2)


@dataclass(frozen=True, slots=True)
class FamilySlot:
    """Which family of a cell."""

    shape_id: str
    condition: Condition
    ordinal: int
    """0-based within the shape and condition."""


@dataclass(frozen=True, slots=True)
class RingForm:
    """A family in one ring. Everything but `public` is private."""

    public: Family
    programs: tuple[str, str, str, str]
    """Artifacts in display order."""
    fixtures: tuple[bytes, ...]
    """8 serialized databases (SQL) or 16 JSON arguments (Python)."""


@dataclass(frozen=True, slots=True)
class Construction:
    """One family before certification. Everything but `slot` and the public part of each form is private."""

    slot: FamilySlot
    forms: tuple[RingForm, RingForm, RingForm]
    """R0, R1 and R2; the first two share their fixtures."""
    literals: tuple[str, str, str, str]
    """The four values in display order, as programs write them; an SQL prompt shows handles instead."""
    truth: int
    """Display index of the correct candidate, 0 to 3."""
    truth_rank: int
    """Place of the correct value among the sorted candidates, 0 to 3."""
    nonce: bytes
    """32 bytes that blind the commitments of this family."""
    ordered: bool
    """Whether the order of the result's rows counts."""

    @property
    def family_id(self) -> str:
        """Return the id that the family has in every ring."""
        return self.forms[0].public.family_id

    def form(self, ring: Ring) -> RingForm:
        """Return the family in one ring."""
        return self.forms[_RINGS.index(ring)]


@dataclass(frozen=True, slots=True)
class _PublicPart:
    """What the public seed decides, with the values that an SQL prompt hides behind handles."""

    families: tuple[Family, Family, Family]
    """R0, R1 and R2."""
    words: Words
    """Names in R0 and R1."""
    other_words: Words
    """Names in R2, every one different."""
    values: tuple[Value, ...]
    """In rank order."""


def construct(
    shape: Shape,
    slot: FamilySlot,
    *,
    families_per_cell: int,
    public_seed: bytes,
    private_seed: bytes,
    attempt: int = 0,
) -> Construction:
    """Build one family.

    Args:
        shape: The parsed shape that `slot` names.
        slot: Which family.
        families_per_cell: Families of each (shape, condition); a multiple of 4. It bounds the ordinal and changes no
            byte, so an edition can grow without its families changing.
        public_seed: At least 16 bytes; may be published.
        private_seed: 32 secret bytes.
        attempt: Redraws the fixtures and nothing else, for when they do not tell the candidates apart. Were the truth
            redrawn too, rejections would tilt it towards values that are easy to separate.

    Raises:
        ValueError: If the slot is not of this shape or outside the cell, or a seed is too short.
    """
    _require_slot(shape, slot, families_per_cell)
    permutation, part = _build_slot(shape, slot, public_seed)
    cell = (shape.id, slot.condition.value)

    # The public seed is a label of every private stream: one private seed under two public ones gives two truths.
    private = (_PROTOCOL, public_seed, *cell)
    group = slot.ordinal // GROUP_SIZE
    rank = truth_rank(Stream(private_seed, *private, "truth", group), ordinal=slot.ordinal)
    data = [
        draw_data(shape, part.values, seed=private_seed, labels=(*private, "fixture", slot.ordinal, attempt, index))
        for index in range(shape.fixture_count)
    ]
    fixtures = tuple(write_fixture(shape, each, part.words) for each in data)
    other_fixtures = tuple(write_fixture(shape, each, part.other_words) for each in data)
    exact, reworded, renamed = part.families
    return Construction(
        slot=slot,
        forms=(
            RingForm(exact, _programs(shape, Ring.R0, part.words, part.values, permutation), fixtures),
            RingForm(reworded, _programs(shape, Ring.R1, part.words, part.values, permutation), fixtures),
            RingForm(renamed, _programs(shape, Ring.R2, part.other_words, part.values, permutation), other_fixtures),
        ),
        literals=_in_display_order(permutation, [literal(shape.language, value) for value in part.values]),
        truth=permutation[rank],
        truth_rank=rank,
        nonce=Stream(private_seed, *private, "nonce", slot.ordinal).take(_NONCE_BYTES),
        ordered=shape.is_ordered,
    )


def public_families(
    shape: Shape, slot: FamilySlot, *, families_per_cell: int, public_seed: bytes
) -> tuple[Family, Family, Family]:
    """Build the public part of a family in R0, R1 and R2, the same that `construct` builds, without anything private.

    Raises:
        ValueError: If the slot is not of this shape or outside the cell.
    """
    _require_slot(shape, slot, families_per_cell)
    return _build_slot(shape, slot, public_seed)[1].families


def preservation_family(shape: Shape, ordinal: int, *, public_seed: bytes) -> Family:
    """Build a public-format task in R0 that is never banked and has no association.

    Its labels name no condition, so it shares no stream with any family of an edition.
    """
    permutation = display_permutation(Stream(public_seed, _PROTOCOL, _PRESERVATION, shape.id, ordinal), row=0)
    return _build_public(shape, (shape.id, _PRESERVATION, ordinal), permutation, public_seed).families[0]


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


def _build_slot(shape: Shape, slot: FamilySlot, public_seed: bytes) -> tuple[Permutation, _PublicPart]:
    cell = (shape.id, slot.condition.value)
    square, row = identity_of_square(slot.ordinal)
    permutation = display_permutation(Stream(public_seed, _PROTOCOL, "square", *cell, square), row=row)
    return permutation, _build_public(shape, (*cell, slot.ordinal), permutation, public_seed)


def _build_public(
    shape: Shape, labels: tuple[str | int, ...], permutation: Permutation, public_seed: bytes
) -> _PublicPart:
    def stream(purpose: str) -> Stream:
        return Stream(public_seed, _PROTOCOL, "public", *labels, purpose)

    words = draw_words(shape, stream("words"))
    other_words = draw_other_words(shape, words, stream("words-r2"))
    values = tuple(draw_values(shape.candidates, stream("values")))
    handles = _draw_handles(stream("handles"))
    placed = _in_display_order(permutation, values)
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
    return _PublicPart(families, words, other_words, values)


def _programs(
    shape: Shape, ring: Ring, words: Words, values: tuple[Value, ...], permutation: Permutation
) -> tuple[str, str, str, str]:
    """Render the four artifacts in display order."""
    templates = shape.rings.text(ring).templates
    # Whole programs belong to an ascending pool of four: the place in it is the rank.
    artifacts = [
        render_program(templates[rank % len(templates)], shape.language, words, value)
        for rank, value in enumerate(values)
    ]
    return _in_display_order(permutation, artifacts)


def _in_display_order(permutation: Permutation, ranked: Sequence[T]) -> tuple[T, T, T, T]:
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
