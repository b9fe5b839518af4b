"""How an effect is spread: over families (Table 12 and its histogram), and over answer strata (Table 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from leakscale.analysis import heads
from leakscale.analysis.counting import Cell
from leakscale.analysis.plan import AnalysisPlan
from leakscale.models import Condition, Domain, ModelState
from leakscale.stats import EmptyCellError, Interval, Quartiles, family_profile, marginals
from leakscale.tables import PERCENT, Table

__all__ = [
    "BIN_COUNT",
    "HistogramRow",
    "ProfileRow",
    "StratumRow",
    "answer_strata",
    "family_accuracies",
    "family_profiles",
]

BIN_COUNT: Final = 10
"""Of the histogram, all of one width."""

_STRATA = (("truth rank", "truth_ranks"), ("display position", "display_positions"))


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """The accuracies of the families of one condition in one state: families are the observations, not draws."""

    model: str
    domain: Domain
    condition: Condition
    state: ModelState
    lower: float = field(metadata=PERCENT)
    """First quartile, by the linear rule."""
    median: float = field(metadata=PERCENT)
    upper: float = field(metadata=PERCENT)
    mean: float = field(metadata=PERCENT)
    never_right: int
    """Families without a correct draw."""
    always_right: int
    """Families with correct draws only."""


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """How many families of one condition in one state lie in one tenth of the accuracies."""

    model: str
    domain: Domain
    condition: Condition
    state: ModelState
    at_least: float = field(metadata=PERCENT)
    below: float = field(metadata=PERCENT)
    """The last tenth holds the families that are always right, too."""
    families: int


@dataclass(frozen=True, slots=True)
class StratumRow:
    """The effect among families of one truth rank, or of one display position."""

    model: str
    domain: Domain
    stratum: str
    value: int
    """0 to 3."""
    families: str
    """Control and exposed."""
    effect: Interval
    """With the exact percentile interval."""
    warnings: tuple[str, ...]
    """Why it may cover less than it promises: fewer than 32 families, or few that differ."""


def family_profiles(cells: Sequence[Cell]) -> Table[ProfileRow]:
    """Take the quartiles of family accuracies.

    Source: LeakScale E.2 (Table 12).
    """
    rows = []
    for cell in cells:
        for condition, arm in cell.arms:
            profile = family_profile(arm.outcomes)
            of_states: tuple[Quartiles, Quartiles] = (profile.base, profile.adapted)
            for place, (state, quartiles) in enumerate(zip(ModelState, of_states, strict=True)):
                rows.append(
                    ProfileRow(
                        cell.key.model,
                        cell.key.domain,
                        condition,
                        state,
                        lower=float(quartiles.lower),
                        median=float(quartiles.median),
                        upper=float(quartiles.upper),
                        mean=float(quartiles.mean),
                        never_right=profile.never_right[place],
                        always_right=profile.always_right[place],
                    )
                )
    return heads.FAMILY_PROFILES.filled(rows, "Quartiles over families, in percent.")


def family_accuracies(cells: Sequence[Cell]) -> Table[HistogramRow]:
    """Count the families in each tenth of the accuracies; in whole numbers, so that none falls between two."""
    rows = []
    for cell in cells:
        for condition, arm in cell.arms:
            for state in ModelState:
                correct = arm.outcomes.base if state is ModelState.BASE else arm.outcomes.adapted
                places = np.minimum(BIN_COUNT * correct // arm.outcomes.draws, BIN_COUNT - 1)
                rows += [
                    HistogramRow(
                        cell.key.model,
                        cell.key.domain,
                        condition,
                        state,
                        at_least=place / BIN_COUNT,
                        below=(place + 1) / BIN_COUNT,
                        families=count,
                    )
                    for place, count in enumerate(np.bincount(places, minlength=BIN_COUNT).tolist())
                ]
    return heads.FAMILY_ACCURACIES.filled(rows, "Tenths of the accuracies; the last one holds 100 % too.")


def answer_strata(cells: Sequence[Cell], plan: AnalysisPlan) -> Table[StratumRow]:
    """Estimate the effect inside each truth rank and each display position.

    A kind of stratum that the results lack, or that has families of one condition only somewhere, is left out; the note
    says so.

    Source: LeakScale E.3 (Table 13). The intervals are ours; they hold one by one, not together.
    """
    rows, missing = [], []
    for cell in cells:
        for stratum, name in _STRATA:
            labels = getattr(cell.c0, name), getattr(cell.c2, name)
            if any(each is None for each in labels):
                missing.append(f"{cell.key.model}, {cell.key.domain}: the results lack the {stratum}s")
                continue
            try:
                found = marginals(cell.c0.outcomes, cell.c2.outcomes, labels, method="exact", alpha=plan.alpha)
            except EmptyCellError as error:
                missing.append(f"{cell.key.model}, {cell.key.domain}, {stratum}: {error}")
                continue
            for value, result in found.groups.items():
                sizes = f"{result.c0.family_count} + {result.c2.family_count}"
                rows.append(
                    StratumRow(
                        cell.key.model, cell.key.domain, stratum, int(value), sizes, result.effect, result.warnings
                    )
                )
    positive = sum(row.effect.estimate > 0 for row in rows)
    said = f"{positive} of {len(rows)} effects are positive. Descriptive: exact intervals, one by one."
    return heads.ANSWER_STRATA.filled(rows, " ".join([said, *(f"Left out: {each}." for each in missing)]))
