"""The tables of a positive control.

Source: CleanScore 7.11 to 7.16, Tables 14 to 21; METHODS 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from leakscale.audit.controls import heads
from leakscale.audit.controls.borrowing import borrowed_table
from leakscale.audit.controls.effects import RunEffects, leaked_group
from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.registering import ControlRun
from leakscale.stats import (
    Interval,
    NegativeControl,
    SeedReplication,
    negative_control_run,
    seed_replication,
)
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["control_tables", "null_verdict", "seed_verdict"]


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """Accuracy of one group of parents on one group of forms, before and after a run."""

    run: str
    parents: str
    """`exposed` or `untouched`."""
    forms: str
    count: int
    """Parents that have such a form."""
    before: float = field(metadata=PERCENT)
    after: float = field(metadata=PERCENT)
    change: Interval


@dataclass(frozen=True, slots=True)
class EffectRow:
    """Change of the exposed parents beyond that of the untouched ones."""

    run: str
    forms: str
    effect: Interval


@dataclass(frozen=True, slots=True)
class ManipulationRow:
    """The registered check that the leak took."""

    run: str
    forms: str
    effect: Interval
    floor: float
    verdict: str


@dataclass(frozen=True, slots=True)
class TransferRow:
    """What an audit sees of a leak, and what of it reached other wordings."""

    run: str
    visible_gap: Interval
    exposed_gap: Interval
    """How far the mean gap of the exposed parents moved."""
    untouched_gap: Interval
    off_target: Interval | None
    """How far the mean gap of the control bank moved."""
    share: float | None = field(metadata=NUMBER)
    """Effect on forms never shown over effect on the leaked form; None where a rule withholds it."""
    share_set: str
    """Values of the share that the data allow, or why there is none."""


@dataclass(frozen=True, slots=True)
class NullRow:
    """An effect of the run that leaked nothing, beside the planted one."""

    forms: str
    null: Interval
    planted: float
    """Of the registered seed."""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One kind of form over all seeds."""

    forms: str
    seeds: int
    least: float
    mean: float
    greatest: float
    spread: float
    registered: float
    """Of the seed that was fixed first."""
    registered_rank: int
    """Place of that seed, 1 for the greatest effect."""


def control_tables(control: ControlPlan, runs: Sequence[RunEffects]) -> tuple[Table[Any], ...]:
    """Return every table that effects alone fill, in the order of the report."""
    leaks = [each for each in runs if not each.run.is_null]
    rule = control.judgement
    level = f"Intervals at {100 * (1 - rule.alpha):g} % are over parents, each with all its forms and both states; "
    return (
        heads.CHECKS.filled(
            [_manipulation(each, control) for each in leaks],
            "A run that fails plants nothing, and nothing is said of transfer then. It is reported, not repeated.",
        ),
        heads.ACCURACIES.filled([row for each in runs for row in _accuracies(each)]),
        heads.EFFECTS.filled(
            [EffectRow(each.run.label, name, found.effect) for each in runs for name, found in each.effects.items()],
            level + "they do not hold the variation between training runs, which the seeds show.",
        ),
        heads.TRANSFER.filled(
            [_transfer(each) for each in leaks],
            "The visible gap is the effect on the public form less that on fresh ones: all that a comparison of the "
            "two can see. What reached fresh wording as well is invisible to it.",
        ),
        borrowed_table(control, leaks),
        _null(control, runs),
        _seeds(control, leaks),
    )


def null_verdict(control: ControlPlan, runs: Sequence[RunEffects]) -> NegativeControl | None:
    """Judge the null run; None where none was planned."""
    null = next((each for each in runs if each.run.is_null), None)
    if null is None:
        return None
    planted = {name: found.effect.estimate for name, found in runs[0].effects.items()}
    return negative_control_run(null.effects, threshold=control.judgement.null_max, planted=planted)


def seed_verdict(control: ControlPlan, runs: Sequence[RunEffects]) -> SeedReplication | None:
    """Compare all seeds; None where only one was planned."""
    leaks = [each for each in runs if not each.run.is_null]
    if len(leaks) < 2:
        return None
    by_seed = {
        str(each.run.seed): {name: found.effect.estimate for name, found in each.effects.items()} for each in leaks
    }
    return seed_replication(
        by_seed,
        registered_seed=str(control.training.seeds[0]),
        judged_form=leaked_group(control),
        tolerance=control.judgement.spread_max,
    )


def _accuracies(found: RunEffects) -> Iterator[AccuracyRow]:
    for parents, arm in (("exposed", "c2"), ("untouched", "c0")):
        for name, effect in found.effects.items():
            outcomes = getattr(effect, arm)
            change = effect.c2_change if arm == "c2" else effect.c0_drift
            yield AccuracyRow(
                found.run.label,
                parents,
                name,
                outcomes.family_count,
                outcomes.base_accuracy,
                outcomes.adapted_accuracy,
                change,
            )


def _manipulation(found: RunEffects, control: ControlPlan) -> ManipulationRow:
    check = found.manipulation
    verdict = "passed" if check.is_passed else "failed: nothing was planted"
    return ManipulationRow(found.run.label, leaked_group(control), check.public.effect, check.floor, verdict)


def _transfer(found: RunEffects) -> TransferRow:
    share = found.share
    return TransferRow(
        found.run.label,
        found.gap.gap,
        found.gap.c2_movement,
        found.gap.c0_movement,
        found.off_target,
        share.share,
        str(share.bounds) if share.bounds else f"withheld: {share.reason}",
    )


def _null(control: ControlPlan, runs: Sequence[RunEffects]) -> Table[NullRow]:
    verdict = null_verdict(control, runs)
    if verdict is None:
        return heads.NULL_RUN.withheld("training.null_run is false; what the procedure makes up by itself is unknown")
    rows = [NullRow(name, found.effect, verdict.planted[name]) for name, found in verdict.effects.items()]
    return heads.NULL_RUN.filled(rows, f"{str(verdict)[:1].upper()}{str(verdict)[1:]}.")


def _seeds(control: ControlPlan, leaks: Sequence[RunEffects]) -> Table[SeedRow]:
    verdict = seed_verdict(control, leaks)
    if verdict is None:
        return heads.SEEDS.withheld("one training seed was registered; how much a second one differs is unknown")
    rows = [
        SeedRow(
            name,
            len(spread.effects),
            min(spread.effects.values()),
            spread.mean,
            max(spread.effects.values()),
            spread.spread,
            spread.effects[spread.registered_seed],
            spread.registered_rank,
        )
        for name, spread in verdict.forms.items()
    ]
    return heads.SEEDS.filled(rows, f"{str(verdict)[:1].upper()}{str(verdict)[1:]}. Every registered seed is here.")


def run_label(run: ControlRun | None) -> str:
    """Return what tables call a run; None is the state before any."""
    return "base" if run is None else run.label
