"""Build a family from two seeds: its public task from the public one, its truth and fixtures from both.

Nothing that the public sees depends on the private seed, and the private seed decides nothing but what stays private.
Every part has a stream of its own (`streams`), so families come out the same in any order, alone or in parallel.

Source: LeakScale A (construction) and B.1 (what a prompt shows).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
from leakscale_server.core.fixtures import draw_fixture
from leakscale_server.core.literals import Value, plain_value, python_literal
from leakscale_server.core.rendering import draw_words, input_lines, render_program, render_text
from leakscale_server.core.schema import Shape
from leakscale_server.core.streams import Stream

__all__ = ["Construction", "FamilySlot", "construct", "preservation_family", "public_family", "require_unique"]

_PROTOCOL = "leakscale-construction-v1"
_PRESERVATION = "preservation"
_NONCE_BYTES = 32


@dataclass(frozen=True, slots=True)
class FamilySlot:
    """Which family of a cell."""

    shape_id: str
    condition: Condition
    ordinal: int
    """0-based within the shape and condition."""


@dataclass(frozen=True, slots=True)
class Construction:
    """One family before certification. Everything but `public` and `slot` is private."""

    slot: FamilySlot
    public: Family
    truth: int
    """Display index of the correct candidate, 0 to 3."""
    truth_rank: int
    """Place of the correct value among the sorted candidates, 0 to 3."""
    nonce: bytes
    """32 bytes that blind the commitments of this family."""
    programs: tuple[str, str, str, str]
    """Artifacts in display order."""
    fixtures: tuple[bytes, ...]
    """8 serialized databases (SQL) or 16 JSON arguments (Python)."""
    ordered: bool
    """Whether the order of the result's rows counts."""


@dataclass(frozen=True, slots=True)
class _PublicPart:
    """What the public seed decides, with the values that an SQL prompt hides behind handles."""

    family: Family
    words: dict[str, str]
    values: tuple[Value, ...]
    """Ascending, so that the index is the rank."""


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
    first, second, third, fourth = (
        render_program(shape, part.words, part.values[permutation.index(position)])
        for position in range(CANDIDATE_COUNT)
    )
    return Construction(
        slot=slot,
        public=part.family,
        truth=permutation[rank],
        truth_rank=rank,
        nonce=Stream(private_seed, *private, "nonce", slot.ordinal).take(_NONCE_BYTES),
        programs=(first, second, third, fourth),
        fixtures=tuple(
            draw_fixture(
                shape,
                part.words,
                part.values,
                seed=private_seed,
                labels=(*private, "fixture", slot.ordinal, attempt, index),
            )
            for index in range(shape.fixture_count)
        ),
        ordered=shape.is_ordered,
    )


def public_family(shape: Shape, slot: FamilySlot, *, families_per_cell: int, public_seed: bytes) -> Family:
    """Build the public part of a family, the same that `construct` builds, without anything private.

    Raises:
        ValueError: If the slot is not of this shape or outside the cell.
    """
    _require_slot(shape, slot, families_per_cell)
    return _build_slot(shape, slot, public_seed)[1].family


def preservation_family(shape: Shape, ordinal: int, *, public_seed: bytes) -> Family:
    """Build a public-format task that is never banked and has no association.

    Its labels name no condition, so it shares no stream with any family of an edition.
    """
    permutation = display_permutation(Stream(public_seed, _PROTOCOL, _PRESERVATION, shape.id, ordinal), row=0)
    return _build_public(shape, (shape.id, _PRESERVATION, ordinal), permutation, public_seed).family


def require_unique(families: Iterable[Family]) -> None:
    """Check that no two families share an id or a key.

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
    values = tuple(draw_values(shape.candidates.pool, shape.candidates.range, stream("values")))
    handles = _draw_handles(stream("handles"))
    shown = [
        _show(shape.language, values[permutation.index(position)], handles[position])
        for position in range(CANDIDATE_COUNT)
    ]
    first, second, third, fourth = shown
    family = Family(
        family_id=f"f-{stream('id').hex(12)}",
        domain=shape.language,
        shape_id=shape.id,
        ring=Ring.R0,
        task=render_text(shape.rings.R0.task, words),
        inputs=input_lines(shape, words),
        key=f"K-{stream('key').hex(8)}",
        candidates=(first, second, third, fourth),
    )
    return _PublicPart(family, words, values)


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
