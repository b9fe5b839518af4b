"""Tables and figure of the laboratory of power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leakscale.lab.cells import Row
from leakscale.lab.tables import Table, points, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "tables"]

_WORDS = {0.24: "24 % nonzero", 0.15: "15 % nonzero", 0.08: "8 % nonzero"}


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return every table; the rows are those of a whole run."""
    return [
        *(_detection_table(rows, nonzero) for nonzero in _WORDS),
        _effect_table(rows),
        _penalty_table(rows),
        _odds_table(rows),
        _budget_table(rows),
    ]


def _of_kind(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row.settings["kind"] == kind]


def _rate(found: dict[str, Any]) -> float:
    return float(found["detected"] / found["replicates"])


def _detection_table(rows: Sequence[Row], nonzero: float) -> Table:
    chosen = [row for row in _of_kind(rows, "detect") if row.settings["nonzero"] == nonzero]
    rules = list(chosen[0].measures)
    lines = [
        [
            f"n = {row.settings['n']}, {100 * row.settings['advantage']:g} points",
            *(f"{_rate(row.measures[rule]):.3f}" for rule in rules),
        ]
        for row in chosen
    ]
    return Table(
        f"Detection rate, {_WORDS[nonzero]}",
        ["audit, planted advantage", *rules],
        lines,
        note="`rule` is the guardrail with the bound it falls back to. The relabelling test also rejects where fresh"
        " forms are merely harder (below), so it may strengthen a null and never announces a positive. It knows no"
        " finite population, hence its low level in audits of much of the frame.",
    )


def _effect_table(rows: Sequence[Row]) -> Table:
    chosen = _of_kind(rows, "effect")
    names = list(chosen[0].measures)
    lines = []
    for row in chosen:
        cells = [str(value) if isinstance(value, int) else points(value) for value in row.measures.values()]
        lines.append([_WORDS[row.settings["nonzero"]], *cells])
    return Table(
        "Smallest advantage that an audit of 200 declares with power .5 and .8, and parents for power .8",
        ["pilot", *names],
        lines,
        note="The paper's minimum detectable effect has power .5. The guardrail fires below 30 nonzero gaps.",
    )


def _penalty_table(rows: Sequence[Row]) -> Table:
    lines = [
        [
            f"{row.settings['model']}, penalty {row.settings['penalty']:g}",
            *(share(row.measures[side] / row.settings["replicates"]) for side in ("two-sided", "greater")),
        ]
        for row in _of_kind(rows, "penalty")
    ]
    return Table(
        "Rejections of the relabelling test without any exposure, 200 parents",
        ["parents, how much harder fresh forms are", "two-sided", "greater"],
        lines,
        note="Nominal .05. Exact where forms are exchangeable; a penalty of ten points rejects most audits.",
    )


def _odds_table(rows: Sequence[Row]) -> Table:
    lines = []
    for row in _of_kind(rows, "odds"):
        settings, found = row.settings, row.measures
        informative = settings["replicates"] - found["without_information"]
        lines.append(
            [
                f"{settings['model']}, odds ratio {settings['odds_ratio']:g}, {settings['parents']} parents",
                share(found["covered"] / informative),
                str(found["unbounded"]),
                str(found["without_information"]),
            ]
        )
    return Table(
        "Exact conditional odds ratio: coverage",
        ["parents", "coverage", "unbounded", "no discordant parent"],
        lines,
        note="Nominal at least .95.",
    )


def _budget_table(rows: Sequence[Row]) -> Table:
    row = _of_kind(rows, "budget")[0]
    lines = [
        [
            str(point["budget"]),
            "" if point["half_width"] is None else points(point["half_width"]),
            f"{point['pair_share']:.3f}",
            f"{point['order_share']:.3f}",
        ]
        for point in row.measures["points"]
    ]
    return Table(
        f"Subsamples of {row.settings['parents']} audited parents, five models, two of them a hundredth apart",
        ["parents", "mean half-width", "pairs ordered as in full", "whole orders as in full"],
        lines,
        note="Pairs are cheap to order and the whole order is not. The audited parents are the population here, so the"
        " half-width ends at 0; ties count as wrong.",
    )


def draw(rows: Sequence[Row], figure: Figure) -> None:
    """Draw detection of ten points by audit size for each pilot."""
    panels = figure.subplots(1, len(_WORDS), sharey=True)
    for axes, (nonzero, title) in zip(panels, _WORDS.items(), strict=True):
        line = [
            row
            for row in _of_kind(rows, "detect")
            if row.settings["nonzero"] == nonzero and row.settings["advantage"] == 0.10
        ]
        for rule in line[0].measures:
            axes.plot(
                [row.settings["n"] for row in line],
                [_rate(row.measures[rule]) for row in line],
                marker="o",
                linestyle=":" if rule.startswith("relabelling") else "-",
                label=rule,
            )
        axes.set(title=title, xlabel="audited parents", xscale="log", ylim=(-0.02, 1.02))
        axes.set_xticks([row.settings["n"] for row in line], [str(row.settings["n"]) for row in line])
        axes.minorticks_off()
    panels[0].set_ylabel("detection of 10 planted points")
    panels[-1].legend(loc="lower right")
