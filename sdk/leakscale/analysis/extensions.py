"""What the paper's tables do not have: other rings, exact choices beside sampled ones, and strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leakscale.analysis import heads
from leakscale.analysis.counting import Arm, Cell, CellKey, Counted
from leakscale.analysis.plan import AnalysisPlan
from leakscale.analysis.totals import estimate
from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.stats import Interval, Outcomes, difference_in_differences, transfer_share
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = [
    "AccuracyRow",
    "ChoiceRow",
    "DoseRow",
    "RingRow",
    "dose_response",
    "exact_choices",
    "expected_accuracies",
    "ring_transfer",
]

_GRAIN: Final = 1 << 30
"""Probabilities are rounded to this many steps, so that they are counts like any other: 1e-9 each."""


@dataclass(frozen=True, slots=True)
class RingRow:
    """What of the exposure acts on the same families asked in another form."""

    model: str
    domain: Domain
    ring: Ring
    effect: Interval
    exact: Interval | None
    """None where a disclosure lacks it."""
    share: float | None = field(metadata=NUMBER)
    """Of the effect in R0; None in R0 itself and where withheld."""
    share_set: str
    """Fieller's set of the shares that the families do not reject."""
    withheld: str
    """Why there is no share."""


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """The effect of sampled answers beside that of the exact probabilities they were sampled from."""

    model: str
    domain: Domain
    sampled: Interval
    """With the registered interval."""
    exact_choice: Interval
    """Of the probabilities, resampled by the same seed."""
    difference: float
    """Sampled less exact: sampling noise."""
    error_ratio: float | None = field(metadata=NUMBER)
    """Standard error of the exact-choice effect over that of the sampled one."""


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """Accuracy of the draws of one condition in one state beside the mean probability of the correct candidate."""

    model: str
    domain: Domain
    condition: Condition
    state: ModelState
    sampled: float = field(metadata=PERCENT)
    expected: float = field(metadata=PERCENT)
    """What the sampled accuracy is with infinitely many draws of the same families."""
    difference: float
    """Sampled less expected: sampling noise."""
    sampling_error: float
    """Standard deviation of that noise, where draws come from these probabilities; 0 where they leave no chance."""


@dataclass(frozen=True, slots=True)
class DoseRow:
    """The effect of an adapter at one strength."""

    model: str
    domain: Domain
    strength: float = field(metadata=NUMBER)
    c0_drift: float
    c2_change: float
    effect: Interval
    exact: Interval


def ring_transfer(counted: Counted, strength: float, plan: AnalysisPlan) -> Table[RingRow] | None:
    """Estimate the effect in every ring, and its share of that in R0; None where only R0 was asked.

    Source: CleanScore 7.11; METHODS 9.3 and 13.7 (Fieller).
    """
    if counted.rings == (Ring.R0,):
        return None
    rows = []
    for ring in counted.rings:
        for cell in counted.reported(ring, strength):
            registered, exact = estimate(cell, plan)
            share: tuple[float | None, str, str] = (None, "", "")
            leaked = counted.cells.get(CellKey(cell.key.model, cell.key.domain, Ring.R0, strength))
            if ring is not Ring.R0 and leaked is not None:
                found = transfer_share(estimate(leaked, plan)[1], exact, alpha=plan.alpha)
                at_least = "at least " if found.is_fresh_censored else ""
                share = found.share, at_least + str(found.bounds or ""), found.reason or ""
            rows.append(RingRow(cell.key.model, cell.key.domain, ring, registered.effect, exact.effect, *share))
    note = "R0 is the form that was leaked. A share is withheld where nothing was planted or R0 is at its ceiling."
    return heads.RINGS.filled(rows, note)


def exact_choices(cells: Sequence[Cell], plan: AnalysisPlan) -> Table[ChoiceRow] | None:
    """Set the effect of exact choice probabilities beside that of the draws; None where the rows have none.

    The probabilities lack the noise of sampling, E[p (1 - p)] / draws of a family's variance.

    Source: METHODS 13.6.
    """
    rows = []
    for cell in cells:
        chances = [_as_counts(arm) for arm in (cell.c0, cell.c2)]
        if None in chances:
            continue
        registered, _ = estimate(cell, plan)
        of_laws = difference_in_differences(
            *(each for each in chances if each is not None),
            n_resamples=plan.resample_count,
            seed=plan.seed,
            alpha=plan.alpha,
        )
        sampled, exact = registered.effect, of_laws.effect
        errors = sampled.standard_error, exact.standard_error
        ratio = None if not errors[0] or errors[1] is None else errors[1] / errors[0]
        difference = sampled.estimate - exact.estimate
        rows.append(ChoiceRow(cell.key.model, cell.key.domain, sampled, exact, difference, ratio))
    if not rows:
        return None
    note = "Both intervals are over families; only the sampled one holds the noise of the draws."
    return heads.EXACT_CHOICES.filled(rows, note)


def expected_accuracies(cells: Sequence[Cell]) -> Table[AccuracyRow] | None:
    """Set the mean probability of the correct candidate beside the accuracy of the draws; None where none is known.

    Source: METHODS 13.6; the noise of a family's draws has variance p (1 - p) / draws.
    """
    rows = [
        _accuracy(cell, condition, state, drawn, laws, arm.outcomes.draws)
        for cell in cells
        for condition, arm in cell.arms
        if arm.probabilities is not None
        for state, drawn, laws in zip(
            ModelState, (arm.outcomes.base, arm.outcomes.adapted), arm.probabilities, strict=True
        )
    ]
    if not rows:
        return None
    note = "Differences beyond three or four sampling errors say that the draws are not from these probabilities."
    return heads.EXPECTED_ACCURACIES.filled(rows, note)


def _accuracy(  # noqa: PLR0917 - one row of a table, from what the loops above hold
    cell: Cell, condition: Condition, state: ModelState, correct: NDArray[Any], laws: NDArray[np.float64], draws: int
) -> AccuracyRow:
    sampled, expected = float(correct.mean()) / draws, float(laws.mean())
    noise = float(np.sqrt((laws * (1 - laws)).sum() / draws)) / len(laws)
    return AccuracyRow(cell.key.model, cell.key.domain, condition, state, sampled, expected, sampled - expected, noise)


def _as_counts(arm: Arm) -> Outcomes | None:
    if arm.probabilities is None:
        return None
    base, adapted = (_steps(each) for each in arm.probabilities)
    return Outcomes(base, adapted, _GRAIN, arm.outcomes.ids)


def _steps(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(probabilities * _GRAIN).astype(np.int64)


def dose_response(counted: Counted, plan: AnalysisPlan) -> Table[DoseRow] | None:
    """Estimate the effect at every strength in R0, against the one base state; None where there is one strength."""
    if len(counted.strengths) == 1:
        return None
    rows = []
    for strength in counted.strengths:
        for cell in counted.reported(Ring.R0, strength):
            registered, exact = estimate(cell, plan)
            changes = registered.c0_drift.estimate, registered.c2_change.estimate
            rows.append(DoseRow(cell.key.model, cell.key.domain, strength, *changes, registered.effect, exact.effect))
    rows.sort(key=lambda row: (row.model, row.domain, row.strength))
    note = "Strength 0 is the base model, where the effect is zero."
    return heads.DOSES.filled(rows, note)
