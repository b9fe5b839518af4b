"""Atoms of an edition, and the cohorts that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leakscale.models import Condition, Domain

__all__ = ["Atom", "Cell", "Cohort", "atoms_of", "cells_of"]


@dataclass(frozen=True, slots=True, order=True)
class Atom:
    """The families of one shape and condition: the smallest part that a cohort has whole or not at all."""

    domain: Domain
    shape_id: str
    condition: Condition

    @property
    def name(self) -> str:
        """Return it as one word, e.g. `sql/sql-threshold/C0`."""
        return f"{self.domain.value}/{self.shape_id}/{self.condition.value}"


Cell = frozenset[Atom]
"""Atoms of one domain and condition: what one disclosed total is over."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """A registered union of atoms: both conditions of the shapes that it names."""

    cohort_id: str
    shape_ids: tuple[str, ...]


def atoms_of(shapes: Iterable[tuple[Domain, str]]) -> tuple[Atom, ...]:
    """List the atoms of an edition, from the domain and id of each of its shapes."""
    return tuple(Atom(domain, shape_id, condition) for domain, shape_id in shapes for condition in Condition)


def cells_of(cohort: Cohort, atoms: Sequence[Atom]) -> tuple[Cell, ...]:
    """Return the cells that a cohort has numbers over: one for each condition of each domain that it has a shape of."""
    chosen = [atom for atom in atoms if atom.shape_id in cohort.shape_ids]
    places = sorted({(atom.domain, atom.condition) for atom in chosen})
    return tuple(frozenset(atom for atom in chosen if (atom.domain, atom.condition) == place) for place in places)
