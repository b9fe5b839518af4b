"""The smallest sets of families that disclosed cells cut out.

From totals over A and over B somebody who answers both alike has the total over A without B where B lies in A, and with
further cells more of the kind. Everything that union and difference make of disclosed cells is a union of the classes
below, so a floor that every class keeps is kept by all of it.

Does not guard against totals over one cell for several sets of answers: that is what the budget is for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from leakscale_server.core.disclosure.atoms import Atom, Cell

__all__ = ["class_sizes", "classes"]


def classes(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the finest sets that union and difference make of cells: atoms that lie in the same cells, together."""
    distinct = sorted(set(cells), key=sorted)
    groups: dict[frozenset[int], set[Atom]] = {}
    for atom in sorted(frozenset().union(*distinct)):
        inside = frozenset(number for number, cell in enumerate(distinct) if atom in cell)
        groups.setdefault(inside, set()).add(atom)
    return tuple(sorted((frozenset(group) for group in groups.values()), key=sorted))


def class_sizes(cells: Iterable[Cell], *, families_per_atom: int) -> Mapping[Atom, int]:
    """Return, for each atom that a cell has, how many families its class has."""
    return {atom: len(group) * families_per_atom for group in classes(cells) for atom in group}
