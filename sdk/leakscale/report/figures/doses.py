"""Dose-response: how the effect grows with the strength of the adapter, and what the control does meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from leakscale.report.figures.canvas import pixel_axes, scale_of, signed
from leakscale.report.page import PANEL_WIDTH, Panel, color
from leakscale.report.view import domain_name
from leakscale.report.words import bounds_in_words, points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leakscale.analysis.extensions import DoseRow
    from leakscale.tables import Table

__all__ = ["dose_panels"]

_HEIGHT, _TOP, _PLOT, _LEFT = 250, 26, 172, 40


def dose_panels(table: Table[DoseRow]) -> tuple[Panel, ...]:
    """Draw every model and domain."""
    panels: list[Panel] = []
    for (model, domain), rows in groupby(table.rows, key=lambda row: (row.model, row.domain)):
        own = list(rows)
        spoken = "; ".join(
            f"strength {row.strength:g}: effect {points(row.effect.estimate)} points ({bounds_in_words(row.effect)})"
            for row in own
        )
        title = f"{model}, {domain_name(domain)}"
        panels.append(Panel(f"{domain.value}-{len(panels)}", title, spoken, partial(_draw, rows=own), _HEIGHT))
    return tuple(panels)


_LINES: Final = (("c2_change", "C2 change", "warm", "s-"), ("c0_drift", "C0 drift", "cool", "^-"))


def _draw(figure: Figure, *, rows: Sequence[DoseRow]) -> None:
    axes = pixel_axes(figure, left=_LEFT, top=_TOP, width=PANEL_WIDTH - _LEFT - 18, height=_PLOT)
    strengths = [0.0, *(row.strength for row in rows)]
    bounds = [(100 * row.effect.low, 100 * row.effect.high) for row in rows]
    changes = [100 * change for row in rows for change in (row.c0_drift, row.c2_change)]
    scale = scale_of([*changes, *(end for pair in bounds for end in pair)])
    axes.set(ylim=(scale.low, scale.high), xlim=(0, 1.03 * strengths[-1]), xlabel="strength (factor of lora_B)")
    axes.set_yticks(scale.ticks, list(map(signed, scale.ticks)))
    axes.set_xticks(strengths, [f"{each:g}" for each in strengths])
    axes.tick_params(axis="x", pad=9)
    axes.grid(axis="y")
    axes.axhline(0, color=color("muted"), linewidth=1)
    axes.fill_between(
        strengths, [0.0, *(low for low, _ in bounds)], [0.0, *(high for _, high in bounds)], color=color("ink", 0.15),
        linewidth=0,
    )  # fmt: skip
    for name, label, role, style in _LINES:
        values = [0.0, *(100 * getattr(row, name) for row in rows)]
        axes.plot(strengths, values, style, color=color(role), label=label, markersize=5, linewidth=1.6)
    effects = [0.0, *(100 * row.effect.estimate for row in rows)]
    axes.plot(strengths, effects, "o-", color=color("ink"), label="effect", markersize=6, linewidth=2.4)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2, handlelength=1.6)
