"""The laboratory of coverage: every interval for a mean gap, on populations whose mean is known.

Five studies, each a kind of cell:

| kind | question | source |
|---|---|---|
| grid | six shapes, two benchmark sizes, three audit fractions | CleanScore 6.5 and 7.5 |
| frame | eight shapes at the size of a real benchmark, four audit sizes | METHODS 13 |
| exact | four discrete populations, every possible sample | CleanScore 6.5 |
| strata | simple and stratified audits of 2,400 parents, strongly unequal strata | CleanScore 6.2 and 6.5 |
| control | control banks: no finite population, 40 to 200 parents | CleanScore 7.4 |
"""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leakscale.lab.cells import Cell, Size, rng_of
from leakscale.lab.coverage_tables import draw, tables
from leakscale.lab.laboratory import Laboratory
from leakscale.lab.populations import EXTENDED_SHAPES, PAPER_SHAPES, frame, frame_counts
from leakscale.lab.strata import ALLOCATIONS, STRATIFIED_METHODS, stratified_audits
from leakscale.stats import (
    MEAN_METHODS,
    FinitePopulationDesign,
    Gaps,
    MeanBounds,
    exact_coverage,
    guardrail_bounds,
    mean_bounds,
)
from leakscale.stats.planning.detection import planted_samples

__all__ = ["LABORATORY"]

_REPLICATES: Final = {Size.QUICK: 100, Size.FULL: 10_000}
_STRATIFIED_REPLICATES: Final = {Size.QUICK: 20, Size.FULL: 5_000}
_SIZES: Final = (1_000, 5_000)
_FRACTIONS: Final = (0.05, 0.20, 0.50)
_FRAME_SIZE: Final = 1_319
"""GSM8K's test split."""
_FRAME_SAMPLES: Final = (50, 100, 200, 400)
_EXACT_SHAPES: Final = ("sparse", "near-null", "two-point", "low-variance")
_EXACT_SAMPLES: Final = (50, 200, 500)
_EXACT_METHODS: Final = tuple(method for method in MEAN_METHODS if method != "betting")
"""Betting reads the order of the draws, of which there are too many to list."""
_CONTROL_SAMPLES: Final = (40, 60, 200)
_CONTROL_METHODS: Final = ("hoeffding", "wald_fpc", "empirical_bernstein", "betting", "exact_hypergeometric")
_DENOMINATOR: Final = 2
_GAPS_PER_CHUNK: Final = 1 << 20


def _cells(size: Size) -> list[Cell]:
    replicates = _REPLICATES[size]
    cells = []
    for shape, population, fraction in product(PAPER_SHAPES, _SIZES, _FRACTIONS):
        n = round(fraction * population)
        settings = {"kind": "grid", "shape": shape, "population": population, "n": n, "replicates": replicates}
        cells.append(Cell(f"grid/{shape}/{population}/{n}", settings, weight=n))
    for shape, n in product(EXTENDED_SHAPES, _FRAME_SAMPLES):
        settings = {"kind": "frame", "shape": shape, "population": _FRAME_SIZE, "n": n, "replicates": replicates}
        cells.append(Cell(f"frame/{shape}/{n}", settings, weight=n))
    for shape, n in product(_EXACT_SHAPES, _EXACT_SAMPLES):
        cells.append(Cell(f"exact/{shape}/{n}", {"kind": "exact", "shape": shape, "population": 1_000, "n": n}))
    for allocation in ALLOCATIONS:
        settings = {"kind": "strata", "allocation": allocation, "replicates": _STRATIFIED_REPLICATES[size]}
        cells.append(Cell(f"strata/{allocation}", settings, weight=2_000))
    for shape, n in product(EXTENDED_SHAPES, _CONTROL_SAMPLES):
        settings = {"kind": "control", "shape": shape, "population": None, "n": n, "replicates": replicates}
        cells.append(Cell(f"control/{shape}/{n}", settings, weight=n))
    return cells


def _measure(cell: Cell, seed: int) -> dict[str, Any]:
    kind = cell.settings["kind"]
    if kind == "exact":
        return _enumerated(cell)
    if kind == "strata":
        return _stratified(cell, seed)
    return _sampled(cell, seed)


def _sampled(cell: Cell, seed: int) -> dict[str, Any]:
    """Draw samples and count, for each method on the same ones, how often its interval holds the mean."""
    settings = cell.settings
    size = settings["population"] or 1_000
    shapes = PAPER_SHAPES if settings["kind"] == "grid" else EXTENDED_SHAPES
    population = Gaps.of(frame(shapes[settings["shape"]], size), denominator=_DENOMINATOR)
    design = FinitePopulationDesign(settings["population"])
    rng = rng_of(seed, cell.name)
    tallies = {method: _Tally() for method in _methods(settings["kind"])}
    rows = max(1, _GAPS_PER_CHUNK // settings["n"])
    for start in range(0, settings["replicates"], rows):
        count = min(rows, settings["replicates"] - start)
        samples = planted_samples(population, design, n=settings["n"], advantage=0.0, replicates=count, rng=rng)
        for method, tally in tallies.items():
            tally.add(_bounds(samples, design, method), population.mean)
    return {"mean_gap": population.mean, "methods": {method: tally.to_dict() for method, tally in tallies.items()}}


def _methods(kind: str) -> tuple[str, ...]:
    if kind == "control":
        return _CONTROL_METHODS
    return (*MEAN_METHODS, "guardrail(hoeffding)", "guardrail(betting)")


def _bounds(samples: NDArray[np.int64], design: FinitePopulationDesign, method: str) -> MeanBounds:
    if method.startswith("guardrail"):
        bound = method.removeprefix("guardrail(").removesuffix(")")
        return guardrail_bounds(samples, _DENOMINATOR, design, bound=bound)
    return mean_bounds(samples, _DENOMINATOR, design, method=method)


class _Tally:
    """Counts of one method. A degenerate interval claims nothing, so it covers nothing."""

    def __init__(self) -> None:
        self._covered = self._degenerate = self._replicates = 0
        self._width = 0.0

    def add(self, bounds: MeanBounds, mean: float) -> None:
        holds = (bounds.low <= mean + _ROUNDING) & (mean <= bounds.high + _ROUNDING) & ~bounds.is_degenerate
        self._covered += int(holds.sum())
        self._degenerate += int(bounds.is_degenerate.sum())
        self._replicates += holds.size
        self._width += float((bounds.high - bounds.low)[~bounds.is_degenerate].sum())

    def to_dict(self) -> dict[str, int | float | None]:
        usable = self._replicates - self._degenerate
        return {
            "covered": self._covered,
            "replicates": self._replicates,
            "degenerate": self._degenerate,
            "mean_half_width": self._width / usable / 2 if usable else None,
        }


_ROUNDING: Final = 1e-12
"""A bound that equals the mean but for the last digits holds it."""


def _enumerated(cell: Cell) -> dict[str, Any]:
    settings = cell.settings
    counts = frame_counts(PAPER_SHAPES[settings["shape"]], settings["population"])
    return {
        "counts": {f"{value:g}": count for value, count in counts.items()},
        "coverage": {method: exact_coverage(counts, settings["n"], method=method) for method in _EXACT_METHODS},
    }


def _stratified(cell: Cell, seed: int) -> dict[str, Any]:
    rng = rng_of(seed, cell.name)
    covered = dict.fromkeys(STRATIFIED_METHODS, 0)
    widths = dict.fromkeys(STRATIFIED_METHODS, 0.0)
    for mean, found in stratified_audits(cell.settings["allocation"], cell.settings["replicates"], rng):
        for method, interval in found.items():
            covered[method] += interval.low <= mean <= interval.high and not interval.is_degenerate
            widths[method] += interval.half_width
    replicates = cell.settings["replicates"]
    return {
        "methods": {
            method: {
                "covered": int(covered[method]),
                "replicates": replicates,
                "mean_half_width": widths[method] / replicates,
            }
            for method in STRATIFIED_METHODS
        }
    }


LABORATORY = Laboratory(
    name="coverage",
    title="Mean gaps: coverage of every interval",
    about="Gaps lie on the lattice of two fresh forms. Every method sees the same samples, which are drawn without"
    " replacement; nominal coverage is .95. A degenerate interval counts as a miss.",
    cells=_cells,
    measure=_measure,
    tables=tables,
    draw=draw,
)
