"""A forest plot as a figure of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leakscale.report.figures import ForestRow, forest_panel
from leakscale.report.page import PageFigure
from leakscale.tables import Table

__all__ = ["forest_figure"]


def forest_figure(
    name: str,
    title: str,
    caption: str,
    table: Table[Any],
    rows: Sequence[ForestRow],
    *,
    command: str,
    roles: Sequence[str] = ("ink",),
) -> PageFigure:
    """Return estimates with their intervals, and the table that they come from.

    Args:
        name: For ids and files.
        title: Of the figure.
        caption: How to read it.
        table: Its numbers.
        rows: What is drawn; where there is none, the figure has no picture.
        command: What makes it.
        roles: Colors of the groups, in turn.
    """
    panels = (forest_panel(rows, name="", title=title, roles=roles),) if rows else ()
    return PageFigure(name, title, caption, table, panels, command)
