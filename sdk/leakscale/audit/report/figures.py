"""The figures of an audit's report, each with its numbers or the reason why it is not there.

Source: CleanScore, Figures 5 and 7 to 15.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leakscale.audit.report.control_figures import control_figures
from leakscale.audit.report.findings import AuditFindings
from leakscale.audit.report.forests import forest_figure
from leakscale.audit.report.planning_figures import planning_figures
from leakscale.report.figures import ForestRow
from leakscale.report.page import PageFigure
from leakscale.tables import Table

__all__ = ["audit_figures"]


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
    rho = findings.registration.plan.inference.rho
    yield forest_figure(
        "gaps",
        "Public less fresh wording, model by model",
        "A gap is the score on the public wording less the mean score on fresh wordings of the same items. Below it, "
        f"what of it may be owed to exposure once the control bank's own gap and a radius of {100 * rho:g} points are "
        "taken off.",
        table("advantage"),
        _gap_rows(table("advantage"), table("claims")),
        command=command,
    )
    yield forest_figure(
        "radius",
        "What may be owed to exposure, by transport radius",
        "The radius is how far the ordinary gap of the benchmark may lie from that of the control bank. The registered "
        "grid was fixed before a score existed.",
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


def _gap_rows(advantage: Table[Any], claims: Table[Any]) -> list[ForestRow]:
    claimed = {row.model: row for row in claims.rows}
    rows = []
    for row in advantage.rows:
        rows.append(ForestRow(row.model, "gap", row.gap))
        if row.model in claimed:
            rows.append(ForestRow(row.model, "control bank's gap", claimed[row.model].control_gap))
            rows.append(ForestRow(row.model, "owed to exposure", claimed[row.model].exposure))
    return rows
