"""Heat maps of shapes: which program structures the effect comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from leakscale.report.figures.canvas import cut, pixel_axes, points_label
from leakscale.report.page import PANEL_WIDTH, Panel, color
from leakscale.report.words import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from leakscale.analysis.shapes import ShapeRow
    from leakscale.tables import Table

__all__ = ["STRONGEST", "shape_panels"]

STRONGEST: Final = 0.5
"""Share of its color that the largest value of a map has; more would hide the number on it."""
_ROW, _TOP, _LEFT, _NAME_LENGTH_MAX = 24, 24, 136, 19


@dataclass(frozen=True, slots=True)
class _Map:
    columns: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    """By name, then by column; as shares."""


def shape_panels(table: Table[ShapeRow]) -> tuple[Panel, ...]:
    """Draw the shapes of one domain: drift, change and effect of one model, or the effects of several."""
    shown = _map_of(table.rows)
    spoken = "; ".join(
        f"{name}: {', '.join(f'{column} {points(value)}' for column, value in zip(shown.columns, values, strict=True))}"
        for name, values in zip(shown.names, shown.values, strict=True)
    )
    height = _TOP + _ROW * len(shown.names) + 4
    return (Panel("", table.head.title, spoken, partial(_draw, shown=shown), height),)


def _map_of(rows: Sequence[ShapeRow]) -> _Map:
    models = tuple(dict.fromkeys(row.model for row in rows))
    names = tuple(dict.fromkeys(row.shape for row in rows))
    if len(models) == 1:
        columns: tuple[str, ...] = ("C0 drift", "C2 change", "effect")
        values = tuple((row.c0_drift, row.c2_change, row.effect.estimate) for row in rows)
        return _Map(columns, names, values)
    effects = {(row.shape, row.model): row.effect.estimate for row in rows}
    return _Map(models, names, tuple(tuple(effects[name, model] for model in models) for name in names))


def _draw(figure: Figure, *, shown: _Map) -> None:
    height = _ROW * len(shown.names)
    width = PANEL_WIDTH - _LEFT - 2
    axes = pixel_axes(figure, left=_LEFT, top=_TOP, width=width, height=height)
    axes.set(xlim=(0, len(shown.columns)), ylim=(len(shown.names), 0))
    axes.set_axis_off()
    most = max(0.01, *(abs(value) for values in shown.values for value in values))
    for place, column in enumerate(shown.columns):
        limit = width // (7 * len(shown.columns))
        axes.text(place + 0.5, -0.25, cut(column, limit), ha="center", color=color("muted"), size=11)
    for row, (name, values) in enumerate(zip(shown.names, shown.values, strict=True)):
        axes.text(-0.06, row + 0.5, cut(name.partition("-")[2] or name, _NAME_LENGTH_MAX), ha="right", va="center",
                  size=11.5)  # fmt: skip
        for place, value in enumerate(values):
            _cell(axes, place, row, value, most)


def _cell(axes: Axes, place: int, row: int, value: float, most: float) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - an extra

    fill = color("warm" if value > 0 else "cool", STRONGEST * abs(value) / most)
    axes.add_patch(Rectangle((place + 0.02, row + 0.06), 0.96, 0.88, facecolor=fill, edgecolor="none"))
    axes.text(place + 0.5, row + 0.5, points_label(value), ha="center", va="center", size=11.5)
