"""What a plan's numbers say at most, atom by atom: releases, and log2 of how many values each number can take.

A total is told in whole families, however many draws each has, so it takes one value more than there are families.

Source: what a number that takes m values says of anything is at most log2(m) bits, whoever chose the answers that it is
counted over; what follows from numbers that are charged already (accuracies, estimates) is free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from leakscale.models import ModelState
from leakscale_server.core.disclosure.atoms import Atom, Cohort, cells_of
from leakscale_server.core.disclosure.grids import BOUND_COUNT, OFFSET_COUNT

__all__ = ["Cost", "cost_of", "millibits"]

_ENDS_PER_EFFECT: Final = 6
"""Ends of intervals that depend on an atom: effect, exact effect, and the change of the atom's own condition."""
_ENDS_CROSSED: Final = 4
"""Of the mean over the domains and the difference between them, in the first ring."""
_SHARE_STATES: Final = 8
"""Three shapes of a share's bounds, three rules that withhold it, one of them for either of two reasons."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one atom is charged."""

    release_count: int = 0
    millibits: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.release_count + other.release_count, self.millibits + other.millibits)


def millibits(value_count: int) -> int:
    """Return log2 of how many values a number can take, in thousandths of a bit, rounded up."""
    return math.ceil(1000 * math.log2(value_count))


def cost_of(
    cohorts: Sequence[Cohort], atoms: Sequence[Atom], *, families_per_atom: int, ring_count: int
) -> Mapping[Atom, Cost]:
    """Return what a plan charges to each atom that its cohorts have.

    Args:
        cohorts: All that the plan has numbers over.
        atoms: Of the edition.
        families_per_atom: Families of one shape and condition.
        ring_count: Rings asked; every one but the first also has a share of the first one's effect.
    """
    costs: dict[Atom, Cost] = {}
    for cohort in cohorts:
        cells = cells_of(cohort, atoms)
        # The effect of the atom's domain, and the pooled one where that is another.
        effect_count = min(len({atom.domain for cell in cells for atom in cell}), 2)
        around = ring_count * effect_count * _ENDS_PER_EFFECT * millibits(OFFSET_COUNT)
        around += (ring_count - 1) * effect_count * _share_millibits()
        around += _ENDS_CROSSED * millibits(OFFSET_COUNT) if effect_count > 1 else 0
        for cell in cells:
            release_count = ring_count * len(ModelState)
            totals = release_count * millibits(len(cell) * families_per_atom + 1)
            for atom in cell:
                costs[atom] = costs.get(atom, Cost()) + Cost(release_count, totals + around)
    return costs


def _share_millibits() -> int:
    return 2 * millibits(BOUND_COUNT + 1) + millibits(_SHARE_STATES)
