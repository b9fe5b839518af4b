"""The figure that shows why the control matters: two conditions before and after adaptation.

The dashed line is where the exposed families would have ended, had exposure done nothing: their own start, moved by
the control's drift. The bracket between that point and where they did end is the effect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from leakscale.report import svg
from leakscale.report.view import Block
from leakscale.report.words import percent, points

__all__ = ["spread", "trajectory"]

_WIDTH, _HEIGHT = 360, 264
_LEFT, _RIGHT, _TOP, _BOTTOM = 96, 246, 18, 226
_CHANCE = 0.25
"""Accuracy of a blind pick among four candidates."""
_LABEL_GAP = 17
"""Least distance between the baselines of two labels, in user units."""


def trajectory(block: Block, *, name: str) -> str:
    """Draw one domain."""
    control, exposed = block.control, block.exposed
    unexposed = exposed.base.accuracy + control.change.value
    top = _top_of_axis([arm.base.accuracy for arm in block.arms] + [arm.adapted.accuracy for arm in block.arms])

    def y(share: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * min(max(share / top, 0), 1)

    parts = [*_axis(top, y(_CHANCE))]
    parts.append(svg.line(_LEFT, y(exposed.base.accuracy), _RIGHT, y(unexposed), "c2 counterfactual"))
    for arm, style in ((control, "c0"), (exposed, "c2")):
        start, end = y(arm.base.accuracy), y(arm.adapted.accuracy)
        parts.append(svg.line(_LEFT, start, _RIGHT, end, f"{style} trend"))
        parts += [svg.circle(_LEFT, start, 4.5, f"{style} dot"), svg.circle(_RIGHT, end, 4.5, f"{style} dot")]
    parts += _bracket(y(unexposed), y(exposed.adapted.accuracy))
    parts += _start_labels(block, y(control.base.accuracy), y(exposed.base.accuracy))
    parts += _end_labels(block, y(control.adapted.accuracy), y(exposed.adapted.accuracy), y(unexposed))
    description = (
        f"Control accuracy {percent(control.base.accuracy)} to {percent(control.adapted.accuracy)} percent; exposed"
        f" accuracy {percent(exposed.base.accuracy)} to {percent(exposed.adapted.accuracy)} percent; effect"
        f" {points(block.effect.value)} points."
    )
    title = f"{block.name}: accuracy before and after adaptation"
    return svg.figure(_WIDTH, _HEIGHT, parts, name=name, title=title, description=description)


def spread(places: Sequence[float]) -> list[float]:
    """Move label places apart until none overlap, keeping their order, the lowest one above the axis."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = [places[index] for index in order]
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + _LABEL_GAP)
    moved[-1] = min(moved[-1], _BOTTOM)
    for i in range(len(moved) - 2, -1, -1):
        moved[i] = min(moved[i], moved[i + 1] - _LABEL_GAP)
    placed = dict(zip(order, moved, strict=True))
    return [placed[index] for index in range(len(places))]


def _top_of_axis(shares: list[float]) -> float:
    return min(1.0, max(0.5, math.ceil(4 * max(shares) + 0.2) / 4))


def _axis(top: float, chance_y: float) -> list[str]:
    parts = []
    for quarter in range(round(4 * top) + 1):
        y = _BOTTOM - (_BOTTOM - _TOP) * quarter / (4 * top)
        parts.append(svg.line(34, y, _RIGHT + 8, y, "grid"))
        parts.append(svg.text(28, y + 4, f"{25 * quarter}", "tick", anchor="end"))
    parts.append(svg.line(34, chance_y, _RIGHT + 8, chance_y, "chance"))
    parts.append(svg.text((_LEFT + _RIGHT) / 2, _BOTTOM - 8, "25 % is chance", "tick", anchor="middle"))
    parts.append(svg.text(_LEFT, _BOTTOM + 24, "base", "label", anchor="middle"))
    parts.append(svg.text(_RIGHT, _BOTTOM + 24, "adapted", "label", anchor="middle"))
    return parts


def _bracket(low_y: float, high_y: float) -> list[str]:
    x = _RIGHT + 14
    return [svg.path([(x - 5, low_y), (x, low_y), (x, high_y), (x - 5, high_y)], "bracket")]


def _start_labels(block: Block, control_y: float, exposed_y: float) -> list[str]:
    places = spread([control_y, exposed_y])
    return [
        svg.text(_LEFT - 10, place + 4, percent(arm.base.accuracy), f"{style} value", anchor="end")
        for arm, style, place in zip(block.arms, ("c0", "c2"), places, strict=True)
    ]


def _end_labels(block: Block, control_y: float, exposed_y: float, unexposed_y: float) -> list[str]:
    middle = (unexposed_y + exposed_y) / 2
    labels = (
        (f"C0 {percent(block.control.adapted.accuracy)}", "c0 value", control_y),
        (points(block.effect.value).replace("-", "−"), "effect value", middle),
        (f"C2 {percent(block.exposed.adapted.accuracy)}", "c2 value", exposed_y),
    )
    places = spread([place for _, _, place in labels])
    return [
        svg.text(_RIGHT + 22, place + 4, content, style)
        for (content, style, _), place in zip(labels, places, strict=True)
    ]
