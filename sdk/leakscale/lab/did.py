"""The laboratory of exposure effects: how often their intervals cover, and how much the registered one owes to luck.

| kind | question | source |
|---|---|---|
| effect | one cell's effect, 16 to 512 families a condition, four methods | LeakScale E.1; METHODS 13.5 |
| shapes | families of 32 shapes: shapes as a sample, and shapes as given | METHODS 13.5 |
| contrast | interaction of two models and two domains | LeakScale E.5; METHODS 10.8 |
| transfer | transferred share of a planted effect, and its two parts | CleanScore 7.11; METHODS 13.7 |
| pooled | four positive controls of the same parents together | CleanScore 7.11; METHODS 9.4 |
| seeds | differences of runs paired by training seed | CleanScore 5; METHODS 5 |
| endpoints | the registered interval under many seeds | METHODS 13.5 |
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

import numpy as np

from leakscale.lab.cells import Cell, Size, rng_of
from leakscale.lab.did_tables import draw, tables
from leakscale.lab.exposure import LAWS, Study, fixed_shapes, sampled_shapes
from leakscale.lab.laboratory import Laboratory
from leakscale.stats import (
    Interval,
    difference_in_differences,
    interaction_contrast,
    pooled_effects,
    seed_contrast,
    transfer_share,
    visible_gap,
)
from leakscale.stats.exposure.contrasts import CONTRAST_METHODS
from leakscale.stats.exposure.did import METHODS as DID_METHODS
from leakscale.stats.transfer.transfer_share import TRANSFER_METHODS

__all__ = ["LABORATORY"]

_FAMILIES: Final = (16, 64, 512)
_SMALL: Final = 16
_CONTRAST_FAMILIES: Final = 64
_REPLICATES: Final = {Size.QUICK: 20, Size.FULL: 1_000}
_SMALL_REPLICATES: Final = {Size.QUICK: 20, Size.FULL: 4_000}
"""Of studies that take next to no time."""
_RESAMPLES: Final = {Size.QUICK: 200, Size.FULL: 1_000}
"""Of a simulated interval; its coverage does not depend on them beyond the noise of its endpoints."""
_RUNS: Final = {Size.QUICK: 5, Size.FULL: 200}
"""Runs of the registered interval on one sample, 10,000 resamples each."""
_SHAPE_METHODS: Final = {
    "percentile, families": ("percentile", None),
    "percentile, shapes as clusters": ("percentile", "cluster"),
    "bca, shapes as clusters": ("bca", "cluster"),
    "studentized, shapes as clusters": ("studentized", "cluster"),
    "exact, shapes as clusters": ("exact", "cluster"),
    "percentile, shapes as strata": ("percentile", "strata"),
    "studentized, shapes as strata": ("studentized", "strata"),
    "exact, shapes as strata": ("exact", "strata"),
}
_STUDIES: Final = {"large": Study(0.24, 0.175), "small": Study(0.08, 0.04)}
"""Study 1 of the paper, and one whose public effect is about its own standard error."""
_POOLED: Final = 4
"""Studies of Table 16."""
_ASSIGNED: Final = ("alike", "anew")
_SEED_COUNT: Final = 10
"""Seeds of the small-model validation."""


def _cells(size: Size) -> list[Cell]:
    common = {"replicates": _REPLICATES[size], "resamples": _RESAMPLES[size]}
    cells = [
        Cell(
            f"effect/{law}/{families}/{method}",
            {
                "kind": "effect",
                "law": law,
                "families": families,
                "method": method,
                **common,
                "replicates": (_REPLICATES if families > _SMALL else _SMALL_REPLICATES)[size],
            },
            weight=families * (3 if method == "studentized" else 1),
        )
        for law, families, method in product(LAWS, _FAMILIES, DID_METHODS)
    ]
    cells += [
        Cell(f"shapes/{target}/{name}", {"kind": "shapes", "target": target, "method": name, **common}, weight=400)
        for target, name in product(("sampled", "given"), _SHAPE_METHODS)
    ]
    cells += [
        Cell(f"contrast/{method}", {"kind": "contrast", "method": method, **common}, weight=400)
        for method in CONTRAST_METHODS
    ]
    cells += [
        Cell(f"transfer/{study}/{method}", {"kind": "transfer", "study": study, "method": method, **common}, weight=300)
        for study, method in product(_STUDIES, TRANSFER_METHODS)
    ]
    cells += [
        Cell(
            f"pooled/{study}/{assigned}", {"kind": "pooled", "study": study, "assigned": assigned, **common}, weight=500
        )
        for study, assigned in product(_STUDIES, _ASSIGNED)
    ]
    cells += [
        Cell(f"seeds/{law}", {"kind": "seeds", "law": law, "replicates": _SMALL_REPLICATES[size]}, weight=50)
        for law in ("normal", "skewed")
    ]
    return [*cells, Cell("endpoints/graded/512", {"kind": "endpoints", "runs": _RUNS[size]}, weight=600)]


def _measure(cell: Cell, seed: int) -> dict[str, Any]:
    # What is sampled depends on what is asked and not on the method, so that methods see the same samples.
    samples = rng_of(seed, cell.name.rpartition("/")[0] or cell.name)
    resampling = rng_of(seed, cell.name)
    return _MEASURES[cell.settings["kind"]](cell, samples, resampling)


class _Tally:
    """Counts of one interval. A degenerate interval claims nothing, so it covers nothing."""

    def __init__(self) -> None:
        self._covered = self._degenerate = 0
        self._half_widths: list[float] = []

    def add(self, interval: Interval, truth: float) -> None:
        if interval.is_degenerate:
            self._degenerate += 1
            return
        self._covered += interval.low <= truth <= interval.high
        self._half_widths.append(interval.half_width)

    def to_dict(self) -> dict[str, Any]:
        return {
            "covered": int(self._covered),
            "degenerate": self._degenerate,
            "replicates": len(self._half_widths) + self._degenerate,
            "mean_half_width": float(np.mean(self._half_widths)) if self._half_widths else None,
        }


def _effects(cell: Cell, samples: np.random.Generator, resampling: np.random.Generator) -> dict[str, Any]:
    settings, tally = cell.settings, _Tally()
    law = LAWS[settings["law"]]
    for _ in range(settings["replicates"]):
        c0, c2 = law.draw(samples, settings["families"])
        result = difference_in_differences(
            c0, c2, method=settings["method"], n_resamples=settings["resamples"], seed=resampling
        )
        tally.add(result.effect, law.effect)
    return tally.to_dict()


def _shapes(cell: Cell, samples: np.random.Generator, resampling: np.random.Generator) -> dict[str, Any]:
    settings, tally = cell.settings, _Tally()
    sample_of = sampled_shapes if settings["target"] == "sampled" else fixed_shapes
    method, role = _SHAPE_METHODS[settings["method"]]
    for _ in range(settings["replicates"]):
        sample = sample_of(samples)
        result = difference_in_differences(
            sample.c0,
            sample.c2,
            method=method,
            n_resamples=settings["resamples"],
            seed=resampling,
            strata=sample.labels if role == "strata" else None,
            cluster=sample.labels if role == "cluster" else None,
        )
        tally.add(result.effect, sample.effect)
    return tally.to_dict()


def _contrasts(cell: Cell, samples: np.random.Generator, resampling: np.random.Generator) -> dict[str, Any]:
    """Two models that learn alike in one domain and unequally in the other, on the same families."""
    settings, tally = cell.settings, _Tally()
    law, other = LAWS["bimodal"], LAWS["graded"]
    for _ in range(settings["replicates"]):
        cells = {
            ("gemma", "python"): law.draw(samples, _CONTRAST_FAMILIES),
            ("gemma", "sql"): other.draw(samples, _CONTRAST_FAMILIES),
            ("qwen", "python"): other.draw(samples, _CONTRAST_FAMILIES),
            ("qwen", "sql"): other.draw(samples, _CONTRAST_FAMILIES),
        }
        interval = interaction_contrast(
            cells,
            models=("gemma", "qwen"),
            domains=("python", "sql"),
            method=settings["method"],
            n_resamples=settings["resamples"],
            seed=resampling,
        )
        tally.add(interval, law.effect - other.effect)
    return tally.to_dict()


def _transfer(cell: Cell, samples: np.random.Generator, resampling: np.random.Generator) -> dict[str, Any]:
    settings, gap, withheld, unbounded, covered = cell.settings, _Tally(), 0, 0, 0
    study = _STUDIES[settings["study"]]
    for _ in range(settings["replicates"]):
        public, fresh = study.draw(samples)
        found = transfer_share(
            public,
            fresh,
            method=settings["method"],
            floor=0.0,
            n_resamples=settings["resamples"],
            seed=resampling,
        )
        gap.add(visible_gap(public, fresh, n_resamples=settings["resamples"], seed=resampling).gap, study.gap)
        if found.bounds is None:
            withheld += 1
            continue
        covered += found.bounds.contains(study.share)
        unbounded += not found.bounds.is_bounded
    return {
        "covered": int(covered),
        "withheld": withheld,
        "unbounded": unbounded,
        "replicates": settings["replicates"],
        "visible_gap": gap.to_dict(),
    }


def _pooled(cell: Cell, samples: np.random.Generator, resampling: np.random.Generator) -> dict[str, Any]:
    settings, tallies = cell.settings, {"public": _Tally(), "fresh": _Tally(), "gap": _Tally()}
    study = _STUDIES[settings["study"]]
    shares = {name: {"covered": 0, "withheld": 0, "unbounded": 0} for name in TRANSFER_METHODS}
    for _ in range(settings["replicates"]):
        found = pooled_effects(
            study.draw_several(samples, count=_POOLED, assigned=settings["assigned"]),
            floor=-2.0,
            n_resamples=settings["resamples"],
            seed=resampling,
        )
        tallies["public"].add(found.public, study.public)
        tallies["fresh"].add(found.fresh, study.fresh)
        tallies["gap"].add(found.gap, study.gap)
        for share in (found.share, found.fieller):
            counts = shares[share.method]
            counts["withheld"] += share.bounds is None
            counts["covered"] += share.bounds is not None and share.bounds.contains(study.share)
            counts["unbounded"] += share.bounds is not None and not share.bounds.is_bounded
    return {
        **{name: tally.to_dict() for name, tally in tallies.items()},
        "shares": shares,
        "replicates": settings["replicates"],
    }


def _seeds(cell: Cell, samples: np.random.Generator, _: np.random.Generator) -> dict[str, Any]:
    settings, tally = cell.settings, _Tally()
    truth = 0.03
    for _replicate in range(settings["replicates"]):
        if settings["law"] == "normal":
            differences = samples.normal(truth, 0.05, _SEED_COUNT)
        else:
            differences = truth + 0.05 * (samples.standard_exponential(_SEED_COUNT) - 1)
        exposed = {str(seed): float(np.clip(value, -1, 1)) for seed, value in enumerate(differences)}
        tally.add(seed_contrast(exposed, dict.fromkeys(exposed, 0.0)).difference, truth)
    return tally.to_dict()


def _endpoints(cell: Cell, samples: np.random.Generator, resampling: np.random.Generator) -> dict[str, Any]:
    """Repeat the registered interval on one sample with other seeds, beside its limit without resampling."""
    c0, c2 = LAWS["graded"].draw(samples, 512)
    runs = [difference_in_differences(c0, c2, seed=resampling).effect for _ in range(cell.settings["runs"])]
    exact = difference_in_differences(c0, c2, method="exact").effect
    bounds = np.array([(run.low, run.high) for run in runs])
    return {
        "endpoint_sd": [float(value) for value in bounds.std(axis=0, ddof=1)],
        "mean_endpoints": [float(value) for value in bounds.mean(axis=0)],
        "exact_endpoints": [exact.low, exact.high],
        "runs": len(runs),
    }


_MEASURES: Final[dict[str, Callable[[Cell, np.random.Generator, np.random.Generator], dict[str, Any]]]] = {
    "effect": _effects,
    "shapes": _shapes,
    "contrast": _contrasts,
    "transfer": _transfer,
    "pooled": _pooled,
    "seeds": _seeds,
    "endpoints": _endpoints,
}

LABORATORY = Laboratory(
    name="did",
    title="Exposure effects: coverage of their intervals",
    about="Families and parents are drawn from laws whose effect is known; the methods see the same samples. Nominal"
    " coverage is .95. An interval that reports no variation counts as a miss, because it claims nothing.",
    cells=_cells,
    measure=_measure,
    tables=tables,
    draw=draw,
)
