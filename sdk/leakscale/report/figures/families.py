"""How the accuracies of families are spread: 25 % may be a quarter of each one's draws, or a quarter of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from leakscale.models import Condition, ModelState
from leakscale.report.figures.canvas import pixel_axes
from leakscale.report.page import PANEL_WIDTH, Panel, color
from leakscale.report.view import domain_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leakscale.analysis.families import HistogramRow
    from leakscale.tables import Table

__all__ = ["family_panels"]

_ROLES: Final = {Condition.C0: "cool", Condition.C2: "warm"}
_NAMES: Final = {Condition.C0: "C0 control", Condition.C2: "C2 exposed"}
_HEIGHT, _TOP, _PLOT, _LEFT = 300, 22, 92, 34


def family_panels(table: Table[HistogramRow]) -> tuple[Panel, ...]:
    """Draw every model and domain: control above, exposed below; before as an outline, after filled."""
    panels: list[Panel] = []
    for (model, domain), rows in groupby(table.rows, key=lambda row: (row.model, row.domain)):
        own = list(rows)
        name = domain.value if len({row.model for row in table.rows}) == 1 else f"{domain.value}-{len(panels)}"
        title = domain_name(domain) if name == domain.value else f"{model}, {domain_name(domain)}"
        panels.append(Panel(name, title, _spoken(own), partial(_draw, rows=own), _HEIGHT))
    return tuple(panels)


def _spoken(rows: Sequence[HistogramRow]) -> str:
    parts = []
    for (condition, state), own in groupby(rows, key=lambda row: (row.condition, row.state)):
        counts = [row.families for row in own]
        parts.append(f"{_NAMES[condition]} {state}: {', '.join(map(str, counts))} families by tenths of the accuracy")
    return "; ".join(parts)


def _draw(figure: Figure, *, rows: Sequence[HistogramRow]) -> None:
    most = max(row.families for row in rows)
    for place, condition in enumerate(Condition):
        top = _TOP + place * (_PLOT + 50)
        axes = pixel_axes(figure, left=_LEFT, top=top, width=PANEL_WIDTH - _LEFT - 16, height=_PLOT)
        axes.set(xlim=(0, 100), ylim=(0, 1.08 * most))
        axes.set_title(_NAMES[condition], color=color(_ROLES[condition]), pad=5)
        axes.grid(axis="y")
        axes.locator_params(axis="y", nbins=3, integer=True)
        axes.set_xticks([0, 25, 50, 75, 100])
        counts = {state: _counts(rows, condition, state) for state in ModelState}
        places: list[Any] = [row.at_least * 100 for row in rows[: len(counts[ModelState.BASE])]]
        width = 100 / len(places)
        axes.bar(
            places, counts[ModelState.ADAPTED], width, align="edge", color=color(_ROLES[condition], 0.45),
            edgecolor=color(_ROLES[condition]), linewidth=1, label="adapted",
        )  # fmt: skip
        axes.stairs(
            counts[ModelState.BASE], [*places, 100], color=color("ink"), linewidth=2, linestyle=(0, (4, 2)),
            label="base",
        )  # fmt: skip
        if condition is Condition.C0:
            axes.legend(loc="upper right", ncols=2, borderaxespad=0, bbox_to_anchor=(1, 1.27))
    axes.set_xlabel("correct draws of a family, percent")


def _counts(rows: Sequence[HistogramRow], condition: Condition, state: ModelState) -> list[int]:
    return [row.families for row in rows if row.condition is condition and row.state is state]
