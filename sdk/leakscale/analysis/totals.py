"""Integer totals, the effects that follow from them, and whether every answer came (Tables 2, 10, 11 and 18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from leakscale.analysis import heads
from leakscale.analysis.counting import Arm, Cell
from leakscale.analysis.plan import AnalysisPlan
from leakscale.models import Condition, Domain, ModelState
from leakscale.stats import DidResult, Interval, difference_in_differences
from leakscale.tables import PERCENT, Table

__all__ = [
    "CompletionRow",
    "EffectRow",
    "SizeRow",
    "TotalRow",
    "TrajectoryRow",
    "completion",
    "effects",
    "estimate",
    "integer_totals",
    "sizes",
    "trajectories",
]


@dataclass(frozen=True, slots=True)
class SizeRow:
    """How much was observed of one condition and domain."""

    domain: Domain
    condition: Condition
    families: int
    shapes: int | None
    """None where only totals were released."""
    draws_a_family_and_state: int
    models: int
    draws: int
    """Over both states and all models."""


@dataclass(frozen=True, slots=True)
class TotalRow:
    """Correct draws of one condition in one state."""

    model: str
    domain: Domain
    condition: Condition
    state: ModelState
    correct: int
    draws: int
    accuracy: float = field(metadata=PERCENT)


@dataclass(frozen=True, slots=True)
class EffectRow:
    """The exposure effect of one model and domain, and the changes it is the difference of."""

    model: str
    domain: Domain
    c0_drift: float
    c2_change: float
    effect: Interval
    """With the registered interval: 10,000 seeded resamples of families."""
    exact: Interval | None
    """Its limit for infinitely many resamples, which no seed enters; None where a disclosure lacks it."""


@dataclass(frozen=True, slots=True)
class TrajectoryRow:
    """Where a condition was before adaptation, and where it went, over all cells."""

    condition: Condition
    base: float = field(metadata=PERCENT)
    adapted: float = field(metadata=PERCENT)
    change: float


@dataclass(frozen=True, slots=True)
class CompletionRow:
    """Whether every planned draw of a bank and condition ended, and in one of the four strings."""

    model: str
    domain: Domain
    state: ModelState
    condition: Condition
    planned: int
    terminal: int
    valid: int
    malformed: int
    """Terminal and none of the four strings: wrong, and never repaired."""


def estimate(cell: Cell, plan: AnalysisPlan) -> tuple[DidResult, DidResult]:
    """Return the effect of a cell with its registered interval, and with the exact twin of that."""
    c0, c2 = cell.c0.outcomes, cell.c2.outcomes
    registered = difference_in_differences(c0, c2, n_resamples=plan.resample_count, seed=plan.seed, alpha=plan.alpha)
    return registered, difference_in_differences(c0, c2, method="exact", alpha=plan.alpha)


def effects(cells: Sequence[Cell], plan: AnalysisPlan) -> Table[EffectRow]:
    """Estimate the effect of every cell.

    Source: LeakScale 5.1 (Table 2), E.1.
    """
    rows = []
    for cell in cells:
        registered, exact = estimate(cell, plan)
        drift, change = registered.c0_drift.estimate, registered.c2_change.estimate
        rows.append(EffectRow(cell.key.model, cell.key.domain, drift, change, registered.effect, exact.effect))
    return heads.EFFECTS.filled(
        rows,
        f"Points with {100 * (1 - plan.alpha):g} % intervals over families: registered (percentile, "
        f"{plan.resample_count:,} resamples, seed {plan.seed}) and exact. One adapter a cell: the variation between "
        "training runs is not in them.",
    )


def trajectories(cells: Sequence[Cell]) -> Table[TrajectoryRow]:
    """Average the accuracies of each condition over all cells, cells weighing the same.

    Source: LeakScale 5.2.
    """
    rows = []
    for condition in Condition:
        arms = [dict(cell.arms)[condition].outcomes for cell in cells]
        base, adapted = (
            sum(Fraction(int(getattr(arm, state).sum()), arm.family_count * arm.draws) for arm in arms) / len(arms)
            for state in ("base", "adapted")
        )
        rows.append(TrajectoryRow(condition, float(base), float(adapted), float(adapted - base)))
    return heads.TRAJECTORIES.filled(rows)


def sizes(cells: Sequence[Cell]) -> Table[SizeRow]:
    """Count what every condition and domain holds.

    Source: LeakScale E.1 (Table 10).
    """
    rows = []
    for domain in dict.fromkeys(cell.key.domain for cell in cells):
        own = [cell for cell in cells if cell.key.domain is domain]
        for condition in Condition:
            arms = [dict(cell.arms)[condition] for cell in own]
            first = arms[0].outcomes
            rows.append(
                SizeRow(
                    domain,
                    condition,
                    first.family_count,
                    len(set(arms[0].shapes.tolist())),
                    first.draws,
                    len(own),
                    sum(sum(arm.terminal) for arm in arms),
                )
            )
    return heads.SIZES.filled(rows)


def integer_totals(cells: Sequence[Cell]) -> Table[TotalRow]:
    """Count the correct draws of every cell, condition and state.

    Source: LeakScale E.2 (Table 11).
    """
    rows = []
    for cell in cells:
        for condition, arm in cell.arms:
            draws = arm.outcomes.family_count * arm.outcomes.draws
            for state, counts in zip(ModelState, (arm.outcomes.base, arm.outcomes.adapted), strict=True):
                correct = int(counts.sum())
                rows.append(
                    TotalRow(cell.key.model, cell.key.domain, condition, state, correct, draws, correct / draws)
                )
    return heads.INTEGER_TOTALS.filled(rows)


def completion(cells: Sequence[Cell]) -> Table[CompletionRow]:
    """Count the answers that came, and those that were one of the four strings.

    Source: LeakScale E.6 (Table 18).
    """
    rows = [
        _completion(cell, state, condition, arm, place)
        for cell in cells
        for place, state in enumerate(ModelState)
        for condition, arm in cell.arms
    ]
    malformed = sum(row.malformed for row in rows)
    return heads.COMPLETION.filled(
        rows,
        f"{sum(row.terminal for row in rows):,} of {sum(row.planned for row in rows):,} planned draws ended, "
        f"{malformed:,} of them malformed.",
    )


def _completion(cell: Cell, state: ModelState, condition: Condition, arm: Arm, place: int) -> CompletionRow:
    planned = arm.outcomes.family_count * arm.outcomes.draws
    terminal, valid = arm.terminal[place], arm.valid[place]
    return CompletionRow(cell.key.model, cell.key.domain, state, condition, planned, terminal, valid, terminal - valid)
