"""Whether a plan may be disclosed beside what is: the floor that every class keeps, and the accounts that it charges.

Three accounts are charged, all or none: of the principal who registers, of its project, and of the edition.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from leakscale_server.core.disclosure.atoms import Atom, Cell
from leakscale_server.core.disclosure.cells import class_sizes, classes
from leakscale_server.core.disclosure.cost import Cost
from leakscale_server.core.disclosure.policy import Allowance, Tier, tier_of

__all__ = ["Account", "Overdraft", "TooSmall", "first_overdraft", "tiers_of"]


class Account(enum.StrEnum):
    """Whom a release is charged to."""

    PRINCIPAL = "principal"
    PROJECT = "project"
    EDITION = "edition"

    def allowance(self, tier: Tier) -> Allowance:
        """Return what it may spend on an atom of a tier."""
        return tier.edition if self is Account.EDITION else tier.project


@dataclass(frozen=True, slots=True)
class TooSmall:
    """A set of families that a plan would cut out, and that is too small for a number."""

    atoms: Cell
    family_count: int


@dataclass(frozen=True, slots=True)
class Overdraft:
    """What a plan would spend beyond an allowance."""

    account: Account
    atom: Atom
    allowance: Allowance
    spent: Cost
    asked: Cost

    @property
    def is_of_releases(self) -> bool:
        """Tell whether releases run out; bits do otherwise."""
        return self.spent.release_count + self.asked.release_count > self.allowance.release_count


def tiers_of(cells: Sequence[Cell], *, families_per_atom: int, is_opted_in: bool) -> Mapping[Atom, Tier] | TooSmall:
    """Return the tier of each atom once all of these cells are disclosed, or the smallest class that is too small.

    Args:
        cells: Of the plan, of what is disclosed, and of what is registered and may still be.
        families_per_atom: Families of one shape and condition.
        is_opted_in: Whether an administrator allowed small classes on the edition.
    """
    sizes = class_sizes(cells, families_per_atom=families_per_atom)
    tiers = {atom: tier_of(size, is_opted_in=is_opted_in) for atom, size in sizes.items()}
    if None in tiers.values():
        smallest = min(classes(cells), key=len)
        return TooSmall(smallest, len(smallest) * families_per_atom)
    return {atom: tier for atom, tier in tiers.items() if tier is not None}


def first_overdraft(
    asked: Mapping[Atom, Cost], spent: Mapping[Account, Mapping[Atom, Cost]], tiers: Mapping[Atom, Tier]
) -> Overdraft | None:
    """Return the first atom and account that a plan would overdraw, or None where it fits everywhere.

    Args:
        asked: What the plan charges.
        spent: What each account has spent or set aside.
        tiers: Of every atom that the plan charges.
    """
    return next(_overdrafts(asked, spent, tiers), None)


def _overdrafts(
    asked: Mapping[Atom, Cost], spent: Mapping[Account, Mapping[Atom, Cost]], tiers: Mapping[Atom, Tier]
) -> Iterator[Overdraft]:
    for account in Account:
        for atom in sorted(asked):
            before, allowance = spent[account].get(atom, Cost()), account.allowance(tiers[atom])
            after = before + asked[atom]
            if after.release_count > allowance.release_count or after.millibits > allowance.millibits:
                yield Overdraft(account, atom, allowance, before, asked[atom])
