"""What this audit could have seen, and what a smaller or larger one would see.

Source: CleanScore 7.8 and 7.9, Tables 10 and 11; METHODS 8 and 13.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Final

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.panel import AuditSettings, Panel
from leakscale.stats import (
    FinitePopulationDesign,
    NoInformationError,
    StatisticsError,
    budget_curve,
    detection_rate,
    minimum_detectable_effect,
)
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["budget", "detection", "power"]

_SIZES: Final = (100, 200, 400, 800)
_ADVANTAGES: Final = (0.0, 0.02, 0.05, 0.10, 0.20)
"""The first plants nothing: a model's own gap is detected too."""
_BUDGET_SHARES: Final = (0.125, 0.25, 0.375, 0.5, 0.75, 1.0)
_SUBSAMPLES: Final = 2_000
_PLANTED_AUDITS: Final = 500
"""Fewer: the betting interval of each is what takes the time of the whole analysis."""


@dataclass(frozen=True, slots=True)
class PowerRow:
    """Least advantage that is detected every second time, and four times out of five."""

    model: str
    half_power: float
    """The paper's minimum detectable effect: the half-width of the primary interval."""
    power_80: float | None
    primary: str


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """Audits of fewer parents, drawn from this one."""

    parents: int
    half_width: float | None
    """Mean over the models, with the benchmark as the population: what such an audit would have reported."""
    of_this_audit: float | None
    """The same with the audited parents as the population, as in the paper; 0 for all of them."""
    pairs_ordered: float | None = field(metadata=PERCENT)
    all_ordered: float | None = field(metadata=PERCENT)


@dataclass(frozen=True, slots=True)
class DetectionRow:
    """How often a planted advantage is detected by an audit of one size."""

    model: str
    parents: int
    advantage: float
    detected: float = field(metadata=PERCENT)
    standard_error: float = field(metadata=NUMBER)


def power(panel: Panel, settings: AuditSettings) -> Table[PowerRow]:
    """Minimum detectable effects of this very audit."""
    rule, rows = settings.inference, []
    for model in panel:
        detectable = partial(minimum_detectable_effect, model.gaps, settings.design, bound=rule.bound, alpha=rule.alpha)
        half = detectable(power=0.5)
        try:
            rows.append(PowerRow(model.name, half.effect, detectable(power=0.8).effect, half.primary))
        except NoInformationError:
            words = f"{half.primary}; the gaps do not vary, so nothing says how far a mean strays"
            rows.append(PowerRow(model.name, half.effect, None, words))
    note = "The paper's figure is the first: an advantage that large is missed half the time."
    if settings.design.population_size == panel.parent_count:
        note = "Every parent of the benchmark was observed: its gap is known, and nothing is left to chance."
    return heads.POWER.filled(rows, note)


def budget(panel: Panel, settings: AuditSettings) -> Table[BudgetRow]:
    """Table 10: half-width and order of models at smaller budgets."""
    size = min(model.gaps.count for model in panel)
    budgets = sorted({max(2, round(share * size)) for share in _BUDGET_SHARES})
    benchmark = FinitePopulationDesign(settings.design.population_size)
    try:
        curve, framed = (
            budget_curve(
                {model.name: model.gaps for model in panel},
                budgets=[each for each in budgets if each <= size],
                replicates=_SUBSAMPLES,
                seed=settings.seed,
                design=design,
                alpha=settings.inference.alpha,
            )
            for design in (None, benchmark)
        )
    except StatisticsError as error:
        return heads.BUDGET.withheld(str(error))
    rows = [
        BudgetRow(point.budget, other.half_width, point.half_width, point.pair_share, point.order_share)
        for point, other in zip(curve.points, framed.points, strict=True)
    ]
    note = (
        f"{_SUBSAMPLES:,} subsamples, seed {settings.seed}. Wald half-widths, mean over the models: for the gap of the "
        "benchmark, and for the gap of the audited parents alone, which is the paper's and ends at 0."
    )
    if len(panel.models) == 1:
        note += " One model has no order to keep."
    if curve.tied_pairs:
        note += f" Pairs with equal fresh scores are left out: {len(curve.tied_pairs)}."
    return heads.BUDGET.filled(rows, note)


def detection(panel: Panel, settings: AuditSettings) -> Table[DetectionRow]:
    """Table 11: detection of planted advantages at several sizes, by the registered rule."""
    if settings.design.strata is not None:
        return heads.DETECTION.withheld(heads.STRATIFIED)
    left_out: list[str] = []
    try:
        rows = list(_detection_rows(panel, settings, left_out))
    except StatisticsError as error:
        return heads.DETECTION.withheld(str(error))
    if not any(row.advantage for row in rows):
        return heads.DETECTION.withheld(heads.NO_ROOM)
    note = (
        f"{_PLANTED_AUDITS:,} audits each, seed {settings.seed}; {settings.inference.bound} on the guardrail branch. "
        "An advantage is planted on top of the model's own gap; the rows of 0 points say how often that alone is seen."
    )
    return heads.DETECTION.filled(rows, note + heads.not_planted(left_out))


def _detection_rows(panel: Panel, settings: AuditSettings, left_out: list[str]) -> Iterator[DetectionRow]:
    """Yield a row a model, size and advantage; what cannot be planted is told to `left_out`."""
    rule, population = settings.inference, settings.design.population_size
    sizes = sorted({min(model.gaps.count for model in panel), *panel.sizes(_SIZES, settings)})
    for model, size, planted in product(panel, sizes, _ADVANTAGES):
        if planted > model.room:
            left_out.append(f"{model.name}, {100 * planted:g} points")
            continue
        rate = detection_rate(
            model.gaps,
            FinitePopulationDesign(population),
            n=size,
            advantage=planted,
            bound=rule.bound,
            replicates=_PLANTED_AUDITS,
            seed=settings.seed,
            alpha=rule.alpha,
        )
        yield DetectionRow(model.name, size, planted, rate.rate, rate.standard_error)
