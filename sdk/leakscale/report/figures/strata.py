"""Effects by where the right candidate stood: whether exposure taught associations, or a place in the list."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from leakscale.report.figures.forest import ForestRow, forest_panel
from leakscale.report.page import Panel
from leakscale.report.view import domain_name

if TYPE_CHECKING:
    from leakscale.analysis.families import StratumRow
    from leakscale.tables import Table

__all__ = ["stratum_panels"]


def stratum_panels(table: Table[StratumRow]) -> tuple[Panel, ...]:
    """Draw every model and domain: truth ranks above display positions, each counted from 1."""
    panels: list[Panel] = []
    several = len({row.model for row in table.rows}) > 1
    for (model, domain), rows in groupby(table.rows, key=lambda row: (row.model, row.domain)):
        shown = [
            ForestRow(row.stratum.capitalize(), f"{row.value + 1} of 4", row.effect, said=f"({row.families})")
            for row in rows
        ]
        title = f"{model}, {domain_name(domain)}" if several else domain_name(domain)
        panels.append(forest_panel(shown, name=f"{domain.value}-{len(panels)}", title=title))
    return tuple(panels)
