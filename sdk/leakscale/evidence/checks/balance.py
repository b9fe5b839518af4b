"""Balance: control and exposed families alike in number, and the truth alike at every rank and position.

Source: LeakScale A and section 3.3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from leakscale.errors import IntegrityError
from leakscale.evidence.checks.outcome import Checked, counted
from leakscale.evidence.tree import EvidenceTree
from leakscale.models import Condition, Domain

__all__ = ["check_balance"]

_PLACES: Final = 4
_PAIRS: Final = 16
"""Ranks times positions."""


class _Cell(NamedTuple):
    domain: Domain
    shape: str
    condition: Condition

    def __str__(self) -> str:
        return f"{self.shape} {self.condition}"


class _Placed(NamedTuple):
    position: int
    rank: int | None


def check_balance(tree: EvidenceTree) -> Checked:
    """Count atoms, and truths where they are known."""
    source = tree.layout.relative(tree.layout.server.edition(tree.study.edition.id))
    _require_equal_atoms(tree, source)
    atoms = counted(len(tree.edition.atoms), "cell", "cells")
    placed = _placed(tree)
    if placed is None:
        return Checked(
            len(tree.edition.atoms),
            f"{atoms} of equally many families",
            "where the truths stand is committed to, and shown when the edition is retired",
        )
    for cell, families in placed.items():
        _require_balance(source, cell, families)
    has_ranks = all(each.rank is not None for families in placed.values() for each in families)
    what = "ranks and positions" if has_ranks else "positions"
    return Checked(len(tree.edition.atoms), f"{atoms} of equally many families, truths balanced over {what}")


def _require_equal_atoms(tree: EvidenceTree, source: str) -> None:
    per_cell = tree.study.edition.families_per_cell
    found = {_Cell(atom.domain, atom.shape_id, atom.condition): atom.family_count for atom in tree.edition.atoms}
    shapes = Counter((family.domain, family.shape_id) for family in tree.edition.by_id.values())
    for (domain, shape), count in shapes.items():
        if count != per_cell * len(Condition):
            raise IntegrityError(f"{source}: {shape} has {count} families, expected {per_cell * len(Condition)}")
        for condition in Condition:
            cell = _Cell(domain, shape, condition)
            if found.get(cell) != per_cell:
                raise IntegrityError(f"{source}: {cell} has {found.get(cell)} families, expected {per_cell}")
    if len(found) != len(shapes) * len(Condition):
        raise IntegrityError(f"{source}: {len(found)} cells, expected {len(shapes) * len(Condition)}")


def _placed(tree: EvidenceTree) -> Mapping[_Cell, list[_Placed]] | None:
    """Return where the truth of each family stands; None where nobody knows."""
    cells: defaultdict[_Cell, list[_Placed]] = defaultdict(list)
    if tree.rebuilt is not None and tree.rebuilt.has_truth:
        for family in tree.rebuilt.families.values():
            if family.truth is not None:
                cell = _Cell(family.domain, family.shape, family.condition)
                cells[cell].append(_Placed(family.truth, family.truth_rank))
        return cells
    if tree.openings is None:
        return None
    for opening in tree.openings:
        public = tree.edition.by_id[opening.family_id]
        cells[_Cell(public.domain, public.shape_id, opening.condition)].append(_Placed(opening.truth, None))
    return cells


def _require_balance(source: str, cell: _Cell, families: list[_Placed]) -> None:
    expected = len(families) // _PLACES
    for name, values in (
        ("position", [each.position for each in families]),
        ("rank", [each.rank for each in families]),
    ):
        if None in values:
            continue
        counts = Counter(values)
        if any(counts[place] != expected for place in range(_PLACES)):
            shown = ", ".join(f"{counts[place]} at {place}" for place in range(_PLACES))
            raise IntegrityError(f"{source}: truths of {cell} stand at {name}s {shown}, expected {expected} at each")
    if len(families) == _PAIRS and None not in {each.rank for each in families} and len(set(families)) != _PAIRS:
        raise IntegrityError(f"{source}: a rank of {cell} stands at one position twice, expected each pair once")
