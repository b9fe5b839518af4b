"""The relabelling test on this bank: what it sees at small budgets, and what it takes for something that is nothing.

The first table alone invites to read a rejection as a finding, which the paper took back: the test's null holds neither
exposure nor form mismatch, and the second table shows how often mismatch alone breaks it. So they come together, and
nothing that an audit claims reads either.

Source: CleanScore 7.10, Tables 12 and 13, Figure 10; METHODS 3.3 and 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.panel import AuditSettings, ModelScores, Panel
from leakscale.stats import (
    FinitePopulationDesign,
    ParameterError,
    StatisticsError,
    compare_detection,
    false_rejection_rate,
)
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["MismatchRow", "RelabellingRow", "mismatch", "relabelling"]

_SIZES: Final = (50, 100, 200)
_ADVANTAGES: Final = (0.0, 0.05, 0.10, 0.20)
"""The first plants nothing: a model's own gap is seen too."""
_PENALTIES: Final = (0.0, 0.02, 0.05, 0.08, 0.10)
_AUDITS: Final = 500
"""Fewer: each has an interval."""
_TESTED_AUDITS: Final = 2_000
_NO_FINDING: Final = "A rejection is of the joint null, no exposure and no form mismatch, and announces no advantage"


@dataclass(frozen=True, slots=True)
class RelabellingRow:
    """The same audits of one size, put to the registered interval and to the relabelling test."""

    model: str
    parents: int
    advantage: float
    """Planted, on top of the model's own gap."""
    detected: float = field(metadata=PERCENT)
    """By the registered interval."""
    rejected: float = field(metadata=PERCENT)
    """By the test, with the public form ahead."""
    level: float = field(metadata=PERCENT)
    """Rejected, on either side that counts, where the forms of each parent are exchangeable."""


@dataclass(frozen=True, slots=True)
class MismatchRow:
    """Audits without any exposure, whose fresh forms are harder by a penalty."""

    model: str
    parents: int
    """Of each audit: as many as were audited."""
    penalty: float
    rejected: float = field(metadata=PERCENT)
    standard_error: float = field(metadata=NUMBER)


def relabelling(panel: Panel, settings: AuditSettings) -> Table[RelabellingRow]:
    """Table 12: detection by the interval beside rejection by the relabelling test, at small budgets."""
    if settings.design.strata is not None:
        return heads.RELABELLING.withheld(heads.STRATIFIED)
    rule, sizes = settings.inference, panel.sizes(_SIZES, settings)
    left_out: list[str] = []
    try:
        rows = [row for model in panel for size in sizes for row in _compared(model, size, settings, left_out)]
    except StatisticsError as error:
        return heads.RELABELLING.withheld(str(error))
    if not any(row.advantage for row in rows):
        return heads.RELABELLING.withheld(heads.NO_ROOM)
    note = (
        f"{_AUDITS:,} audits each, {_TESTED_AUDITS:,} for the level, seed {settings.seed}; {rule.bound} on the "
        f"guardrail branch, {rule.alternative} test at {rule.alpha:g}. The interval is corrected for the size of the "
        f"benchmark, the test is not. An advantage is planted on top of the model's own gap. {_NO_FINDING}: see table "
        f"{heads.MISMATCH.number}."
    )
    return heads.RELABELLING.filled(rows, note + heads.not_planted(left_out))


def mismatch(panel: Panel, settings: AuditSettings) -> Table[MismatchRow]:
    """Table 13: rejections of the relabelling test where nothing was exposed and fresh forms are harder."""
    rule = settings.inference
    rows: list[MismatchRow] = []
    left_out: list[str] = []
    for model in panel:
        for penalty in _PENALTIES:
            try:
                found = false_rejection_rate(
                    model.audit.exchangeable,
                    n=model.gaps.count,
                    penalty=penalty,
                    alternative=rule.alternative,
                    replicates=_TESTED_AUDITS,
                    seed=settings.seed,
                    alpha=rule.alpha,
                )
            except ParameterError:
                left_out.append(f"{model.name}, {100 * penalty:g} points")
            except StatisticsError as error:
                return heads.MISMATCH.withheld(str(error))
            else:
                rows.append(MismatchRow(model.name, found.n, penalty, found.rate, found.standard_error))
    if not any(row.penalty for row in rows):
        return heads.MISMATCH.withheld("no model answers enough forms right that fresh answers could be lost")
    note = (
        f"{_TESTED_AUDITS:,} audits each, seed {settings.seed}; {rule.alternative} test at {rule.alpha:g}. Parents are "
        "drawn again from the audited ones, any of a parent's forms is its original, and right fresh answers are lost "
        f"by chance. {_NO_FINDING}."
    )
    if left_out:
        note += f" Penalties above a model's accuracy are left out: {'; '.join(left_out)}."
    return heads.MISMATCH.filled(rows, note)


def _compared(model: ModelScores, size: int, settings: AuditSettings, left_out: list[str]) -> Iterator[RelabellingRow]:
    """Yield the rows of one size; what cannot be planted is told to `left_out`."""
    rule = settings.inference
    shared: dict[str, Any] = {"n": size, "alternative": rule.alternative, "seed": settings.seed, "alpha": rule.alpha}
    level = false_rejection_rate(model.audit.exchangeable, replicates=_TESTED_AUDITS, **shared).rate
    for planted in _ADVANTAGES:
        if planted > model.room:
            left_out.append(f"{model.name}, {100 * planted:g} points")
            continue
        found = compare_detection(
            model.audit.exchangeable,
            FinitePopulationDesign(settings.design.population_size),
            advantage=planted,
            bound=rule.bound,
            min_parents=rule.guardrail_parents,
            min_nonzero=rule.guardrail_nonzero,
            replicates=_AUDITS,
            **shared,
        )
        yield RelabellingRow(model.name, size, planted, found.detection_rate, found.rejection_rate, level)
