"""Forest plots: estimates with their intervals on one scale, the registered one above its exact twin."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from leakscale.report.figures.canvas import Scale, cut, pixel_axes, points_label, scale_of, signed
from leakscale.report.page import PANEL_WIDTH, Panel, color
from leakscale.report.words import bounds_in_words, points
from leakscale.stats import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ForestRow", "MeanRow", "forest_panel"]

_MARGIN: Final = 18
_ROW: Final = 42
_LINE_HEIGHT: Final = 16
_ROOM: Final = PANEL_WIDTH - 2 * _MARGIN
_LETTER: Final = 7.2
"""Width of a letter in DejaVu Sans at 12 pixels, on average; other fonts are narrower."""
_BOLD_LETTER: Final = 8.4
_GROUP: Final = 26
_AXIS: Final = 26
_DOTS: Final = 20
"""Height of the single observations below an interval."""
_LINE, _TWIN, _TEXT = 26, 33, 13
"""Below the top of a row: the registered interval, its twin, the baseline of its words."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One estimate of a forest plot."""

    group: str
    of: str
    effect: Interval
    """With the registered interval."""
    exact: Interval | None = None
    """Its limit for infinitely many resamples; None where it was not released."""
    said: str = ""
    """What stands beside the name, e.g. a share."""


@dataclass(frozen=True, slots=True)
class MeanRow(ForestRow):
    """An estimate that is the mean of single observations, which are drawn below it; no row of a table."""

    single: Mapping[str, float] = field(default_factory=dict)
    """By name, e.g. of each training run, in the order from above."""


def forest_panel(rows: Sequence[ForestRow], *, name: str, title: str, roles: Sequence[str] = ("ink",)) -> Panel:
    """Draw rows under the headings of their groups.

    Args:
        rows: In order; those of one group stand together.
        name: Of the panel in its figure.
        title: Of the panel.
        roles: Colors of the groups, in turn.
    """
    groups = [(group, list(own)) for group, own in groupby(rows, key=lambda row: row.group)]
    headings = sum(bool(group) for group, _ in groups)
    description = "; ".join(
        f"{': '.join(filter(None, (row.group, row.of)))}: {points(row.effect.estimate)} points"
        f" ({bounds_in_words(row.effect)})" + (f", {row.said}" if row.said else "") + _spoken(_single(row))
        for row in rows
    )
    height = round(sum(map(_height, rows)) + headings * _GROUP + _AXIS)
    return Panel(name, title, description, partial(_draw, groups=groups, roles=roles), height)


def _single(row: ForestRow) -> Mapping[str, float]:
    return row.single if isinstance(row, MeanRow) else {}


def _spoken(single: Mapping[str, float]) -> str:
    return f"; {', '.join(f'{name} {points(value)}' for name, value in single.items())}" if single else ""


def _draw(figure: Figure, *, groups: Sequence[tuple[str, list[ForestRow]]], roles: Sequence[str]) -> None:
    height = sum(sum(map(_height, rows)) + bool(group) * _GROUP for group, rows in groups)
    scale = scale_of(100 * end for _, rows in groups for row in rows for end in _extent(row))
    axes = pixel_axes(figure, left=_MARGIN, top=0, width=_ROOM, height=height)
    axes.set(xlim=(scale.low, scale.high), ylim=(height, 0), yticks=[])
    axes.set_xticks(scale.ticks, list(map(signed, scale.ticks)))
    axes.spines["left"].set_visible(False)
    y = 0.0
    for place, (group, rows) in enumerate(groups):
        if group:
            _words(axes, y + 17, cut(group, int(_ROOM / _BOLD_LETTER)), weight="bold")
            y += _GROUP
        for row in rows:
            _row(axes, row, scale, y, color(roles[place % len(roles)]))
            y += _height(row)


def _extent(row: ForestRow) -> Iterator[float]:
    """Yield what has to lie on the axis, as shares."""
    for one in (row.effect, row.exact):
        if one is not None:
            yield from (one.estimate,) if one.is_degenerate else (one.low, one.estimate, one.high)
    yield from _single(row).values()


def _label(row: ForestRow) -> list[str]:
    """Return the lines of a name."""
    return textwrap.wrap(f"{row.of} {row.said}", int(_ROOM / _LETTER)) or [""]


def _value(row: ForestRow) -> list[str]:
    """Return the lines of a value; why there is no interval may take two."""
    words = f"{points_label(row.effect.estimate)} ({bounds_in_words(row.effect)})".replace("-", "\u2212")
    return textwrap.wrap(words, int(_ROOM / _LETTER))


def _lines_above(row: ForestRow) -> int:
    """Return how many lines of its name and its value stand above the last line of the value."""
    lines, value = _label(row), _value(row)
    is_beside = (len(lines[-1]) + len(value[0]) + 1) * _LETTER <= _ROOM
    return len(lines) + len(value) - 1 - is_beside


def _height(row: ForestRow) -> int:
    return _ROW + _lines_above(row) * _LINE_HEIGHT + _DOTS * bool(_single(row))


def _row(axes: Axes, row: ForestRow, scale: Scale, y: float, ink: str) -> None:
    for number, line in enumerate(_label(row)):
        _words(axes, y + _TEXT + number * _LINE_HEIGHT, line)
    y += _lines_above(row) * _LINE_HEIGHT
    for tick in scale.ticks:
        shade = color("muted") if tick == 0 else color("rule")
        axes.vlines(tick, y + _LINE - 8, y + _ROW - 2 + _DOTS * bool(_single(row)), colors=shade, linewidth=1, zorder=0)
    for number, line in enumerate(reversed(_value(row))):
        place = y + _TEXT - number * _LINE_HEIGHT
        axes.text(1, place, line, transform=axes.get_yaxis_transform(), ha="right", color=ink, size=12)
    _whisker(axes, row.effect, scale, y + _LINE, ink, is_twin=False)
    if row.exact is not None:
        _whisker(axes, row.exact, scale, y + _TWIN, color("muted"), is_twin=True)
    if single := _single(row):
        # Each has a height of its own, so that equal ones stay apart, and the same in every row.
        places = [y + _TWIN + 4 + _DOTS * place / len(single) for place in range(len(single))]
        axes.plot([100 * value for value in single.values()], places, "o", color=color("muted"), markersize=3.5)


def _whisker(axes: Axes, interval: Interval, scale: Scale, y: float, ink: str, *, is_twin: bool) -> None:
    width, size = (1.2, 0) if is_twin else (2, 7)
    if not interval.is_degenerate:
        low, high = ends = [
            100 * end if math.isfinite(end) else limit
            for end, limit in ((interval.low, scale.low), (interval.high, scale.high))
        ]
        axes.hlines(y, low, high, colors=ink, linewidth=width)
        axes.vlines(ends, y - (2 if is_twin else 4), y + (2 if is_twin else 4), colors=ink, linewidth=width)
    if size:
        axes.plot([100 * interval.estimate], [y], "o", color=ink, markersize=size, clip_on=False)


def _words(axes: Axes, y: float, words: str, weight: str = "normal") -> None:
    axes.text(0, y, words, transform=axes.get_yaxis_transform(), weight=weight, size=12)
