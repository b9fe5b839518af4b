"""Builders of experiments: small by default, of the paper's size on request."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from leakscale.analysis import Analysis, AnalysisPlan, LabelColumn, ResultTable, analyze_results
from leakscale.analysis.synthetic import PlantedCell, PlantedExperiment, plant_experiment
from leakscale.models import Domain, Ring

EFFECTS: Mapping[tuple[str, Domain], float] = {
    ("alpha", Domain.SQL): 0.25,
    ("alpha", Domain.PYTHON): 0.125,
    ("beta", Domain.SQL): 0.0625,
    ("beta", Domain.PYTHON): 0.5,
}
"""Planted into the small experiment: multiples of 1 / 512, so that they come out exactly."""


def a_plan(**settings: Any) -> AnalysisPlan:
    return AnalysisPlan(**{"seed": 7, "resample_count": 500, **settings})


@functools.cache
def a_small_experiment(*, transfer: float | None = None, with_probabilities: bool = False) -> PlantedExperiment:
    """Two models, two domains, four shapes of 16 + 16 families, 8 draws."""
    return plant_experiment(
        [PlantedCell(*name, effect, 0.25, -0.03125, 0.25) for name, effect in EFFECTS.items()],
        shape_count=4,
        draw_count=8,
        transfer=None if transfer is None else {Ring.R1: transfer},
        with_probabilities=with_probabilities,
    )


@functools.cache
def the_paper_sized() -> PlantedExperiment:
    return plant_experiment()


@functools.cache
def its_analysis() -> Analysis:
    return analyze_results(the_paper_sized().table, AnalysisPlan(seed=1, resample_count=1_000))


def a_table(**columns: Any) -> ResultTable:
    """Two shapes of one control and one exposed family each, one draw in each state, all right after adaptation."""
    families = ["a0", "a2", "b0", "b2"]
    texts = {
        "model": ["m"] * 8,
        "domain": ["sql"] * 8,
        "shape": ["a", "a", "b", "b"] * 2,
        "condition": ["C0", "C2"] * 4,
        "family": families * 2,
        "ring": ["R0"] * 8,
        "state": ["base"] * 4 + ["adapted"] * 4,
    }
    numbers = {
        "truth_rank": [0, 1, 2, 3] * 2,
        "display_position": [3, 2, 1, 0] * 2,
        "correct": [0] * 4 + [0, 1, 1, 1],
        "valid": [1] * 8,
        "draw_count": [1] * 8,
        "draw": [0] * 8,
    }
    labels = {name: LabelColumn.of_texts(name, columns.pop(name, text)) for name, text in texts.items()}
    whole = {name: np.array(columns.pop(name, values), np.int64) for name, values in numbers.items()}
    real = {name: np.array(values, np.float64) for name, values in columns.items()}
    return ResultTable(**labels, **whole, **real)  # type: ignore[arg-type]


def rows_of(table: ResultTable, kept: np.ndarray[Any, Any]) -> ResultTable:
    """Return some rows of a table."""
    columns: dict[str, Any] = {}
    for name in table.__dataclass_fields__:
        column = getattr(table, name)
        if isinstance(column, LabelColumn):
            columns[name] = LabelColumn(column.codes[kept], column.names)
        elif column is not None:
            columns[name] = column[kept]
    return replace(table, **columns)


def joined(first: ResultTable, second: ResultTable) -> ResultTable:
    """Put the rows of two tables with the same columns and names one after the other."""

    def column(name: str) -> Any:
        one, other = getattr(first, name), getattr(second, name)
        if isinstance(one, LabelColumn):
            codes = np.concatenate((one.codes, other.codes + len(one.names)))
            return LabelColumn.of(name, codes, (*one.names, *other.names))
        return None if one is None else np.concatenate((one, other))

    return ResultTable(**{name: column(name) for name in ResultTable.__dataclass_fields__})
