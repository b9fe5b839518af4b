"""What experiments set aside and spend: every registration is charged to its principal, its project and its edition.

A registration sets its releases aside, so that nobody answers a bank whose numbers could never leave; they are spent
when the experiment is disclosed, and free again when it expires or is withdrawn before. Nothing here depends on an
answer or a truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from leakscale.models import Condition, Domain
from leakscale_server.core.disclosure.atoms import Atom, Cell
from leakscale_server.core.disclosure.budget import Account, Overdraft, TooSmall, first_overdraft, tiers_of
from leakscale_server.core.disclosure.cells import class_sizes
from leakscale_server.core.disclosure.cost import Cost, cost_of
from leakscale_server.core.disclosure.policy import COHORT_FAMILIES_MIN, TIERS, Allowance, Tier, tier_of
from leakscale_server.errors import BudgetSpent, CohortTooSmall
from leakscale_server.registry.editions import Edition
from leakscale_server.registry.experiments.permits import has_small_cohort_permit
from leakscale_server.registry.experiments.plans import ExperimentPlan, atoms_of_edition
from leakscale_server.registry.experiments.times import time_text
from leakscale_server.registry.experiments.withdrawals import END_TIME
from leakscale_server.store.database import InsertOnlyDatabase, Row

__all__ = ["Accounts", "AtomBudget", "Party"]


@dataclass(frozen=True, slots=True)
class Party:
    """Who asks, and for which project."""

    principal: str
    project: str


@dataclass(frozen=True, slots=True)
class AtomBudget:
    """What the accounts of a party have spent on an atom, and may."""

    atom: Atom
    family_count: int
    spent: Mapping[Account, Cost]
    allowed: Mapping[Account, Allowance]


class Accounts:
    """The accounts of every edition that has a budget. Call it inside the transaction that registers or discloses."""

    def __init__(self, registry: InsertOnlyDatabase) -> None:
        self._registry = registry

    def set_aside(self, plan: ExperimentPlan, edition: Edition, *, party: Party, now: datetime) -> None:
        """Set a plan's releases aside, or refuse it.

        Raises:
            CohortTooSmall: If its numbers, with what else is disclosed or set aside, cut out too few families.
            BudgetSpent: If an account has too little left for it.
        """
        atoms = atoms_of_edition(edition)
        cells = [*self._cells(edition, now=now), *plan.cells(atoms)]
        tiers = tiers_of(
            cells,
            families_per_atom=edition.families_per_cell,
            is_opted_in=has_small_cohort_permit(self._registry, edition.edition_id),
        )
        if isinstance(tiers, TooSmall):
            raise _too_small(tiers, edition)
        asked = cost_of(
            plan.all_cohorts(atoms),
            atoms,
            families_per_atom=edition.families_per_cell,
            ring_count=len(plan.rings),
        )
        overdraft = first_overdraft(asked, self._spent(edition.edition_id, party=party, now=now), tiers)
        if overdraft is not None:
            raise _overdrawn(overdraft, edition)
        self._registry.add("reservations", [_row(plan, party, atom, cost) for atom, cost in asked.items()])

    def budget(self, edition: Edition, *, party: Party, now: datetime) -> list[AtomBudget]:
        """Return what is spent and allowed on every atom that something is spent on or set aside for."""
        sizes = class_sizes(self._cells(edition, now=now), families_per_atom=edition.families_per_cell)
        spent = self._spent(edition.edition_id, party=party, now=now)
        is_opted_in = has_small_cohort_permit(self._registry, edition.edition_id)
        budgets = []
        for atom in sorted(sizes):
            tier = tier_of(sizes[atom], is_opted_in=is_opted_in)
            if tier is not None:
                budgets.append(_budget(atom, sizes[atom], spent, tier))
        return budgets

    def _cells(self, edition: Edition, *, now: datetime) -> Sequence[Cell]:
        """Return every cell of an edition that is disclosed, or may still be."""
        atoms = atoms_of_edition(edition)
        query = f"SELECT plan FROM experiments WHERE edition_id = ? AND {_COUNTS} AND {_IS_CHARGED_FOR}"  # noqa: S608 - words are ours
        rows = self._registry.rows(query, (edition.edition_id, time_text(now)))
        return [cell for row in rows for cell in ExperimentPlan.from_json(row["plan"]).cells(atoms)]

    def _spent(self, edition_id: str, *, party: Party, now: datetime) -> Mapping[Account, Mapping[Atom, Cost]]:
        owners = {Account.PRINCIPAL: ("principal", party.principal), Account.PROJECT: ("project", party.project)}
        return {account: self._sums(edition_id, owners.get(account), now=now) for account in Account}

    def _sums(self, edition_id: str, owner: tuple[str, str] | None, *, now: datetime) -> Mapping[Atom, Cost]:
        column, value = owner or ("edition_id", edition_id)
        query = (
            "SELECT domain, shape_id, condition, sum(release_count) AS releases, sum(millibits) AS millibits "  # noqa: S608 - words are ours
            "FROM reservations JOIN experiments USING (project, experiment_id, principal, edition_id) "
            f"WHERE edition_id = ? AND {_COUNTS} AND {column} = ? GROUP BY domain, shape_id, condition"
        )
        return {
            Atom(Domain(row["domain"]), row["shape_id"], Condition(row["condition"])): Cost(
                row["releases"], row["millibits"]
            )
            for row in self._registry.rows(query, (edition_id, time_text(now), value))
        }


_COUNTS = (
    f"({END_TIME} > ? OR EXISTS (SELECT 1 FROM charges WHERE charges.project = experiments.project "  # noqa: S608 - ours
    "AND charges.experiment_id = experiments.experiment_id))"
)
"""Whether an experiment counts: it is being disclosed or was, or may still be."""


_IS_CHARGED_FOR = (
    "EXISTS (SELECT 1 FROM reservations WHERE reservations.project = experiments.project "
    "AND reservations.experiment_id = experiments.experiment_id)"
)
"""Whether an experiment set anything aside; those of a practice edition's author do not."""


def _row(plan: ExperimentPlan, party: Party, atom: Atom, cost: Cost) -> Row:
    return {
        "project": party.project,
        "experiment_id": plan.experiment_id,
        "principal": party.principal,
        "edition_id": plan.edition_id,
        "domain": atom.domain.value,
        "shape_id": atom.shape_id,
        "condition": atom.condition.value,
        "release_count": cost.release_count,
        "millibits": cost.millibits,
    }


def _budget(atom: Atom, family_count: int, spent: Mapping[Account, Mapping[Atom, Cost]], tier: Tier) -> AtomBudget:
    return AtomBudget(
        atom,
        family_count,
        spent={account: spent[account].get(atom, Cost()) for account in Account},
        allowed={account: account.allowance(tier) for account in Account},
    )


def _too_small(found: TooSmall, edition: Edition) -> CohortTooSmall:
    shape_ids = sorted({atom.shape_id for atom in found.atoms})
    more = f" and {len(shape_ids) - 3} more" if len(shape_ids) > 3 else ""
    return CohortTooSmall(
        f"numbers of edition {edition.edition_id!r} would be over {found.family_count} families "
        f"({', '.join(shape_ids[:3])}{more}), alone or as a difference from what is disclosed; the floor is "
        f"{COHORT_FAMILIES_MIN} ({TIERS[-1].families_min} where an administrator allowed it), so choose cohorts that "
        "leave more families on either side",
        subject=f"editions/{edition.edition_id}",
    )


def _overdrawn(found: Overdraft, edition: Edition) -> BudgetSpent:
    spent, asked, most = found.spent, found.asked, found.allowance
    figures = (
        f"{spent.release_count} of {most.release_count} releases"
        if found.is_of_releases
        else f"{spent.millibits / 1000:.1f} of {most.millibits / 1000:.1f} bits"
    )
    wanted = f"{asked.release_count}" if found.is_of_releases else f"{asked.millibits / 1000:.1f}"
    return BudgetSpent(
        f"edition {edition.edition_id!r}: the {found.account.value} has {figures} over {found.atom.name} spent "
        f"or set aside, and this plan asks {wanted}; ask fewer rings, cohorts or draws, or freeze a fresh edition",
        subject=f"editions/{edition.edition_id}",
    )
