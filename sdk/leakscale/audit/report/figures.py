"""The figures of an audit's report, each with its numbers or the reason why it is not there.

Source: CleanScore, Figures 5 and 7 to 15.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from leakscale.audit.report.control_figures import control_figures
from leakscale.audit.report.findings import AuditFindings
from leakscale.audit.report.forests import forest_figure
from leakscale.audit.report.planning_figures import planning_figures
from leakscale.report.figures import ForestRow
from leakscale.report.page import PageFigure
from leakscale.stats import Interval
from leakscale.tables import Table, TableHead

__all__ = ["audit_figures"]

_GAPS: Final = TableHead("", "gaps", "Gaps, and what of them may be owed to exposure")


@dataclass(frozen=True, slots=True)
class GapRow:
    """What is drawn of one model."""

    model: str
    gap: Interval
    """Public less fresh wording, of the audited bank."""
    control_gap: Interval | None
    """The same of the control bank; None without one, as is the part owed to exposure."""
    exposure: Interval | None


def audit_figures(findings: AuditFindings) -> dict[str, PageFigure]:
    """Return every figure by its name.

    Those of one positive control are `control-NAME-...`; where there are several, `controls` sets them beside each
    other.
    """
    command = f"leakscale audit report {findings.folder}"
    made = [
        *_registered(findings, command),
        *planning_figures(findings, command),
        *control_figures(findings, command),
    ]
    return {figure.name: figure for figure in made}


def _registered(findings: AuditFindings, command: str) -> Iterator[PageFigure]:
    table = findings.analysis.table
    gaps = _gaps(table("advantage"), table("claims"))
    rho = findings.registration.plan.inference.rho
    yield forest_figure(
        "gaps",
        "Public less fresh wording, model by model",
        "A gap is the score on the public wording less the mean score on fresh wordings of the same items. Below it, "
        f"what of it may be owed to exposure once the control bank's own gap and a radius of {100 * rho:g} points are "
        "taken off.",
        gaps,
        [row for each in gaps.rows for row in _drawn(each)],
        command=command,
    )
    yield forest_figure(
        "radius",
        "What may be owed to exposure, by transport radius",
        "The radius is how far the ordinary gap of the benchmark may lie from that of the control bank. The registered "
        f"grid was fixed {_fixed(findings)}.",
        table("sensitivity"),
        [ForestRow(row.model, f"radius {100 * row.rho:g} points", row.exposure) for row in table("sensitivity").rows],
        command=command,
    )
    yield forest_figure(
        "intervals",
        "The gap under every interval",
        "The registered rule makes one of them primary; the others are shown beside it.",
        table("intervals"),
        [ForestRow(row.model, row.method.replace("_", " "), row.gap) for row in table("intervals").rows],
        command=command,
    )


def _gaps(advantage: Table[Any], claims: Table[Any]) -> Table[GapRow]:
    """Set the gap of each model beside its control bank's and what is owed to exposure, as the figure draws them."""
    if advantage.withheld is not None:
        return _GAPS.withheld(advantage.withheld)
    claimed = {row.model: row for row in claims.rows}
    return _GAPS.filled(
        (
            GapRow(row.model, row.gap, claim.control_gap if claim else None, claim.exposure if claim else None)
            for row in advantage.rows
            for claim in [claimed.get(row.model)]
        ),
        "Points; tables 3 hold the scores behind them.",
    )


def _drawn(row: GapRow) -> Iterator[ForestRow]:
    yield ForestRow(row.model, "gap", row.gap)
    if row.control_gap is not None and row.exposure is not None:
        yield ForestRow(row.model, "control bank's gap", row.control_gap)
        yield ForestRow(row.model, "owed to exposure", row.exposure)


def _fixed(findings: AuditFindings) -> str:
    if findings.registration.is_retrospective:
        return "with the lock, which of models whose log was imported may be later than their answers"
    return "before a score existed"
