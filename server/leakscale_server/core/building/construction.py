"""Build a family from two seeds: its public tasks from the public one, its truth and fixtures from both.

A family is asked in three rings. R1 has another task and another program for the same fixtures; R2 is R0 under other
names, its fixtures holding the same values. Key, candidates, display order and truth are one for all three.

Nothing that the public sees depends on the private seed, and the private seed decides nothing but what stays private.
Every part has a stream of its own (`streams`), so families come out the same in any order, alone or in parallel.

Source: LeakScale A (construction) and B.1 (what a prompt shows).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from leakscale.models import Family, Ring
from leakscale_server.core.building.assignment import GROUP_SIZE, truth_rank
from leakscale_server.core.building.cell_types import Words
from leakscale_server.core.building.expected import Outputs, expected_outputs
from leakscale_server.core.building.families import (
    PROTOCOL,
    FamilySlot,
    PublicPart,
    build_public_part,
    in_display_order,
    preservation_family,
    public_families,
    require_unique,
)
from leakscale_server.core.building.fixtures import Fixture, draw_data, write_fixture
from leakscale_server.core.building.given import read_given
from leakscale_server.core.building.rendering import render_program
from leakscale_server.core.format.schema import Shape
from leakscale_server.core.literals import literal
from leakscale_server.core.streams import Stream

__all__ = [
    "Construction",
    "DrawnAssociation",
    "FamilySlot",
    "RingForm",
    "construct",
    "draw_association",
    "preservation_family",
    "public_families",
    "require_unique",
]

_NONCE_BYTES: Final = 32
_RINGS: Final = tuple(Ring)


@dataclass(frozen=True, slots=True)
class RingForm:
    """A family in one ring. Everything but `public` is private."""

    public: Family
    programs: tuple[str, str, str, str]
    """Artifacts in display order."""
    fixtures: tuple[bytes, ...]
    """8 serialized databases (SQL) or 16 JSON arguments (Python)."""
    contents: tuple[bytes, ...]
    """What each fixture holds, as JSON that is the same on every machine."""
    outputs: Outputs | None
    """What each program must return on each fixture, in display order, where the author says so."""


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
    other_names: Mapping[str, str]
    """The name in R2 of each name in R0."""

    @property
    def family_id(self) -> str:
        """Return the id that the family has in every ring."""
        return self.forms[0].public.family_id

    @property
    def outputs(self) -> dict[Ring, Outputs]:
        """Return what programs must return in each ring, where the author says so."""
        return {form.public.ring: form.outputs for form in self.forms if form.outputs is not None}

    def form(self, ring: Ring) -> RingForm:
        """Return the family in one ring."""
        return self.forms[_RINGS.index(ring)]


@dataclass(frozen=True, slots=True)
class DrawnAssociation:
    """What the private seed decides of one family besides its fixtures."""

    truth: int
    """Display index of the correct candidate, 0 to 3."""
    truth_rank: int
    nonce: bytes


def draw_association(
    part: PublicPart, slot: FamilySlot, *, public_seed: bytes, private_seed: bytes
) -> DrawnAssociation:
    """Draw the association of a family, of which the public part is built: the same that `construct` draws."""
    private = _private_labels(slot, public_seed)
    group = slot.ordinal // GROUP_SIZE
    rank = truth_rank(Stream(private_seed, *private, "truth", group), ordinal=slot.ordinal)
    nonce = Stream(private_seed, *private, "nonce", slot.ordinal).take(_NONCE_BYTES)
    return DrawnAssociation(part.permutation[rank], rank, nonce)


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
            redrawn too, rejections would tilt it towards values that are easy to separate. Explicit fixtures stay.

    Raises:
        ValueError: If the slot is not of this shape or outside the cell, or a seed is too short.
    """
    part = build_public_part(shape, slot, families_per_cell=families_per_cell, public_seed=public_seed)
    private = _private_labels(slot, public_seed)
    association = draw_association(part, slot, public_seed=public_seed, private_seed=private_seed)
    data = [read_given(shape, fixture) for fixture in shape.fixtures] or [
        draw_data(shape, part.values, seed=private_seed, labels=(*private, "fixture", slot.ordinal, attempt, index))
        for index in range(shape.fixture_count)
    ]
    fixtures = [write_fixture(shape, each, part.words) for each in data]
    other_fixtures = [write_fixture(shape, each, part.other_words) for each in data]

    def form(ring: Ring, words: Words, fixtures: Sequence[Fixture]) -> RingForm:
        outputs = expected_outputs(shape, words)
        return RingForm(
            public=part.families[_RINGS.index(ring)],
            programs=_programs(shape, ring, words, part),
            fixtures=tuple(fixture.data for fixture in fixtures),
            contents=tuple(fixture.content for fixture in fixtures),
            outputs=outputs and in_display_order(part.permutation, outputs),
        )

    return Construction(
        slot=slot,
        forms=(
            form(Ring.R0, part.words, fixtures),
            form(Ring.R1, part.words, fixtures),
            form(Ring.R2, part.other_words, other_fixtures),
        ),
        literals=in_display_order(part.permutation, [literal(shape.language, value) for value in part.values]),
        truth=association.truth,
        truth_rank=association.truth_rank,
        nonce=association.nonce,
        ordered=shape.is_ordered,
        other_names={word: part.other_words[slot] for slot, word in part.words.items()},
    )


def _private_labels(slot: FamilySlot, public_seed: bytes) -> tuple[str | bytes, ...]:
    # The public seed is a label of every private stream: one private seed under two public ones gives two truths.
    return PROTOCOL, public_seed, slot.shape_id, slot.condition.value


def _programs(shape: Shape, ring: Ring, words: Words, part: PublicPart) -> tuple[str, str, str, str]:
    """Render the four artifacts in display order."""
    templates = shape.rings.text(ring).templates
    # Whole programs belong to an ascending pool of four: the place in it is the rank.
    artifacts = [
        render_program(templates[rank % len(templates)], shape.language, words, value)
        for rank, value in enumerate(part.values)
    ]
    return in_display_order(part.permutation, artifacts)
