"""The forest plot: every estimate with its interval on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leakscale.report import svg
from leakscale.report.view import Block
from leakscale.report.words import has_interval, interval, points
from leakscale.results import Estimate

__all__ = ["forest", "nice_step"]

_WIDTH, _LEFT, _RIGHT = 440, 104, 274
_ROW, _GROUP = 25, 34


@dataclass(frozen=True, slots=True)
class _Axis:
    """Horizontal axis in percentage points."""

    low: float
    high: float
    step: float

    def place(self, value: float) -> float:
        """Return the x of a value in points, held inside the axis."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return _LEFT + (_RIGHT - _LEFT) * share


def forest(blocks: Sequence[Block], *, name: str) -> str:
    """Draw effect, exposed change and control drift of every block, in percentage points."""
    groups: tuple[tuple[str, str, list[tuple[str, Estimate]]], ...] = (
        ("Exposure effect", "effect", [(block.name, block.effect) for block in blocks]),
        ("Change of the exposed (C2)", "c2", [(block.name, block.exposed.change) for block in blocks]),
        ("Drift of the control (C0)", "c0", [(block.name, block.control.change) for block in blocks]),
    )
    axis = _axis_of([estimate for _, _, rows in groups for _, estimate in rows])
    height = len(groups) * (_GROUP + len(blocks) * _ROW) + 34
    parts = _grid(axis, height - 30)
    y = 0.0
    for heading, style, rows in groups:
        parts.append(svg.text(0, y + 22, heading, "heading"))
        y += _GROUP
        for label, estimate in rows:
            parts += _row(label, estimate, axis, style, y + _ROW / 2)
            y += _ROW
    description = "; ".join(
        f"{heading}, {label}: {points(estimate.value)} points ({interval(estimate)})"
        for heading, _, rows in groups
        for label, estimate in rows
    )
    title = "Effect, exposed change and control drift with intervals, in percentage points"
    return svg.figure(_WIDTH, height, parts, name=name, title=title, description=description)


def nice_step(span: float) -> float:
    """Return the tick distance of 1, 2, 2.5 or 5 times a power of ten that divides a span into three to six parts."""
    raw = span / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)


def _axis_of(estimates: Sequence[Estimate]) -> _Axis:
    bounds = [0.0]
    for estimate in estimates:
        ends = (estimate.low, estimate.high) if has_interval(estimate) else (estimate.value,)
        bounds += [100 * end for end in ends]
    low, high = min(bounds), max(bounds)
    step = nice_step(max(high - low, 2.0))
    return _Axis(step * math.floor(low / step - 0.05), step * math.ceil(high / step + 0.05), step)


def _grid(axis: _Axis, bottom: float) -> list[str]:
    parts = []
    for index in range(round((axis.high - axis.low) / axis.step) + 1):
        value = axis.low + index * axis.step
        is_zero = abs(value) < axis.step / 2
        x = axis.place(value)
        parts.append(svg.line(x, 8, x, bottom, "zero" if is_zero else "grid"))
        label = "0" if is_zero else f"{value:+g}".replace("-", "−")
        parts.append(svg.text(x, bottom + 18, label, "tick", anchor="middle"))
    return parts


def _row(label: str, estimate: Estimate, axis: _Axis, style: str, y: float) -> list[str]:
    parts = [svg.text(12, y + 4, label, "label")]
    if has_interval(estimate):
        low, high = axis.place(100 * estimate.low), axis.place(100 * estimate.high)
        parts.append(svg.line(low, y, high, y, f"{style} whisker"))
        parts += [svg.line(end, y - 5, end, y + 5, f"{style} whisker") for end in (low, high)]
    parts.append(svg.circle(axis.place(100 * estimate.value), y, 3.5, f"{style} dot"))
    value, bounds = (words.replace("-", "−") for words in (points(estimate.value), interval(estimate)))
    parts.append(svg.text(326, y + 4, value, f"{style} value", anchor="end"))
    parts.append(svg.text(_WIDTH, y + 4, bounds, "tick", anchor="end"))
    return parts
