"""What this audit could have seen: its precision, what it detects, and what a rejection of its p-value is worth.

Source: CleanScore 7.8 to 7.10, Figures 8, 9 and 10, Tables 10 to 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from leakscale.audit.report.findings import AuditFindings
from leakscale.report.figures import spread
from leakscale.report.page import PageFigure, Panel, color
from leakscale.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["planning_figures"]

_HEIGHT: Final = 240
_ROW: Final = 44
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
_LABEL_GAP: Final = 9
"""Least distance of two labels at the end of curves, in percent."""


def planning_figures(findings: AuditFindings, command: str) -> Iterator[PageFigure]:
    """Yield precision by budget, the least advantage, detection, and the relabelling test's two."""
    analysis = findings.analysis
    alpha = findings.registration.plan.inference.alpha
    yield _budget(analysis.table("budget"), command)
    yield _power(analysis.table("power"), command)
    yield _detection(analysis.table("detection"), command)
    yield _relabelling(analysis.table("relabelling"), command, alpha=alpha)
    yield _mismatch(analysis.table("mismatch"), command, alpha=alpha)


def _budget(table: Table[Any], command: str) -> PageFigure:
    panels = []
    widths = {
        words: [(row.parents, 100 * value) for row in table.rows if (value := getattr(row, name)) is not None]
        for name, words in (("half_width", "for the benchmark"), ("of_this_audit", "for these parents"))
    }
    if any(len(points) > 1 for points in widths.values()):
        spoken = "; ".join(
            f"{parents} parents {words}: {width:.1f} points"
            for words, points in widths.items()
            for parents, width in points
        )
        panels.append(Panel("half-width", "Half-width", spoken, partial(_draw_half_width, widths=widths), _HEIGHT))
    if ordered := [row for row in table.rows if row.pairs_ordered is not None]:
        spoken = "; ".join(
            f"{row.parents} parents: {100 * row.pairs_ordered:.0f} % of the pairs, the whole order in "
            f"{100 * row.all_ordered:.0f} %"
            for row in ordered
        )
        panels.append(Panel("order", "Order of the models", spoken, partial(_draw_order, rows=ordered), _HEIGHT))
    caption = (
        "Audits of fewer parents, drawn from this one: the mean Wald half-width of the gap's interval, for the "
        "benchmark (full) and for the parents of this audit alone (dashed; the paper's), and where several "
        "models were asked, how much of their order by fresh score is kept. Pairs are cheap to order, the whole order "
        "is not."
    )
    return PageFigure("budget", "Precision by budget", caption, table, tuple(panels), command)


def _draw_half_width(figure: Figure, *, widths: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    axes = figure.subplots()
    for (words, points), style, share in zip(widths.items(), ("o-", "s--"), (1, 0.65), strict=True):
        if points:
            axes.plot(*zip(*points, strict=True), style, color=color("ink", share), label=words)
    axes.set(xlabel="audited parents", ylabel="half-width, points", ylim=(0, None))
    axes.grid(axis="y")
    axes.legend(loc="upper right")


def _draw_order(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    sizes = [row.parents for row in rows]
    pairs, orders = ([100 * getattr(row, name) for row in rows] for name in ("pairs_ordered", "all_ordered"))
    axes.plot(sizes, pairs, "o-", color=color("ink"), label="pairs")
    axes.plot(sizes, orders, "s--", color=color("ink", 0.65), label="whole order")
    axes.set(xlabel="audited parents", ylabel="kept, %", ylim=(-3, 103))
    axes.grid(axis="y")
    axes.legend(loc="lower right")


def _power(table: Table[Any], command: str) -> PageFigure:
    spoken = "; ".join(
        f"{row.model}: {100 * row.half_power:.1f} points every second time, "
        + (row.primary if row.power_80 is None else f"{100 * row.power_80:.1f} four times of five")
        for row in table.rows
    )
    height = 46 + _ROW * len(table.rows)
    panel = Panel("", "Least advantage", spoken, partial(_draw_power, rows=table.rows), height)
    caption = (
        "How large an advantage of each model has to be for this audit to declare it: every second time (full), which "
        "is the half-width of its interval and the paper's figure, and four times out of five (hollow)."
    )
    return PageFigure("power", "The least advantage that is declared", caption, table, (panel,), command)


def _draw_power(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    for place, row in enumerate(rows):
        axes.axhline(place, color=color("rule"), linewidth=1, zorder=0)
        axes.text(0, place - 0.28, row.model, transform=axes.get_yaxis_transform(), size=12)
        half, most = 100 * row.half_power, 100 * (row.half_power if row.power_80 is None else row.power_80)
        axes.plot([half, most], [place, place], color=color("ink"), linewidth=1.6)
        axes.plot([half], [place], "o", color=color("ink"), markersize=7)
        words = f"{half:.1f}"
        if row.power_80 is not None:
            axes.plot([most], [place], "o", color=color("ink"), markerfacecolor=color("paper"), markersize=7)
            words = f"{half:.1f} and {most:.1f}"
        axes.text(1, place - 0.28, words, transform=axes.get_yaxis_transform(), ha="right", size=12)
    axes.set(xlabel="advantage, points", xlim=(0, None), ylim=(len(rows) - 0.5, -0.75), yticks=[])
    axes.margins(x=0.06)
    axes.spines["left"].set_visible(False)


def _detection(table: Table[Any], command: str) -> PageFigure:
    def spoken(rows: Sequence[Any]) -> str:
        return "; ".join(
            f"{row.parents} parents, {100 * row.advantage:g} points: {100 * row.detected:.0f} %" for row in rows
        )

    caption = (
        "Share of audits whose registered interval lies above zero, when an advantage of known size is planted into "
        "audits drawn from this one, on top of the model's own gap: at 0 points it is that gap that is seen."
    )
    panels = _by_model(table, spoken, _draw_detection, _HEIGHT)
    return PageFigure("detection", "How often a planted advantage is seen", caption, table, panels, command)


def _draw_detection(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    sizes = sorted({row.parents for row in rows})
    for place, size in enumerate(sizes):
        own = [row for row in rows if row.parents == size]
        axes.plot(
            [100 * row.advantage for row in own],
            [100 * row.detected for row in own],
            f"{_MARKERS[place % len(_MARKERS)]}-",
            color=color("ink", _shade(place, len(sizes))),
            label=f"{size} parents",
        )
    axes.set(xlabel="planted advantage, points", ylabel="detected, %", ylim=(-3, 103))
    axes.set_xticks(sorted({100 * row.advantage for row in rows}))
    axes.grid(axis="y")
    axes.legend(loc="lower right")


def _relabelling(table: Table[Any], command: str, *, alpha: float) -> PageFigure:
    def spoken(rows: Sequence[Any]) -> str:
        return "; ".join(
            f"{row.parents} parents, {100 * row.advantage:g} points: interval {100 * row.detected:.0f} %, test "
            f"{100 * row.rejected:.0f} %, level {100 * row.level:.1f} %"
            for row in rows
        )

    caption = (
        "The same audits, with a planted advantage (at the end of each curve, in points; at 0 it is the model's own "
        "gap that is seen), put to the registered interval and to the relabelling test; dotted, how often the test "
        f"rejects where the forms are exchangeable, which is to stay below {100 * alpha:g} %. A rejection is no "
        "detection: the next figure shows what else it may come from."
    )
    draw = partial(_draw_relabelling, alpha=alpha)
    panels = _by_model(table, spoken, draw, _HEIGHT + 60)
    return PageFigure("relabelling", "The relabelling test at small budgets", caption, table, panels, command)


def _draw_relabelling(figure: Figure, *, rows: Sequence[Any], alpha: float) -> None:
    axes = figure.subplots()
    sizes = sorted({row.parents for row in rows})
    planted = sorted({row.advantage for row in rows})
    for place, advantage in enumerate(reversed(planted)):
        share = _shade(place, len(planted))
        own = [row for row in rows if row.advantage == advantage]
        for name, style in (("rejected", "o-"), ("detected", "s--")):
            axes.plot(
                [row.parents for row in own], [100 * getattr(row, name) for row in own], style,
                color=color("ink", share), linewidth=1.8, markersize=5,
            )  # fmt: skip
    axes.plot(
        sizes, [100 * next(row.level for row in rows if row.parents == size) for size in sizes], "^:",
        color=color("muted"), linewidth=1.8, markersize=5,
    )  # fmt: skip
    axes.axhline(100 * alpha, color=color("rule"), linewidth=1, zorder=0)
    _name_ends(axes, [(100 * each, [row for row in rows if row.advantage == each][-1]) for each in planted])
    axes.set(xlabel="audited parents", ylabel="audits, %", ylim=(-3, 103), xlim=(sizes[0] - 8, sizes[-1] + 8))
    axes.set_xticks(sizes)
    axes.grid(axis="y")
    for name, style, role in (
        ("test rejects", "o-", "ink"), ("interval detects", "s--", "ink"), ("level of the test", "^:", "muted"),
    ):  # fmt: skip
        axes.plot([], [], style, color=color(role), label=name, linewidth=1.8, markersize=5)
    figure.legend(loc="outside upper left", ncols=2, handlelength=2.4)


def _name_ends(axes: Axes, ends: Sequence[tuple[float, Any]]) -> None:
    """Write the planted points where the test's curves end."""
    places = [100 * row.rejected for _, row in ends]
    for (points, row), place in zip(ends, spread(places, gap=_LABEL_GAP, highest=103), strict=True):
        axes.annotate(f"{points:g}", (row.parents, place), (9, 0), textcoords="offset points", va="center", size=12)


def _mismatch(table: Table[Any], command: str, *, alpha: float) -> PageFigure:
    models = [(model, list(own)) for model, own in groupby(table.rows, key=lambda row: row.model)]
    spoken = "; ".join(
        f"{model}: " + ", ".join(f"{100 * row.penalty:g} points {100 * row.rejected:.0f} %" for row in rows)
        for model, rows in models
    )
    draw = partial(_draw_mismatch, models=models, alpha=alpha)
    panels = (Panel("", "Rejected", spoken, draw, _HEIGHT + 20 * len(models)),) if models else ()
    caption = (
        "Audits of as many parents as this one, nothing of them exposed: how often the relabelling test rejects when "
        f"fresh forms are merely harder. The line is at {100 * alpha:g} %. Its p-value may strengthen a null and "
        "never announces an advantage."
    )
    return PageFigure("mismatch", "What mismatch alone makes the test reject", caption, table, panels, command)


def _draw_mismatch(figure: Figure, *, models: Sequence[tuple[str, Sequence[Any]]], alpha: float) -> None:
    axes = figure.subplots()
    for place, (model, rows) in enumerate(models):
        axes.plot(
            [100 * row.penalty for row in rows],
            [100 * row.rejected for row in rows],
            f"{_MARKERS[place % len(_MARKERS)]}-",
            color=color("ink", _shade(place, len(models))),
            label=model,
        )
    axes.axhline(100 * alpha, color=color("muted"), linewidth=1, linestyle="--")
    axes.set_xticks(sorted({100 * row.penalty for _, rows in models for row in rows}))
    axes.set(xlabel="fresh forms harder by, points", ylabel="rejected, %", ylim=(-3, 103))
    axes.grid(axis="y")
    figure.legend(loc="outside upper left", ncols=1)


def _shade(place: int, count: int) -> float:
    """Return how dark the curve at a place is, from 1 for the first to a half for the last."""
    return 1 - 0.5 * place / max(1, count - 1)


def _by_model(
    table: Table[Any], spoken: Callable[[Sequence[Any]], str], draw: Callable[..., None], height: int
) -> tuple[Panel, ...]:
    """Return a panel a model."""
    panels: dict[str, Panel] = {}
    for model, own in groupby(table.rows, key=lambda row: row.model):
        rows = list(own)
        name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in model)
        name = f"{name}-{len(panels) + 1}" if name in panels else name
        panels[name] = Panel(name, model, spoken(rows), partial(draw, rows=rows), height)
    return tuple(panels.values())
