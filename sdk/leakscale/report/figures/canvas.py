"""What the figures share: axes placed by the pixel, round ticks, labels that keep apart, signed points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakscale.report.page import PANEL_WIDTH, color
from leakscale.report.words import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Scale", "cut", "nice_step", "pixel_axes", "points_label", "scale_of", "signed", "spread"]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis in percentage points with round ends."""

    low: float
    high: float
    step: float

    @property
    def ticks(self) -> list[float]:
        """From end to end; zero is exactly zero."""
        first = round(self.low / self.step)
        return [place * self.step for place in range(first, round(self.high / self.step) + 1)]


def scale_of(values: Iterable[float]) -> Scale:
    """Return the axis that shows zero and all finite values, in points; infinite ones reach its end."""
    known = [0.0, *filter(math.isfinite, values)]
    low, high = min(known), max(known)
    step = nice_step(max(high - low, 2.0))
    return Scale(step * math.floor(low / step - 0.05), step * math.ceil(high / step + 0.05), step)


def cut(words: str, length_max: int) -> str:
    """Return words as they are, or their beginning and an ellipsis."""
    return words if len(words) <= length_max else f"{words[: length_max - 1]}\u2026"


def nice_step(span: float) -> float:
    """Return the tick distance of 1, 2, 2.5 or 5 times a power of ten that divides a span into three to six parts."""
    raw = span / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)


def signed(value: float) -> str:
    """Write points on an axis: `+20`, `0`, `\u22125`."""
    return "0" if value == 0 else f"{value:+g}".replace("-", "\u2212")


def points_label(share: float) -> str:
    """Write a difference of shares in points with a true minus sign."""
    return points(share).replace("-", "\u2212")


def pixel_axes(figure: Figure, *, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes at a place in CSS pixels, from the upper left; the figure is as wide as a panel."""
    whole = figure.get_figheight() * PANEL_WIDTH / figure.get_figwidth()
    axes = figure.add_axes((left / PANEL_WIDTH, 1 - (top + height) / whole, width / PANEL_WIDTH, height / whole))
    axes.tick_params(length=0, pad=4)
    for spine in axes.spines.values():
        spine.set_color(color("rule"))
    return axes


def spread(places: Sequence[float], *, gap: float, highest: float) -> list[float]:
    """Move label places apart until none overlap, keeping their order and none above `highest`."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = [places[index] for index in order]
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + gap)
    moved[-1] = min(moved[-1], highest)
    for i in range(len(moved) - 2, -1, -1):
        moved[i] = min(moved[i], moved[i + 1] - gap)
    placed = dict(zip(order, moved, strict=True))
    return [placed[index] for index in range(len(places))]
