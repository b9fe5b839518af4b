"""A figure of a page: pictures, the numbers they show, and the command that makes both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.report.page.drawing import Draw, pdf_bytes, svg_bytes
from leakscale.tables import Table
from leakscale.whole_files import write_folder

__all__ = ["PANEL_WIDTH", "PageFigure", "Panel", "write_figures"]

PANEL_WIDTH: Final = 360
"""CSS pixels of a picture: a phone's width, so that letters of 11 pixels and more stay so on every page."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture."""

    name: str
    """Of this picture in its figure, for ids and files, e.g. `sql`; empty where the figure has one."""
    title: str
    """What stands above it."""
    description: str
    """What it says, in words and numbers, for whoever does not see it."""
    draw: Draw
    height: int
    """In CSS pixels, at a width of 360."""


@dataclass(frozen=True, slots=True)
class PageFigure:
    """Pictures of one table, or the reason why there are none."""

    name: str
    """For ids and files, e.g. `effects`."""
    title: str
    caption: str
    """What is shown and how to read it."""
    table: Table[Any]
    """The numbers; the file beside the figure. A withheld one says why there is no picture."""
    panels: tuple[Panel, ...]
    command: str
    """What makes this figure, as one would type it."""
    absence: str = "Withheld"
    """What stands before the reason where the table is withheld."""

    def file_stem(self, panel: Panel) -> str:
        """Return the name of a picture's files, without suffix."""
        return "-".join(filter(None, (self.name, panel.name)))


def write_figures(folder: Path, figures: Iterable[PageFigure]) -> tuple[Path, ...]:
    """Write each figure into a new folder: its CSV, and every picture as SVG and PDF, in the light colors.

    A figure that is withheld has a CSV with the reason. The folder appears whole or not at all; one that holds the
    same files already is left as it is.

    Raises:
        ConflictError: If the folder holds something else; nothing is overwritten.
        InvalidRequestError: If the extra `report` is not installed.
    """
    files: dict[str, bytes] = {}
    for figure in figures:
        files[f"{figure.name}.csv"] = figure.table.to_csv().encode()
        for panel in figure.panels:
            stem, title = figure.file_stem(panel), f"{figure.title}: {panel.title}"
            files[f"{stem}.svg"] = svg_bytes(
                panel.draw, width=PANEL_WIDTH, height=panel.height, title=title, description=panel.description
            )
            files[f"{stem}.pdf"] = pdf_bytes(panel.draw, width=PANEL_WIDTH, height=panel.height)
    return write_folder(folder, files, subject="these figures")
