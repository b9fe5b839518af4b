"""The figures of an audit's report, each with its numbers or the reason why it is not there.

Source: CleanScore, Figures 5, 7, 8, 9, 11, 12 and 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from leakscale.audit.controls.filing import ControlAnalysis
from leakscale.audit.report.findings import AuditFindings
from leakscale.report.figures import ForestRow, forest_panel
from leakscale.report.page import PageFigure, Panel, color
from leakscale.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["audit_figures"]

_CURVE_HEIGHT: Final = 230
_BAR_HEIGHT: Final = 26
_MARKERS: Final = ("o-", "s-", "^-", "D-", "v-", "P-")


def audit_figures(findings: AuditFindings) -> dict[str, PageFigure]:
    """Return every figure by its name, those of a positive control under `control-NAME-...`."""
    command = f"leakscale audit report {findings.name}"
    made = [*_registered(findings, command), *_of_controls(findings, command), *_pooled(findings)]
    return {figure.name: figure for figure in made}


def _registered(findings: AuditFindings, command: str) -> Iterator[PageFigure]:
    table = findings.analysis.table
    rho = findings.registration.plan.inference.rho
    yield _figure(
        "gaps",
        "Public less fresh wording, model by model",
        "A gap is the score on the public wording less the mean score on fresh wordings of the same items. Below it, "
        f"what of it may be owed to exposure once the control bank's own gap and a radius of {100 * rho:g} points are "
        "taken off.",
        table("advantage"),
        _gap_rows(table("advantage"), table("claims")),
        command=command,
    )
    yield _figure(
        "radius",
        "What may be owed to exposure, by transport radius",
        "The radius is how far the ordinary gap of the benchmark may lie from that of the control bank. The registered "
        "grid was fixed before a score existed.",
        table("sensitivity"),
        [ForestRow(row.model, f"radius {100 * row.rho:g} points", row.exposure) for row in table("sensitivity").rows],
        command=command,
    )
    yield _figure(
        "intervals",
        "The gap under every interval",
        "The registered rule makes one of them primary; the others are shown beside it.",
        table("intervals"),
        [ForestRow(row.model, row.method.replace("_", " "), row.gap) for row in table("intervals").rows],
        command=command,
    )
    yield _budget(table("budget"), command)
    yield _detection(table("detection"), command)


def _gap_rows(advantage: Table[Any], claims: Table[Any]) -> list[ForestRow]:
    claimed = {row.model: row for row in claims.rows}
    rows = []
    for row in advantage.rows:
        rows.append(ForestRow(row.model, "gap", row.gap))
        if row.model in claimed:
            rows.append(ForestRow(row.model, "control bank's gap", claimed[row.model].control_gap))
            rows.append(ForestRow(row.model, "owed to exposure", claimed[row.model].exposure))
    return rows


def _of_controls(findings: AuditFindings, command: str) -> Iterator[PageFigure]:
    for control in findings.controls:
        name = control.control.name
        yield _figure(
            f"control-{name}-effects",
            "What the leak did, by form",
            "Change of the exposed parents less that of the untouched ones, in each training run. The visible gap is "
            "all that a comparison of public and fresh wording can see of it.",
            control.table("effects"),
            _effect_rows(control),
            command=command,
        )
        yield _figure(
            f"control-{name}-groups",
            "Exposed parents beside untouched ones",
            "Change of accuracy under the registered seed. What training does to everything shows in both groups.",
            control.table("accuracies"),
            [
                ForestRow(f"{row.parents} parents", row.forms, row.change)
                for row in control.table("accuracies").rows
                if row.run == control.registered.run.label
            ],
            command=command,
            roles=("warm", "cool"),
        )
        yield _first_option(control, command)
        yield _consequence(control, command)


def _effect_rows(control: ControlAnalysis) -> list[ForestRow]:
    gaps = {each.run.label: each.gap.gap for each in control.runs}
    rows: list[ForestRow] = []
    for run, own in groupby(control.table("effects").rows, key=lambda row: row.run):
        rows += [ForestRow(run, f"{row.forms} forms", row.effect) for row in own]
        rows.append(ForestRow(run, "visible gap", gaps[run]))
    return rows


def _pooled(findings: AuditFindings) -> Iterator[PageFigure]:
    if findings.pooled is not None:
        table = findings.pooled.table("pooled")
        yield _figure(
            "pooled",
            "What a leak did on average",
            "Mean effect over the controls of a kind, each with the same weight; parents that they share are drawn "
            "once for all of them.",
            table,
            [
                ForestRow(
                    f"{row.exposure}, {row.controls} controls",
                    row.forms if row.forms == "visible gap" else f"{row.forms} forms",
                    row.effect,
                )
                for row in table.rows
            ],
            command=f"leakscale audit pool {findings.name}",
        )


def _figure(
    name: str,
    title: str,
    caption: str,
    table: Table[Any],
    rows: Sequence[ForestRow],
    *,
    command: str,
    roles: Sequence[str] = ("ink",),
) -> PageFigure:
    panels = (forest_panel(rows, name="", title=title, roles=roles),) if rows else ()
    return PageFigure(name, title, caption, table, panels, command)


def _budget(table: Table[Any], command: str) -> PageFigure:
    rows = [row for row in table.rows if row.half_width is not None]
    spoken = "; ".join(f"{row.parents} parents: {100 * row.half_width:.1f} points" for row in rows)
    panels = (Panel("", "Half-width", spoken, partial(_draw_budget, rows=rows), _CURVE_HEIGHT),) if rows else ()
    caption = "Mean half-width of the gap's interval over the models, for audits of fewer parents drawn from this one."
    return PageFigure("budget", "Precision by budget", caption, table, panels, command)


def _draw_budget(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    axes.plot([row.parents for row in rows], [100 * row.half_width for row in rows], "o-", color=color("ink"))
    axes.set(xlabel="audited parents", ylabel="half-width, points", ylim=(0, None))
    axes.grid(axis="y")


def _detection(table: Table[Any], command: str) -> PageFigure:
    panels = [_detection_panel(model, list(own)) for model, own in groupby(table.rows, key=lambda row: row.model)]
    caption = (
        "Share of audits whose registered interval lies above zero, when an advantage of known size is planted into "
        "audits drawn from this one."
    )
    return PageFigure("detection", "How often a planted advantage is seen", caption, table, tuple(panels), command)


def _detection_panel(model: str, rows: Sequence[Any]) -> Panel:
    spoken = "; ".join(
        f"{row.parents} parents, {100 * row.advantage:g} points: {100 * row.detected:.0f} %" for row in rows
    )
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in model)
    return Panel(name, model, spoken, partial(_draw_detection, rows=rows), _CURVE_HEIGHT)


def _draw_detection(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    sizes = sorted({row.parents for row in rows})
    for place, (size, marker) in enumerate(zip(sizes, _MARKERS, strict=False)):
        own = [row for row in rows if row.parents == size]
        axes.plot(
            [100 * row.advantage for row in own],
            [100 * row.detected for row in own],
            marker,
            color=color("ink", 1 - 0.15 * place),
            label=f"{size} parents",
        )
    axes.set(xlabel="planted advantage, points", ylabel="detected, %", ylim=(-3, 103))
    axes.grid(axis="y")
    axes.legend(loc="center right")


def _first_option(control: ControlAnalysis, command: str) -> PageFigure:
    table = control.table("first-option")
    rows = [row for row in table.rows if row.state == control.registered.run.label]
    spoken = "; ".join(f"{row.parents}, {row.form}: {100 * row.chosen:.0f} % of {row.choices}" for row in rows)
    height = 60 + _BAR_HEIGHT * len(rows)
    panels = (Panel("", "First option", spoken, partial(_draw_bars, rows=rows), height),) if rows else ()
    caption = "Share of choices that fell on the option listed first, after the leak, by group and form."
    return PageFigure(
        f"control-{control.control.name}-first-option", "Pull of the first option", caption, table, panels, command
    )


def _consequence(control: ControlAnalysis, command: str) -> PageFigure:
    table = control.table("detectors")
    own = [row for row in table.rows if row.run == control.registered.run.label and row.tracks is not None]
    rows = sorted(own, key=lambda row: row.rank)
    spoken = "; ".join(
        f"{row.detector}: tracks {row.tracks:+.2f}, finds {100 * row.finds_exposed:.0f} %" for row in rows
    )
    height = 60 + 2 * _BAR_HEIGHT * len(rows)
    panels = (Panel("", "Detectors", spoken, partial(_draw_consequence, rows=rows), height),) if rows else ()
    caption = (
        "Under the registered seed, for each detector: rank correlation of its signal with the change of a parent's "
        "public score (dark), and how much better than by chance it tells exposed from untouched parents (light; twice "
        "the probability of a right order, less one)."
    )
    name = f"control-{control.control.name}-detectors"
    return PageFigure(name, "Detectors by consequence", caption, table, panels, command)


def _draw_consequence(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    places = range(len(rows), 0, -1)
    found = [2 * row.finds_exposed - 1 for row in rows]
    axes.barh([place + 0.18 for place in places], [row.tracks for row in rows], color=color("ink"), height=0.34)
    axes.barh([place - 0.18 for place in places], found, color=color("ink", 0.35), height=0.34)
    axes.axvline(0, color=color("muted"), linewidth=1)
    axes.set_yticks(list(places), [row.detector for row in rows])
    axes.set(
        xlabel="tracks the change (dark), tells exposed apart (light)",
        xlim=(min(-0.1, *found, *(row.tracks for row in rows)), 1),
    )


def _draw_bars(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    places = range(len(rows), 0, -1)
    colors = [color("warm" if row.parents == "exposed" else "cool") for row in rows]
    axes.barh(places, [100 * row.chosen for row in rows], color=colors, height=0.6)
    axes.plot([100 * row.right for row in rows], places, "|", color=color("ink"), markersize=14)
    axes.set_yticks(list(places), [f"{row.parents}, {row.form}" for row in rows])
    axes.set(xlabel="chosen (bar) and right (mark), %", xlim=(0, 100))
