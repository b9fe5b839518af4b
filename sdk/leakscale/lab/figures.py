"""Figures of the laboratories. Imports matplotlib, which the extra `report` brings; nothing imports this beforehand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from leakscale.whole_files import replacing

__all__ = ["write_figure"]

_SETTINGS: Any = {
    "svg.hashsalt": "leakscale",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
}


def write_figure(path: Path, draw: Callable[[Figure], None]) -> None:
    """Draw into a new figure and write it as SVG; the same numbers give the same bytes.

    The figure belongs to no display and to no global state of matplotlib.
    """
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(10, 4.5), layout="constrained")
        draw(figure)
        with replacing(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
