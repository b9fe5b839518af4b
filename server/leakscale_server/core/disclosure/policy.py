"""How often and how much an atom may be part of what is disclosed, by the families of its class: the table.

A *release* is one disclosed total: of one cell, asked in one ring of one model state; a comparison of a base and an
adapted model in one ring makes two of each cell. Against exact totals over 16 families a patient attacker has every key
after 8 releases; over 512, after 4, one in forty. Bits bound what goes with the releases: intervals, further rings.

A total is told in whole families, so that draws used as weights add nothing to it. The bits let four comparisons
through over 512 families and more (two over 128), with their intervals, up to 4,096 families.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["COHORT_FAMILIES_DEFAULT", "COHORT_FAMILIES_MIN", "TIERS", "Allowance", "Tier", "tier_of"]


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one account may spend on an atom."""

    release_count: int
    millibits: int
    """Thousandths of a bit."""


@dataclass(frozen=True, slots=True)
class Tier:
    """What holds for classes of at least so many families."""

    families_min: int
    project: Allowance
    """Of a project, and of a principal in whatever projects."""
    edition: Allowance
    """Of everybody together."""
    needs_opt_in: bool = False
    """Whether an administrator has to allow it first, edition by edition."""


TIERS: Final = (
    Tier(512, project=Allowance(8, 512_000), edition=Allowance(16, 1_024_000)),
    Tier(128, project=Allowance(4, 244_000), edition=Allowance(4, 244_000)),
    Tier(64, project=Allowance(2, 118_000), edition=Allowance(2, 118_000), needs_opt_in=True),
)
"""Largest first. Below the last one nothing is disclosed before the edition is retired."""

COHORT_FAMILIES_DEFAULT: Final = 512
"""Least families of a cell, where a plan says nothing else."""
COHORT_FAMILIES_MIN: Final = 128
"""Least families that a plan may ask for where no administrator allowed fewer."""


def tier_of(family_count: int, *, is_opted_in: bool) -> Tier | None:
    """Return the tier of a class, or None where nothing may be disclosed over it."""
    tier = next((tier for tier in TIERS if family_count >= tier.families_min), None)
    return None if tier is None or (tier.needs_opt_in and not is_opted_in) else tier
