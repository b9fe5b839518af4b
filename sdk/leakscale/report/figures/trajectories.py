"""The figure that shows why the control matters: two conditions before and after adaptation.

The dashed line is where the exposed families would have ended, had exposure done nothing: their own start, moved by
the control's drift. The bracket between that point and where they did end is the effect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from leakscale.models import Condition
from leakscale.report.figures.canvas import pixel_axes, points_label, spread
from leakscale.report.page import Panel, color
from leakscale.report.view import Block
from leakscale.report.words import percent, points
from leakscale.tables import PERCENT, Table, TableHead

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PathRow", "trajectory_panels", "trajectory_table"]

_HEAD: Final = TableHead("", "trajectories", "Accuracy before and after adaptation")
_HEIGHT, _LEFT, _WIDTH, _TOP, _BOTTOM = 240, 84, 158, 12, 30
_GAP: Final = 17
"""Least distance between two labels, in pixels."""
_CHANCE: Final = 25.0
"""Percent right of a blind pick among four candidates."""
_ROLES: Final = {Condition.C0: "cool", Condition.C2: "warm"}


@dataclass(frozen=True, slots=True)
class PathRow:
    """Where the families of one condition were, and where they went."""

    of: str
    condition: Condition
    families: int
    base: float = field(metadata=PERCENT)
    adapted: float = field(metadata=PERCENT)
    change: float


def trajectory_table(blocks: Sequence[Block]) -> Table[PathRow]:
    """Return the four accuracies of every block."""
    return _HEAD.filled(
        [
            PathRow(
                block.name,
                arm.condition,
                arm.family_count,
                base=arm.base.accuracy,
                adapted=arm.adapted.accuracy,
                change=arm.change.value,
            )
            for block in blocks
            for arm in block.arms
        ],
        "In percent; changes in points.",
    )


def trajectory_panels(blocks: Sequence[Block]) -> tuple[Panel, ...]:
    """Draw each block."""
    return tuple(
        Panel(block.name.lower().replace(" ", "-"), block.name, _spoken(block), partial(_draw, block=block), _HEIGHT)
        for block in blocks
    )


def _spoken(block: Block) -> str:
    control, exposed = (
        f"{percent(arm.base.accuracy)} to {percent(arm.adapted.accuracy)} percent" for arm in block.arms
    )
    return f"Control accuracy {control}; exposed accuracy {exposed}; effect {points(block.effect.value)} points."


def _draw(figure: Figure, *, block: Block) -> None:
    height = _HEIGHT - _TOP - _BOTTOM
    axes = pixel_axes(figure, left=_LEFT, top=_TOP, width=_WIDTH, height=height)
    top = _top(max(count.accuracy for arm in block.arms for count in (arm.base, arm.adapted)))
    axes.set(xlim=(0, 1), ylim=(0, top), yticks=[])
    axes.set_xticks([0, 1], ["base", "adapted"])
    axes.spines["left"].set_visible(False)
    _levels(axes, top)
    unexposed = 100 * (block.exposed.base.accuracy + block.control.change.value)
    axes.plot([0, 1], [100 * block.exposed.base.accuracy, unexposed], "--", color=color("warm"), linewidth=1.6)
    for arm in block.arms:
        accuracies = [100 * arm.base.accuracy, 100 * arm.adapted.accuracy]
        axes.plot([0, 1], accuracies, "o-", color=color(_ROLES[arm.condition]), linewidth=3, clip_on=False)
    _labels(axes, block, top=top, height=height, unexposed=unexposed)


def _top(share: float) -> float:
    """Return the end of the axis in percent: 50, 75 or 100."""
    return min(100.0, max(50.0, 25 * math.ceil(4 * share + 0.2)))


def _levels(axes: Axes, top: float) -> None:
    for level in range(0, round(top) + 1, 25):
        shade = color("muted") if level == _CHANCE else color("rule")
        style = (0, (2, 3)) if level == _CHANCE else "-"
        axes.plot([0, 1.04], [level, level], color=shade, linewidth=1, linestyle=style, clip_on=False, zorder=0)
        axes.text(-0.4, level, f"{level}", ha="right", va="center", color=color("muted"), size=11)


def _labels(axes: Axes, block: Block, *, top: float, height: float, unexposed: float) -> None:
    def placed(*levels: float) -> list[float]:
        """Return levels moved apart, in percent."""
        pixels = [level * height / top for level in levels]
        return [-place * top / height for place in spread([-each for each in pixels], gap=_GAP, highest=0)]

    starts = placed(*(100 * arm.base.accuracy for arm in block.arms))
    for arm, level in zip(block.arms, starts, strict=True):
        axes.text(
            -0.08, level, percent(arm.base.accuracy), ha="right", va="center", color=color(_ROLES[arm.condition]),
            weight="bold",
        )  # fmt: skip
    control, exposed = (100 * arm.adapted.accuracy for arm in block.arms)
    axes.plot([1.06, 1.1, 1.1, 1.06], [unexposed, unexposed, exposed, exposed], color=color("ink"), linewidth=1.6,
              clip_on=False)  # fmt: skip
    ends = (
        (f"C0 {percent(block.control.adapted.accuracy)}", "cool", control),
        (points_label(block.effect.value), "ink", (unexposed + exposed) / 2),
        (f"C2 {percent(block.exposed.adapted.accuracy)}", "warm", exposed),
    )
    for (words, role, _), level in zip(ends, placed(*(level for *_, level in ends)), strict=True):
        axes.text(1.16, level, words, va="center", color=color(role), weight="bold")
