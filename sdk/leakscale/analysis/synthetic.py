"""An experiment with planted effects, to hold the analysis against: what went in must come out of every table.

By default it has the size of the paper (2,048 families, two models, two domains, 262,144 results) and its published
numbers, to the last printed digit: effects of 7.17, 9.9, 13.2 and 27.31 points, 25.52 % and 25.12 % right before
adaptation, changes of -2.34 and +12.05 points. Nobody's results are in it; the families are simulated.

Source: LeakScale 4.1, 5.1, 5.2 (sizes and published numbers). The two effects between the ends are ours: the paper's
text gives their sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leakscale.analysis.result_table import LabelColumn, ResultTable
from leakscale.errors import InvalidRequestError
from leakscale.models import Condition, Domain, ModelState, Ring

__all__ = ["PAPER_PLAN", "PlantedCell", "PlantedExperiment", "PlantedFamilies", "plant_experiment"]

_PER_SHAPE: Final = 16
"""Families of a shape and condition: every truth rank at every display position once."""


@dataclass(frozen=True, slots=True)
class PlantedCell:
    """What is planted into one model and domain, as shares; the nearest whole number of draws is."""

    model: str
    domain: Domain
    effect: float
    c0_base: float
    c0_drift: float
    c2_base: float

    @property
    def c2_change(self) -> float:
        """Change of the exposed families."""
        return self.effect + self.c0_drift


def _paper_cell(model: str, domain: Domain, *draws: int) -> PlantedCell:
    """Take effect, C0 base, C0 drift and C2 base in draws of 16,384."""
    effect, c0_base, c0_drift, c2_base = (each / 16_384 for each in draws)
    return PlantedCell(model, domain, effect, c0_base, c0_drift, c2_base)


PAPER_PLAN: Final = (
    _paper_cell("Gemma-4-31B", Domain.SQL, 1_174, 4_210, -391, 4_093),
    _paper_cell("Gemma-4-31B", Domain.PYTHON, 2_162, 4_154, -352, 4_161),
    _paper_cell("Qwen3-4B-Instruct-2507", Domain.SQL, 1_621, 4_187, -410, 4_102),
    _paper_cell("Qwen3-4B-Instruct-2507", Domain.PYTHON, 4_474, 4_174, -380, 4_107),
)
"""Adds up to the published aggregates: 16,725 and 16,463 of 65,536 right before adaptation, -1,533 and +7,898 after."""


@dataclass(frozen=True, slots=True, eq=False)
class PlantedFamilies:
    """What was planted into the families of one cell and condition, as counts of correct draws."""

    ids: tuple[str, ...]
    shapes: tuple[str, ...]
    truth_ranks: NDArray[np.int64]
    display_positions: NDArray[np.int64]
    base: NDArray[np.int64]
    adapted: NDArray[np.int64]
    base_probability: NDArray[np.float64]
    """Of the correct candidate; its mean is the planted accuracy."""
    adapted_probability: NDArray[np.float64]

    @property
    def changes(self) -> NDArray[np.int64]:
        """Adapted minus base correct draws."""
        return self.adapted - self.base


@dataclass(frozen=True, slots=True, eq=False)
class PlantedExperiment:
    """Results, and what was planted to make them."""

    table: ResultTable
    families: Mapping[tuple[str, Domain, Ring, Condition], PlantedFamilies]
    draw_count: int


def plant_experiment(
    plan: Sequence[PlantedCell] = PAPER_PLAN,
    *,
    shape_count: int = 32,
    draw_count: int = 32,
    transfer: Mapping[Ring, float] | None = None,
    with_probabilities: bool = False,
    seed: int = 20_261_130,
) -> PlantedExperiment:
    """Simulate an experiment whose cell totals are the planned ones exactly.

    Families differ in difficulty, exposure acts on some families much more than on others, and shapes and families
    differ in how much; so every table has something to find. The models of a domain answer the same families.

    Args:
        plan: One entry a model and domain.
        shape_count: Shapes a domain, each with 16 families a condition; 32 in the paper.
        draw_count: Draws a family and state; 32 in the paper.
        transfer: Share of the effect that reaches each other ring, e.g. `{Ring.R1: 0.76}`; None asks R0 alone.
        with_probabilities: Whether the rows carry the exact probabilities that the draws come from.
        seed: Of everything that is drawn.

    Raises:
        InvalidRequestError: If a planned accuracy is beyond 0 or 1.
    """
    rings = {Ring.R0: 1.0, **(transfer or {})}
    families = {}
    for number, cell in enumerate(plan):
        for place, (ring, share) in enumerate(rings.items()):
            for condition in Condition:
                rng = np.random.Generator(np.random.PCG64([seed, number, place, condition is Condition.C2]))
                families[cell.model, cell.domain, ring, condition] = _families(
                    cell, condition, rng, share=share, shape_count=shape_count, draws=draw_count
                )
    rng = np.random.Generator(np.random.PCG64([seed, 1 << 20]))
    return PlantedExperiment(_table(families, draw_count, rng, with_probabilities), families, draw_count)


def _families(
    cell: PlantedCell, condition: Condition, rng: np.random.Generator, *, share: float, shape_count: int, draws: int
) -> PlantedFamilies:
    count = shape_count * _PER_SHAPE
    is_exposed = condition is Condition.C2
    base_target = cell.c2_base if is_exposed else cell.c0_base
    change_target = share * cell.effect + cell.c0_drift if is_exposed else cell.c0_drift
    totals = [round(target * count * draws) for target in (base_target, base_target + change_target)]
    if not all(0 <= total <= count * draws for total in totals):
        raise InvalidRequestError(
            f"plan of {cell.model}, {cell.domain}, {condition} leads to accuracies {base_target:.3f} and "
            f"{base_target + change_target:.3f}; plan both between 0 and 1"
        )
    # Most families are nearly always wrong and some nearly always right, as a fixed guess among four candidates is.
    base_p = rng.beta(0.14, 0.42, count)
    adapted_p = _adapted(base_p, change_target, shape_count, rng)
    probabilities, counts = [], []
    for law, total in zip((base_p, adapted_p), totals, strict=True):
        exact = _with_mean(law, total / (count * draws))
        probabilities.append(exact)
        counts.append(_with_total(rng.binomial(draws, exact), total, draws, rng))
    slots = np.tile(np.arange(_PER_SHAPE), shape_count)
    shapes = np.repeat(np.arange(shape_count), _PER_SHAPE)
    return PlantedFamilies(
        ids=tuple(
            f"f-{cell.domain}-{condition}-{shape:02d}-{slot:02d}"
            for shape, slot in zip(shapes.tolist(), slots.tolist(), strict=True)
        ),
        shapes=tuple(f"{cell.domain}-shape-{shape:02d}" for shape in shapes.tolist()),
        truth_ranks=slots // 4,
        display_positions=slots % 4,
        base=counts[0],
        adapted=counts[1],
        base_probability=probabilities[0],
        adapted_probability=probabilities[1],
    )


def _adapted(
    base: NDArray[np.float64], change: float, shape_count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Move some families towards certainty, or all a little down, by more in some shapes than in others."""
    of_shape = np.repeat(rng.uniform(0.6, 1.4, shape_count), _PER_SHAPE)
    pull = np.clip(abs(change) * of_shape * rng.gamma(2.0, 0.9, base.size), 0.0, 0.95)
    return base + pull * ((1.0 if change > 0 else 0.0) - base)


def _with_mean(law: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Tilt probabilities towards 0 or 1, keeping their order, until their mean is the planned one."""
    low, high = 1e-9, 1e9
    for _ in range(200):
        power = np.sqrt(low * high)
        low, high = (power, high) if float(np.mean(law**power)) > mean else (low, power)
    tilted = law ** np.sqrt(low * high)
    inside = (tilted > 1e-3) & (tilted < 1 - 1e-3)
    # What bisection left over, less than 1e-12 a family.
    tilted[inside] += (mean - float(np.mean(tilted))) * tilted.size / max(int(inside.sum()), 1)
    return np.asarray(np.clip(tilted, 0.0, 1.0))


def _with_total(counts: NDArray[np.int64], total: int, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Give or take single draws at random families until the total is the planned one."""
    counts = counts.copy()
    while missing := total - int(counts.sum()):
        step = 1 if missing > 0 else -1
        # Families that are always wrong or always right stay so while others have room.
        room = np.flatnonzero((counts > 0) & (counts < draws)) if rng.random() < 0.999 else np.arange(counts.size)
        room = room[(counts[room] + step >= 0) & (counts[room] + step <= draws)]
        if not room.size:
            room = np.flatnonzero((counts + step >= 0) & (counts + step <= draws))
        chosen = rng.permutation(room)[: abs(missing)]
        counts[chosen] += step
    return counts


def _table(
    families: Mapping[tuple[str, Domain, Ring, Condition], PlantedFamilies],
    draws: int,
    rng: np.random.Generator,
    with_probabilities: bool,
) -> ResultTable:
    whole = _columns(families)

    def each_draw(name: str) -> LabelColumn:
        column = LabelColumn.of_texts(name, whole[name])
        return LabelColumn(np.repeat(column.codes, draws), column.names)

    # Which of a family's draws are the right ones: the first so many in a random order.
    order = np.argsort(rng.random((whole["correct"].size, draws)), axis=1)
    size = order.size
    return ResultTable(
        model=each_draw("model"),
        domain=each_draw("domain"),
        shape=each_draw("shape"),
        condition=each_draw("condition"),
        family=each_draw("family"),
        ring=each_draw("ring"),
        state=each_draw("state"),
        truth_rank=np.repeat(whole["truth_rank"], draws),
        display_position=np.repeat(whole["display_position"], draws),
        correct=(order < whole["correct"][:, None]).astype(np.int64).ravel(),
        valid=np.ones(size, np.int64),
        draw_count=np.ones(size, np.int64),
        draw=np.tile(np.arange(draws), whole["correct"].size),
        probability=np.repeat(whole["probability"], draws) if with_probabilities else None,
    )


def _columns(families: Mapping[tuple[str, Domain, Ring, Condition], PlantedFamilies]) -> dict[str, NDArray[Any]]:
    """Return one row a family and state."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for (model, domain, ring, condition), planted in families.items():
        for state in ModelState:
            is_base = state is ModelState.BASE
            same = {"model": model, "domain": domain, "condition": condition, "ring": ring, "state": state}
            columns: dict[str, NDArray[Any]] = {
                name: np.full(len(planted.ids), str(text)) for name, text in same.items()
            }
            columns |= {
                "shape": np.array(planted.shapes),
                "family": np.array(planted.ids),
                "truth_rank": planted.truth_ranks,
                "display_position": planted.display_positions,
                "correct": planted.base if is_base else planted.adapted,
                "probability": planted.base_probability if is_base else planted.adapted_probability,
            }
            for name, column in columns.items():
                parts.setdefault(name, []).append(column)
    return {name: np.concatenate(columns) for name, columns in parts.items()}
