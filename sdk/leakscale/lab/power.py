"""The laboratory of power: what an audit detects, what it detects by mistake, and what a smaller one would show.

| kind | question | source |
|---|---|---|
| detect | how often each rule declares a planted advantage | CleanScore 7.9 and 7.10, Tables 11 and 12 |
| penalty | how often the relabelling test rejects where fresh forms are merely harder | CleanScore 7.10, Table 13 |
| odds | how often the exact odds-ratio interval covers | METHODS 13.3 |
| effect | the smallest advantage that an audit declares | CleanScore 7.9; METHODS 13.9 |
| budget | precision and ranking of five models by budget | CleanScore 7.8, Table 10 |

The papers' banks are unpublished. Pilots here have their shares of nonzero gaps: 24 % (GSM8K), 15 % (ARC-Challenge),
8 % (a model near its ceiling).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leakscale.lab.cells import Cell, Size, rng_of
from leakscale.lab.laboratory import Laboratory
from leakscale.lab.models import MODELS, answers, answers_with_odds_ratio
from leakscale.lab.populations import frame, nonzero_share
from leakscale.lab.power_tables import draw, tables
from leakscale.stats import (
    FinitePopulationDesign,
    Gaps,
    NoInformationError,
    budget_curve,
    conditional_odds_ratio,
    detection_rate,
    minimum_detectable_effect,
    paired_gap,
    randomization_test,
    size_for,
)
from leakscale.stats.planning.detection import planted_samples

__all__ = ["LABORATORY"]

_FRAME_SIZE: Final = 1_319
_SHARES: Final = (0.24, 0.15, 0.08)
_SAMPLES: Final = (50, 100, 200, 400, 800)
_ADVANTAGES: Final = (0.0, 0.02, 0.05, 0.10, 0.20)
_PENALTIES: Final = (0.0, 0.02, 0.05, 0.08, 0.10)
_ODDS_RATIOS: Final = (1.0, 1.5, 3.0)
_ODDS_PARENTS: Final = (50, 200)
_BUDGETS: Final = (20, 50, 100, 150, 200)
_PANEL: Final = (0.71, 0.70, 0.60, 0.475, 0.35)
"""Accuracies of five models, two of them a hundredth apart as in the papers' panel."""
_REPLICATES: Final = {Size.QUICK: 50, Size.FULL: 4_000}
_TEST_REPLICATES: Final = {Size.QUICK: 20, Size.FULL: 2_000}
"""Of the relabelling test and the odds ratio, which take one audit at a time."""
_SUBSAMPLES: Final = {Size.QUICK: 50, Size.FULL: 2_000}
_INTERVAL_RULES: Final[Mapping[str, Mapping[str, Any]]] = {
    "rule, Hoeffding": {"bound": "hoeffding"},
    "rule, Bernstein": {"bound": "empirical_bernstein"},
    "rule, betting": {"bound": "betting"},
    "Wald alone": {"rule": "wald_fpc"},
}
_ANSWERS_OF_GAP: Final = np.array([[0, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0], [1, 0, 0]])
"""Answers to the original and two fresh forms that have the gap -1, -1/2, 0, 1/2, 1."""


def _cells(size: Size) -> list[Cell]:
    cells = []
    for share, n, advantage in product(_SHARES, _SAMPLES, _ADVANTAGES):
        settings = {
            "kind": "detect",
            "nonzero": share,
            "n": n,
            "advantage": advantage,
            "replicates": _REPLICATES[size],
            "test_replicates": _TEST_REPLICATES[size],
        }
        cells.append(Cell(f"detect/{share:g}/{n}/{advantage:g}", settings, weight=n))
    for model, penalty in product(MODELS, _PENALTIES):
        settings = {"kind": "penalty", "model": model, "penalty": penalty, "replicates": _TEST_REPLICATES[size]}
        cells.append(Cell(f"penalty/{model}/{penalty:g}", settings, weight=300))
    for model, ratio, parents in product(MODELS, _ODDS_RATIOS, _ODDS_PARENTS):
        settings = {
            "kind": "odds",
            "model": model,
            "odds_ratio": ratio,
            "parents": parents,
            "replicates": _TEST_REPLICATES[size],
        }
        cells.append(Cell(f"odds/{model}/{ratio:g}/{parents}", settings, weight=500))
    cells += [Cell(f"effect/{share:g}", {"kind": "effect", "nonzero": share}) for share in _SHARES]
    budget = {"kind": "budget", "replicates": _SUBSAMPLES[size], "parents": 200}
    return [*cells, Cell("budget", budget, weight=400)]


def _measure(cell: Cell, seed: int) -> dict[str, Any]:
    measures = {"detect": _detected, "penalty": _rejected, "odds": _odds, "effect": _effects, "budget": _budget}
    return measures[cell.settings["kind"]](cell, rng_of(seed, cell.name))


def _pilot(share: float) -> Gaps:
    """Return the gaps of an unexposed model on a whole frame."""
    return Gaps.of(frame(nonzero_share(share), _FRAME_SIZE), denominator=2)


def _detected(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    settings, design = cell.settings, FinitePopulationDesign(_FRAME_SIZE)
    pilot = _pilot(settings["nonzero"])
    found: dict[str, Any] = {}
    for name, rule in _INTERVAL_RULES.items():
        rate = detection_rate(
            pilot,
            design,
            n=settings["n"],
            advantage=settings["advantage"],
            replicates=settings["replicates"],
            seed=rng,
            **rule,
        )
        found[name] = {"detected": rate.detected, "replicates": rate.replicates}
    audits = planted_samples(
        pilot,
        design,
        n=settings["n"],
        advantage=settings["advantage"],
        replicates=settings["test_replicates"],
        rng=rng,
    )
    for alternative in ("two-sided", "greater"):
        detected = sum(_rejects(_ANSWERS_OF_GAP[audit + 2], alternative) for audit in audits)
        found[f"relabelling, {alternative}"] = {"detected": detected, "replicates": len(audits)}
    return found


def _rejects(correct: NDArray[Any], alternative: str) -> bool:
    """Tell whether the relabelling test declares an advantage: it rejects, and the mean gap is above zero."""
    result = randomization_test(correct, alternative=alternative)
    return bool(result.p_value <= 0.05 and result.statistic > 0)


def _rejected(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    settings = cell.settings
    audits = [answers(settings["model"], 200, settings["penalty"], rng) for _ in range(settings["replicates"])]
    return {
        alternative: sum(randomization_test(one, alternative=alternative).p_value <= 0.05 for one in audits)
        for alternative in ("two-sided", "greater")
    }


def _odds(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    settings, covered, unbounded, silent = cell.settings, 0, 0, 0
    for _ in range(settings["replicates"]):
        correct = answers_with_odds_ratio(settings["model"], settings["parents"], settings["odds_ratio"], rng)
        try:
            interval = conditional_odds_ratio(correct)
        except NoInformationError:
            silent += 1
            continue
        covered += interval.low <= settings["odds_ratio"] <= interval.high
        unbounded += math.isinf(interval.high)
    return {"covered": int(covered), "unbounded": unbounded, "without_information": silent}


def _effects(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Plan with the pilot: the effect of an audit of 200 at two powers, and the sizes for three advantages."""
    design, pilot = FinitePopulationDesign(_FRAME_SIZE), _pilot(cell.settings["nonzero"])
    gaps = Gaps.of(rng.permutation(frame(nonzero_share(cell.settings["nonzero"]), 200)), denominator=2)
    return {
        **{
            f"{bound} {power:g}": minimum_detectable_effect(gaps, design, power=power, bound=bound).effect
            for bound, power in product(("hoeffding", "betting"), (0.5, 0.8))
        },
        **{
            f"size for {advantage:g}": size_for(pilot, design, advantage=advantage).parent_count
            for advantage in (0.02, 0.05, 0.10)
        },
    }


def _budget(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    settings = cell.settings
    ease = rng.normal(0, 0.2, (settings["parents"], 1))
    panel = {}
    for accuracy in _PANEL:
        right = rng.random((settings["parents"], 3)) < np.clip(accuracy + ease, 0, 1)
        panel[f"{accuracy:g}"] = paired_gap(right[:, 0], right[:, 1:])
    return budget_curve(panel, budgets=_BUDGETS, replicates=settings["replicates"], seed=rng).to_dict()


LABORATORY = Laboratory(
    name="power",
    title="Power: what an audit detects, and what it detects by mistake",
    about="Advantages are planted into pilots whose forms are exchangeable: parents without a gap become right on the"
    " public form only. Audits are samples without replacement from 1,319 parents.",
    cells=_cells,
    measure=_measure,
    tables=tables,
    draw=draw,
)
