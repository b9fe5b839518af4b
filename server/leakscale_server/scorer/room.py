"""Whether numbers may leave beside those that did: the floor of every class, and the edition's budget.

The same rules as at the registration, by the scorer's own account; of principals and projects it has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from leakscale_server.core.disclosure.atoms import Atom, Cell, Cohort, cells_of
from leakscale_server.core.disclosure.budget import Account, Overdraft, TooSmall, first_overdraft, tiers_of
from leakscale_server.core.disclosure.cost import Cost, cost_of
from leakscale_server.core.disclosure.policy import TIERS
from leakscale_server.errors import BudgetSpent, CohortTooSmall, IntegrityFailure
from leakscale_server.scorer.contract import SealedExperiment
from leakscale_server.scorer.sealed import extent_of

__all__ = ["Extent", "require_room"]

Extent = Mapping[str, Any]
"""What `extent_of` returns of an experiment."""


def require_room(experiment: SealedExperiment, *, before: Sequence[Extent]) -> None:
    """Refuse numbers over too few families, or beyond the budget of the edition.

    Args:
        experiment: On an edition that has a floor.
        before: What was disclosed of the edition.

    Raises:
        CohortTooSmall: If they are over too few, alone or as a difference.
        BudgetSpent: If the edition has too little left.
        IntegrityFailure: If the atoms are not all of one size.
    """
    edition_id, asked = experiment.head.edition_id, extent_of(experiment.head)
    atoms, size = _atoms(experiment)
    cells = [cell for extent in (*before, asked) for cell in _cells(extent, atoms)]
    # Every edition may have the permission for small classes, which lies in the registry.
    tiers = tiers_of(cells, families_per_atom=size, is_opted_in=True)
    if isinstance(tiers, TooSmall):
        raise CohortTooSmall(
            f"numbers of edition {edition_id!r} would be over {tiers.family_count} families, alone or as a difference "
            f"from what the scorer disclosed, and its floor is {TIERS[-1].families_min}; choose other cohorts",
            subject=f"editions/{edition_id}",
        )
    spent: dict[Atom, Cost] = {}
    for extent in before:
        for atom, cost in _costs(extent, atoms, families_per_atom=size).items():
            spent[atom] = spent.get(atom, Cost()) + cost
    accounts = {account: spent if account is Account.EDITION else {} for account in Account}
    overdraft = first_overdraft(_costs(asked, atoms, families_per_atom=size), accounts, tiers)
    if overdraft is not None:
        raise _overdrawn(overdraft, edition_id)


def _atoms(experiment: SealedExperiment) -> tuple[Sequence[Atom], int]:
    """Return the atoms of an edition, and how many families each has."""
    counts = Counter(Atom(each.domain, each.shape_id, each.condition) for each in experiment.families)
    least, most = min(counts.values()), max(counts.values())
    if least != most:
        edition_id = experiment.head.edition_id
        raise IntegrityFailure(
            f"the atoms of edition {edition_id!r} have {least} to {most} families, and all have equally many; restore "
            "the registry from a copy of the data folder",
            subject=f"editions/{edition_id}",
        )
    return sorted(counts), least


def _overdrawn(found: Overdraft, edition_id: str) -> BudgetSpent:
    spent, most = found.spent, found.allowance
    return BudgetSpent(
        f"edition {edition_id!r}: by the scorer's account {found.atom.name} has {spent.release_count} of "
        f"{most.release_count} releases and {spent.millibits / 1000:.1f} of {most.millibits / 1000:.1f} bits spent, "
        "which leaves too little for this experiment; freeze a fresh edition",
        subject=f"editions/{edition_id}",
    )


def _cohorts(extent: Extent, atoms: Sequence[Atom]) -> tuple[Cohort, ...]:
    """Return the cohorts that numbers are over, the whole edition first."""
    named = (Cohort(name, tuple(shape_ids)) for name, shape_ids in extent["cohorts"].items())
    return (Cohort("", tuple(sorted({atom.shape_id for atom in atoms}))), *named)


def _cells(extent: Extent, atoms: Sequence[Atom]) -> list[Cell]:
    return [cell for cohort in _cohorts(extent, atoms) for cell in cells_of(cohort, atoms)]


def _costs(extent: Extent, atoms: Sequence[Atom], *, families_per_atom: int) -> Mapping[Atom, Cost]:
    return cost_of(
        _cohorts(extent, atoms),
        atoms,
        families_per_atom=families_per_atom,
        ring_count=len(extent["rings"]),
    )
