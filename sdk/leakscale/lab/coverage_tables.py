"""Tables and figure of the laboratory of coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from leakscale.lab.cells import Row
from leakscale.lab.tables import Table, points, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "tables"]

_SHORT: Final = {
    "hoeffding": "Hoeffding",
    "hoeffding_serfling": "Serfling",
    "wald_fpc": "Wald",
    "empirical_bernstein": "Bernstein",
    "empirical_bernstein_serfling": "Bernstein-Serfling",
    "betting": "betting",
    "exact_hypergeometric": "hypergeometric",
    "guardrail(hoeffding)": "rule, Hoeffding",
    "guardrail(betting)": "rule, betting",
}
"""Column heads; the two rules are the guardrail with either bound."""


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return every table; the rows are those of a whole run."""
    grid = _of_kind(rows, "grid")
    return [
        _summary_table(grid),
        _coverage_table("Coverage in the 36 settings", grid),
        _width_table("Mean half-width in the 36 settings", grid),
        _frame_table(_of_kind(rows, "frame")),
        _betting_table(_of_kind(rows, "frame")),
        _exact_table(_of_kind(rows, "exact")),
        _strata_table(_of_kind(rows, "strata")),
        _control_table(_of_kind(rows, "control")),
    ]


def _of_kind(rows: Iterable[Row], kind: str) -> list[Row]:
    return [row for row in rows if row.settings["kind"] == kind]


def _coverage(row: Row, method: str) -> float:
    found = row.measures["methods"][method]
    return float(found["covered"] / found["replicates"])


def _half_width(row: Row, method: str) -> float:
    return float(row.measures["methods"][method]["mean_half_width"])


def _methods(rows: Sequence[Row]) -> list[str]:
    return list(rows[0].measures["methods"])


def _summary_table(rows: Sequence[Row]) -> Table:
    lines = []
    for method in _methods(rows):
        found = [_coverage(row, method) for row in rows]
        narrower = sum(_half_width(row, method) < _half_width(row, "hoeffding") for row in rows)
        ratios = [_half_width(row, method) / _half_width(row, "hoeffding") for row in rows]
        lines.append(
            [
                _SHORT[method],
                share(min(found)),
                share(max(found)),
                str(sum(value < 0.94 for value in found)),
                str(sum(value < 0.93 for value in found)),
                f"{narrower}",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
            ]
        )
    replicates = rows[0].settings["replicates"]
    return Table(
        f"{len(rows)} settings, {replicates:,} audits each",
        ["interval", "least coverage", "greatest", "below .94", "below .93", "narrower than Hoeffding", "width ratio"],
        lines,
        note=f"Six shapes, 1,000 and 5,000 parents, audits of 5, 20 and 50 %. Simulation error near .95:"
        f" {np.sqrt(0.95 * 0.05 / replicates):.4f}.",
    )


def _coverage_table(title: str, rows: Sequence[Row]) -> Table:
    methods = _methods(rows)
    lines = [[_name(row), *(share(_coverage(row, method)) for method in methods)] for row in rows]
    return Table(title, ["setting", *(_SHORT[method] for method in methods)], lines)


def _width_table(title: str, rows: Sequence[Row]) -> Table:
    methods = _methods(rows)
    lines = [[_name(row), *(points(_half_width(row, method)) for method in methods)] for row in rows]
    return Table(title, ["setting", *(_SHORT[method] for method in methods)], lines)


def _name(row: Row) -> str:
    settings = row.settings
    of = f" of {settings['population']}" if settings["population"] else ""
    return f"{settings['shape']}, {settings['n']}{of}"


def _frame_table(rows: Sequence[Row]) -> Table:
    hundred = [row for row in rows if row.settings["n"] == 100]
    lines = [
        [_SHORT[method], *(f"{points(_half_width(row, method))} ({share(_coverage(row, method))})" for row in hundred)]
        for method in _methods(rows)
    ]
    return Table(
        "100 parents of 1,319: mean half-width and coverage",
        ["interval", *(row.settings["shape"] for row in hundred)],
        lines,
        note="An audit of a hundred paired items is said to be able to say little without distributional assumptions;"
        " `betting` makes none.",
    )


def _betting_table(rows: Sequence[Row]) -> Table:
    sizes = sorted({row.settings["n"] for row in rows})
    shapes = list(dict.fromkeys(row.settings["shape"] for row in rows))
    found = {(row.settings["shape"], row.settings["n"]): row for row in rows}
    lines = []
    for shape in shapes:
        cells = [found[shape, n] for n in sizes]
        lines.append(
            [shape, *(f"{points(_half_width(c, 'betting'))} ({share(_coverage(c, 'betting'))})" for c in cells)]
        )
    least = min(_coverage(row, "betting") for row in rows)
    return Table(
        "Betting on a frame of 1,319: mean half-width and coverage by audit size",
        ["shape", *(f"n = {n}" for n in sizes)],
        lines,
        note=f"Least coverage over {len(rows)} settings: {share(least)}.",
    )


def _exact_table(rows: Sequence[Row]) -> Table:
    methods = list(rows[0].measures["coverage"])
    lines = [[_name(row), *(f"{row.measures['coverage'][method]:.6f}" for method in methods)] for row in rows]
    return Table(
        "Exact coverage, every sample enumerated",
        ["setting", *(_SHORT[method] for method in methods)],
        lines,
        note="No simulation error.",
    )


def _strata_table(rows: Sequence[Row]) -> Table:
    lines = []
    for row in rows:
        cells: Mapping[str, Any] = row.measures["methods"]
        lines.append(
            [
                row.settings["allocation"],
                *(f"{points(_half_width(row, method))} ({share(_coverage(row, method))})" for method in cells),
            ]
        )
    return Table(
        "240 of 2,400 parents in three unequal strata: mean half-width and coverage",
        ["allocation", *(_SHORT[method] for method in _methods(rows))],
        lines,
        note=f"{rows[0].settings['replicates']:,} audits each; `simple` ignores the strata.",
    )


def _control_table(rows: Sequence[Row]) -> Table:
    methods = _methods(rows)
    lines = [
        [_name(row), *(f"{points(_half_width(row, m))} ({share(_coverage(row, m))})" for m in methods)] for row in rows
    ]
    return Table(
        "Control banks, no finite population: mean half-width and coverage",
        ["bank", *(_SHORT[method] for method in methods)],
        lines,
        note="A bank in which no gap varies has no Wald interval, and counts as a miss.",
    )


def draw(rows: Sequence[Row], figure: Figure) -> None:
    """Draw the distance from nominal coverage over the larger grid, and width by audit size."""
    wald, betting, widths = figure.subplots(1, 3, width_ratios=(1, 1, 1.2))
    large = [row for row in _of_kind(rows, "grid") if row.settings["population"] == 5_000]
    _draw_grid(wald, large, "wald_fpc")
    _draw_grid(betting, large, "betting")
    _draw_widths(widths, [row for row in _of_kind(rows, "frame") if row.settings["shape"] == "sparse"])


def _draw_grid(axes: Axes, rows: Sequence[Row], method: str) -> None:
    shapes = list(dict.fromkeys(row.settings["shape"] for row in rows))
    sizes = sorted({row.settings["n"] for row in rows})
    found = {(row.settings["shape"], row.settings["n"]): _coverage(row, method) for row in rows}
    values = np.array([[found[shape, n] for n in sizes] for shape in shapes])
    axes.imshow(np.abs(values - 0.95), cmap="Oranges", vmin=0, vmax=0.05, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:.3f}", ha="center", va="center")
    axes.set(title=f"{_SHORT[method]}, 5,000 parents", xlabel="audited parents")
    axes.set_xticks(range(len(sizes)), [str(n) for n in sizes])
    axes.set_yticks(range(len(shapes)), shapes)
    axes.grid(visible=False)


def _draw_widths(axes: Axes, rows: Sequence[Row]) -> None:
    for method in _methods(rows):
        if method.startswith("guardrail"):
            continue
        sizes = [row.settings["n"] for row in rows]
        axes.plot(sizes, [_half_width(row, method) for row in rows], marker="o", label=_SHORT[method])
    axes.set(title="sparse gaps, 1,319 parents", xlabel="audited parents", ylabel="mean half-width", ylim=(0, 0.6))
    axes.legend()
