"""Truth ranks and display positions are balanced exactly, and public bytes leave every candidate at one in four."""

from __future__ import annotations

from collections import Counter

import pytest

from leakscale.models import Condition
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.shapes import Shape

PUBLIC = b"public seed, 16+"
PRIVATE = b"private seed of thirty-two bytes"


def a_cell(shape: Shape, *, families_per_cell: int, condition: Condition = Condition.C0) -> list[Construction]:
    return [
        construct(
            shape,
            FamilySlot(shape.id, condition, ordinal),
            families_per_cell=families_per_cell,
            public_seed=PUBLIC,
            private_seed=PRIVATE,
        )
        for ordinal in range(families_per_cell)
    ]


@pytest.mark.parametrize("condition", Condition)
def test_sixteen_families_cover_each_rank_and_position_once(shapes: dict[str, Shape], condition: Condition) -> None:
    """In every cell by itself, so that no condition leans on a rank or a place."""
    for shape in shapes.values():
        cell = a_cell(shape, families_per_cell=16, condition=condition)

        assert {(family.truth_rank, family.truth) for family in cell} == {(r, p) for r in range(4) for p in range(4)}


@pytest.mark.parametrize("size", [4, 8, 12])
def test_smaller_cells_cover_each_rank_and_each_position_equally(shapes: dict[str, Shape], size: int) -> None:
    for shape in shapes.values():
        cell = a_cell(shape, families_per_cell=size)

        assert set(Counter(family.truth_rank for family in cell).values()) == {size // 4}
        assert set(Counter(family.truth for family in cell).values()) == {size // 4}
        assert len({(family.truth_rank, family.truth) for family in cell}) == size


def test_thirty_two_families_cover_each_pair_twice(shapes: dict[str, Shape]) -> None:
    cell = a_cell(shapes["sql-threshold"], families_per_cell=32)

    assert set(Counter((family.truth_rank, family.truth) for family in cell).values()) == {2}


def test_public_bytes_are_the_same_under_every_private_seed(shapes: dict[str, Shape]) -> None:
    """What does not change with the truth cannot tell it."""
    for shape in shapes.values():
        slot = FamilySlot(shape.id, Condition.C2, 5)
        built = [
            construct(
                shape,
                slot,
                families_per_cell=8,
                public_seed=PUBLIC,
                private_seed=bytes([number]) * 32,
                attempt=number % 3,
            )
            for number in range(24)
        ]

        assert len({tuple(form.public for form in family.forms) for family in built}) == 1
        assert len({family.truth for family in built}) >= 3
        assert len({family.nonce for family in built}) == 24


def test_each_candidate_is_equally_likely_given_the_public_bytes(shapes: dict[str, Shape]) -> None:
    """The marginal truth of one fixed public family, over 4,000 private seeds: five standard errors around 1,000."""
    shape = shapes["python-moving-window"]
    slot = FamilySlot(shape.id, Condition.C0, 6)
    truths = Counter(
        construct(shape, slot, families_per_cell=8, public_seed=PUBLIC, private_seed=number.to_bytes(32, "big")).truth
        for number in range(4000)
    )

    assert all(abs(count - 1000) < 5 * 27.4 for count in truths.values())


def test_one_private_seed_gives_two_truths_under_two_public_seeds(shapes: dict[str, Shape]) -> None:
    """Leaking the truth of one edition must not leak that of another one which reuses the private seed."""
    shape = shapes["sql-threshold"]

    def ranks(public_seed: bytes) -> list[int]:
        slots = [FamilySlot(shape.id, Condition.C0, ordinal) for ordinal in range(16)]
        return [
            construct(shape, slot, families_per_cell=16, public_seed=public_seed, private_seed=PRIVATE).truth_rank
            for slot in slots
        ]

    assert ranks(PUBLIC) != ranks(b"another public seed")
