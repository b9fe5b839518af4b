"""Tables and figure of the laboratory of exposure effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leakscale.lab.cells import Row
from leakscale.lab.tables import Table, points, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "tables"]


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return every table; the rows are those of a whole run."""
    return [
        _effect_table(_of_kind(rows, "effect")),
        _shape_table(_of_kind(rows, "shapes")),
        _transfer_table(_of_kind(rows, "transfer")),
        _pooled_table(_of_kind(rows, "pooled")),
        _other_table([*_of_kind(rows, "contrast"), *_of_kind(rows, "seeds")]),
        _endpoint_table(_of_kind(rows, "endpoints")[0]),
    ]


def _of_kind(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row.settings["kind"] == kind]


def _replicates(rows: Sequence[Row]) -> str:
    counts = sorted({row.settings["replicates"] for row in rows}, reverse=True)
    return " or ".join(f"{count:,}" for count in counts)


def _coverage(measures: Mapping[str, Any]) -> float:
    return float(measures["covered"] / measures["replicates"])


def _coverage_and_width(measures: Mapping[str, Any]) -> str:
    if measures["mean_half_width"] is None:
        return "none"
    return f"{share(_coverage(measures))} ({points(measures['mean_half_width'])})"


def _effect_table(rows: Sequence[Row]) -> Table:
    methods = list(dict.fromkeys(row.settings["method"] for row in rows))
    settings = list(dict.fromkeys((row.settings["law"], row.settings["families"]) for row in rows))
    found = {(row.settings["law"], row.settings["families"], row.settings["method"]): row.measures for row in rows}
    lines = [
        [
            f"{law}, {families} + {families}",
            *(_coverage_and_width(found[law, families, method]) for method in methods),
        ]
        for law, families in settings
    ]
    return Table(
        "Effect of one cell: coverage and mean half-width",
        ["law, families", *methods],
        lines,
        note="`percentile` is the registered interval and `exact` its limit; in a table by shape, with 16 + 16"
        " families, both cover too rarely. Where jumps are rare, a small sample holds none and no method can know."
        f" Replicates: {_replicates(rows)}.",
    )


def _shape_table(rows: Sequence[Row]) -> Table:
    methods = list(dict.fromkeys(row.settings["method"] for row in rows))
    found = {(row.settings["target"], row.settings["method"]): row.measures for row in rows}
    lines = [
        [method, *(_coverage_and_width(found[target, method]) for target in ("sampled", "given"))] for method in methods
    ]
    return Table(
        "512 + 512 families of 32 shapes that are learned unequally: coverage and mean half-width",
        ["method", "effect over all possible shapes", "effect over these shapes"],
        lines,
        note="Families are the registered unit. To speak of shapes that were not tried, resample shapes.",
    )


def _transfer_table(rows: Sequence[Row]) -> Table:
    lines = []
    for row in rows:
        found = row.measures
        reported = found["replicates"] - found["withheld"]
        lines.append(
            [
                f"{row.settings['study']} effect, {row.settings['method']}",
                share(found["covered"] / reported),
                share(found["unbounded"] / reported),
                share(found["withheld"] / found["replicates"]),
                _coverage_and_width(found["visible_gap"]),
            ]
        )
    return Table(
        "Transferred share of a planted effect, 100 + 100 parents",
        ["study, method", "coverage where reported", "unbounded", "withheld", "visible gap"],
        lines,
        note="`large`: 24 points planted, 17.5 transferred. `small`: 8 and 4. A share is withheld here where the public"
        " effect came out at zero or below; the registered floor of 5 points withholds more.",
    )


def _pooled_table(rows: Sequence[Row]) -> Table:
    lines = []
    for row in rows:
        found, shares = row.measures, row.measures["shares"]
        lines.append(
            [
                f"{row.settings['study']} effect, {row.settings['assigned']}",
                *(_coverage_and_width(found[name]) for name in ("public", "fresh", "gap")),
                *(
                    share(shares[method]["covered"] / (found["replicates"] - shares[method]["withheld"]))
                    for method in ("fieller", "percentile")
                ),
            ]
        )
    return Table(
        "Four studies of the same 200 parents, pooled",
        ["study, parents assigned", "public", "fresh", "visible gap", "share, fieller", "share, percentile"],
        lines,
        note="`alike`: the same parents are exposed in all four studies. `anew`: drawn for each, so that a parent is"
        " exposed in some and untouched in others. How easily a parent is planted is its own, in every study.",
    )


def _other_table(rows: Sequence[Row]) -> Table:
    lines = [[row.cell, share(_coverage(row.measures)), points(row.measures["mean_half_width"] or 0.0)] for row in rows]
    return Table(
        "Interaction of two models and two domains, and ten seed-paired differences",
        ["kind, method or law", "coverage", "mean half-width"],
        lines,
    )


def _endpoint_table(row: Row) -> Table:
    measures = row.measures
    names = ("endpoint_sd", "mean_endpoints", "exact_endpoints")
    lines = [[end, *(f"{100 * measures[name][i]:.3f}" for name in names)] for i, end in enumerate(("lower", "upper"))]
    return Table(
        f"{measures['runs']} registered runs on one sample of 512 + 512 families, in points",
        ["endpoint", "SD between seeds", "mean of the runs", "exact"],
        lines,
        note="The seed of the registered bootstrap moves its endpoints by the first column; `exact` has no seed.",
    )


def draw(rows: Sequence[Row], figure: Figure) -> None:
    """Draw coverage of the effect by number of families, for each law and method."""
    effects = _of_kind(rows, "effect")
    laws = list(dict.fromkeys(row.settings["law"] for row in effects))
    methods = list(dict.fromkeys(row.settings["method"] for row in effects))
    panels = figure.subplots(1, len(laws), sharey=True)
    for axes, law in zip(panels, laws, strict=True):
        for place, method in enumerate(methods):
            line = [row for row in effects if (row.settings["law"], row.settings["method"]) == (law, method)]
            sizes = [row.settings["families"] for row in line]
            axes.plot(
                sizes, [_coverage(row.measures) for row in line], marker="o", linewidth=4 - 0.8 * place, label=method
            )
        axes.axhline(0.95, color="0.4", linewidth=0.8, linestyle="--")
        axes.set(title=law, xscale="log", xlabel="families a condition")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
    panels[0].set_ylabel("coverage of the effect")
    panels[-1].legend()
