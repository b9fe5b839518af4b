"""The tables of several positive controls together.

Source: CleanScore 7.11 (Table 16); METHODS 9.4 and 9.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leakscale.audit.controls import heads
from leakscale.audit.controls.effects import leaked_group
from leakscale.audit.controls.plan import ExposureKind
from leakscale.audit.controls.registering import differing_fields
from leakscale.audit.controls.studied import StudiedControl
from leakscale.stats import Interval, PooledEffects
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["pooled_tables"]


@dataclass(frozen=True, slots=True)
class PooledRow:
    """The mean effect on one kind of form, over all controls of one kind of exposure that have it."""

    exposure: str
    forms: str
    controls: int
    effect: Interval
    positive: float | None = field(metadata=PERCENT)
    """Share of the resamples above zero; None of the visible gap."""


@dataclass(frozen=True, slots=True)
class PooledShareRow:
    """How much of the pooled effect is in wording that was never shown."""

    exposure: str
    share: float | None = field(metadata=NUMBER)
    """Ratio of pooled effects, not a mean of ratios; None where a rule withholds it."""
    share_set: str
    """Fieller's, or why there is no share."""
    percentile_set: str
    """The paper's; it covers too little where the leaked effect is small."""
    above_quarter: float | None = field(metadata=PERCENT)
    """Share of the resamples in which it is above a quarter."""
    above_half: float | None = field(metadata=PERCENT)
    falsifier: str
    """Whether two controls or more have a clear effect on the leaked form and none on fresh ones."""


@dataclass(frozen=True, slots=True)
class PooledControlRow:
    """One control of a pool, under its registered seed."""

    control: str
    audit: str
    model: str
    exposure: str
    exposed: int
    untouched: int
    leaked: Interval
    """Effect on the leaked form."""
    fresh: Interval
    visible_gap: Interval
    verdict: str
    """Of the manipulation check."""


def pooled_tables(
    controls: Sequence[StudiedControl], pools: Mapping[ExposureKind, PooledEffects], *, left_out: Sequence[str]
) -> tuple[Table[Any], ...]:
    """Return every table, in the order in which they are read."""
    each = heads.POOLED_CONTROLS.filled([_control(one) for one in controls], _about(controls, left_out))
    if not pools:
        reason = f"{_counted(controls)}; a pool takes two controls that leak the same kind of form"
        return heads.POOLED.withheld(reason), heads.POOLED_SHARE.withheld(reason), each
    note = "Each control weighs the same. Intervals do not hold the variation between training runs. " + " ".join(
        f"{str(kind).capitalize()}: {100 * (1 - pool.alpha):g} % intervals over {pool.n_resamples:,} resamples of "
        f"{pool.resampled}; seed {pool.seed}."
        for kind, pool in pools.items()
    )
    return (
        heads.POOLED.filled([row for kind, pool in pools.items() for row in _forms(kind, pool)], note),
        heads.POOLED_SHARE.filled(
            [_share(kind, pool) for kind, pool in pools.items()],
            "The pooled effect on fresh forms over that on the leaked form. It is withheld where a control planted "
            "nothing, or reached the ceiling: with such a one in the mean it is a share of something else.",
        ),
        each,
    )


def _forms(kind: ExposureKind, pool: PooledEffects) -> Iterator[PooledRow]:
    for form, effect in pool.forms.items():
        positive = pool.resamples_positive[form] / (pool.n_resamples or 1)
        yield PooledRow(str(kind), form, pool.study_count(form), effect, positive)
    yield PooledRow(str(kind), "visible gap", len(pool.studies), pool.gap, None)


def _share(kind: ExposureKind, pool: PooledEffects) -> PooledShareRow:
    share, above = pool.share, pool.share.resamples_above
    quarter, half = (None if above is None else above[level] / (pool.n_resamples or 1) for level in (0.25, 0.5))
    return PooledShareRow(
        str(kind),
        share.share,
        str(pool.fieller.bounds) if pool.fieller.bounds else f"withheld: {pool.fieller.reason}",
        str(share.bounds) if share.bounds else "withheld",
        quarter,
        half,
        f"fired: {', '.join(pool.falsifying)}" if pool.is_falsified else "did not fire",
    )


def _control(control: StudiedControl) -> PooledControlRow:
    analysis = control.analysis
    run, effects = analysis.registered, analysis.registered.effects
    return PooledControlRow(
        control.name,
        str(analysis.facts["audit"]),
        analysis.control.model,
        str(control.kind),
        analysis.exposed_count,
        analysis.parent_count - analysis.exposed_count,
        effects[leaked_group(analysis.control)].effect,
        effects["fresh"].effect,
        run.gap.gap,
        "passed" if run.manipulation.is_passed else "failed: nothing was planted",
    )


def _about(controls: Sequence[StudiedControl], left_out: Sequence[str]) -> str:
    plans = [{**one.analysis.control.to_json(), "name": ""} for one in controls]
    differing = sorted({name for plan in plans[1:] for name in differing_fields(plans[0], plan)})
    return " ".join(
        filter(
            None,
            (
                "Every control counts with its registered seed, whatever it found.",
                f"Their plans differ in {', '.join(differing)}." if differing else "",
                f"Not in the pool: {', '.join(left_out)}." if left_out else "",
            ),
        )
    )


def _counted(controls: Sequence[StudiedControl]) -> str:
    kinds = [str(one.kind) for one in controls]
    return ", ".join(f"{kinds.count(kind)} of kind {kind}" for kind in dict.fromkeys(kinds)) or "no control was run"
