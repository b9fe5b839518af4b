"""The figures of positive controls: of each by itself, and of several beside each other.

Source: CleanScore 7.11 to 7.14, Figures 11 to 15.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from leakscale.audit.controls.filing import ControlAnalysis
from leakscale.audit.report.findings import AuditFindings
from leakscale.audit.report.forests import forest_figure
from leakscale.report.figures import ForestRow
from leakscale.report.page import PageFigure, Panel, color
from leakscale.stats import Interval
from leakscale.tables import Table, TableHead

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["control_figures", "landed_table"]

_BAR_HEIGHT: Final = 26
_PUBLIC: Final = "public forms"
_FAILED: Final = "failed: nothing was planted"
_LANDED: Final = TableHead("", "controls", "Where the leak of each positive control landed")


@dataclass(frozen=True, slots=True)
class LandedRow:
    """What one control did to one kind of form, or to what an audit sees of it."""

    control: str
    model: str
    leaked: str
    """`exact`: public forms; `paraphrase`: a fresh one."""
    arm: str
    """Kind of form, or `visible gap`."""
    effect: Interval
    """Difference in differences under the registered seed."""
    manipulation: str
    """Whether anything was planted; if not, nothing is said of where it landed."""


def control_figures(findings: AuditFindings, command: str) -> Iterator[PageFigure]:
    """Yield where the leaks landed and their mean, if there are several controls, then the figures of each."""
    if len(findings.controls) > 1:
        yield _landed(findings.controls, command)
    yield from _pooled(findings)
    for control in findings.controls:
        yield _effects(control, command)
        yield _groups(control, command)
        yield _first_option(control, command)
        yield _consequence(control, command)


def landed_table(controls: Sequence[ControlAnalysis]) -> Table[LandedRow]:
    """Return the effects of every control under its registered seed, on each kind of form and on the visible gap."""
    return _LANDED.filled(
        [row for control in controls for row in _landed_rows(control)],
        "Difference in differences under the registered seed.",
    )


def _landed(controls: Sequence[ControlAnalysis], command: str) -> PageFigure:
    table = landed_table(controls)
    return forest_figure(
        "controls",
        "Where the leaks landed",
        "Each control under its registered seed, all on one scale: what its leak did to the public wording, to wording "
        "that was never shown, and how much of it a comparison of public and fresh wording can see.",
        table,
        [ForestRow(_title(row), row.arm, row.effect, said=_warning(row)) for row in table.rows],
        command=command,
    )


def _landed_rows(control: ControlAnalysis) -> Iterator[LandedRow]:
    run = control.registered
    arms = {f"{name} forms": found.effect for name, found in run.effects.items()} | {"visible gap": run.gap.gap}
    check = "passed" if run.manipulation.is_passed else _FAILED
    own = control.control
    for arm, effect in arms.items():
        yield LandedRow(own.name, own.model, str(own.exposure.kind), arm, effect, check)


def _title(row: LandedRow) -> str:
    return f"{row.control} ({row.leaked}, {row.model})"


def _warning(row: LandedRow) -> str:
    """Say once a control that its leak failed."""
    return f"({row.manipulation})" if row.arm == _PUBLIC and row.manipulation == _FAILED else ""


def _pooled(findings: AuditFindings) -> Iterator[PageFigure]:
    if findings.pooled is not None:
        table = findings.pooled.table("pooled")
        yield forest_figure(
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
            command=f"leakscale audit pool {findings.folder}",
        )


def _effects(control: ControlAnalysis, command: str) -> PageFigure:
    return forest_figure(
        f"control-{control.control.name}-effects",
        "What the leak did, by form",
        "Change of the exposed parents less that of the untouched ones, in each training run. The visible gap is "
        "all that a comparison of public and fresh wording can see of it.",
        control.table("effects"),
        _effect_rows(control),
        command=command,
    )


def _groups(control: ControlAnalysis, command: str) -> PageFigure:
    table = control.table("accuracies")
    return forest_figure(
        f"control-{control.control.name}-groups",
        "Exposed parents beside untouched ones",
        "Change of accuracy under the registered seed. What training does to everything shows in both groups.",
        table,
        [
            ForestRow(f"{row.parents} parents", row.forms, row.change)
            for row in table.rows
            if row.run == control.registered.run.label
        ],
        command=command,
        roles=("warm", "cool"),
    )


def _effect_rows(control: ControlAnalysis) -> list[ForestRow]:
    gaps = {each.run.label: each.gap.gap for each in control.runs}
    rows: list[ForestRow] = []
    for run, own in groupby(control.table("effects").rows, key=lambda row: row.run):
        rows += [ForestRow(run, f"{row.forms} forms", row.effect) for row in own]
        rows.append(ForestRow(run, "visible gap", gaps[run]))
    return rows


def _first_option(control: ControlAnalysis, command: str) -> PageFigure:
    table = control.table("first-option")
    rows = [row for row in table.rows if row.state == control.registered.run.label]
    spoken = "; ".join(f"{row.parents}, {row.form}: {100 * row.first_chosen:.0f} % of {row.choices}" for row in rows)
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
        xlabel="tracks (dark), tells apart (light)",
        xlim=(min(-0.1, *found, *(row.tracks for row in rows)), 1),
    )


def _draw_bars(figure: Figure, *, rows: Sequence[Any]) -> None:
    axes = figure.subplots()
    places = range(len(rows), 0, -1)
    colors = [color("warm" if row.parents == "exposed" else "cool") for row in rows]
    axes.barh(places, [100 * row.first_chosen for row in rows], color=colors, height=0.6)
    axes.plot([100 * row.first_is_right for row in rows], places, "|", color=color("ink"), markersize=14)
    axes.set_yticks(list(places), [f"{row.parents}, {row.form}" for row in rows])
    axes.set(xlabel="chosen (bar) and right (mark), %", xlim=(0, 100))
