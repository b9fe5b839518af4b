"""From rows to families: what each family got right before and after adaptation, in each cell of the experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leakscale.analysis.result_table import LabelColumn, ResultTable
from leakscale.errors import InvalidRequestError, PreconditionError
from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.stats import Outcomes

__all__ = ["Arm", "Cell", "CellKey", "Counted", "count_families"]


class CellKey(NamedTuple):
    """One model in one domain, asked in one ring, with its adapter at one strength."""

    model: str
    domain: Domain
    ring: Ring
    strength: float


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """The families of one condition of a cell, in the order of their ids."""

    outcomes: Outcomes
    shapes: NDArray[np.str_]
    """Of each family, as are the next ones."""
    truth_ranks: NDArray[np.int64] | None
    """None where the rows lack them."""
    display_positions: NDArray[np.int64]
    valid: tuple[int, int]
    """Valid draws of all families, before and after adaptation."""
    terminal: tuple[int, int]
    """Draws that ended, likewise."""
    probabilities: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    """Exact probability of the correct candidate before and after adaptation, where the rows have it."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """Control and exposed families of a cell."""

    key: CellKey
    c0: Arm
    c2: Arm

    @property
    def arms(self) -> tuple[tuple[Condition, Arm], ...]:
        """Control first."""
        return (Condition.C0, self.c0), (Condition.C2, self.c2)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Every cell that the rows hold."""

    cells: Mapping[CellKey, Cell]
    strengths: tuple[float, ...]
    """Strengths of the adapters, rising."""

    def reported(self, ring: Ring, strength: float) -> tuple[Cell, ...]:
        """Return the cells of one ring and strength, model by model."""
        return tuple(cell for key, cell in self.cells.items() if key.ring is ring and key.strength == strength)

    @property
    def rings(self) -> tuple[Ring, ...]:
        """Rings that occur."""
        found = {key.ring for key in self.cells}
        return tuple(ring for ring in Ring if ring in found)


def count_families(table: ResultTable) -> Counted:
    """Count correct and valid draws of every family, model, ring, state and strength.

    Raises:
        InvalidRequestError: If a family is of two shapes, domains, conditions, ranks or positions; if a draw occurs
            twice; or a base row has a strength.
        PreconditionError: If a family was not asked, in one of the two states, as often as the others of its cell:
            an experiment is analyzed when every case has its one result.
    """
    families = _Families(table)
    strengths, conditions = _strengths(table)
    groups = _Groups(table, conditions, len(strengths) + 1)
    cells = {}
    for model, name in enumerate(table.model.names):
        for code, ring in enumerate(table.ring.names):
            base = groups.of(model, code, 0)
            for place, strength in enumerate(strengths, 1):
                adapted = groups.of(model, code, place)
                if not adapted.draws.any():
                    continue
                for domain in table.domain.names:
                    key = CellKey(name, Domain(domain), Ring(ring), strength)
                    if cell := _cell(key, families, base, adapted):
                        cells[key] = cell
    if not cells:
        raise PreconditionError("results hold no adapted state; answer the banks of the adapted model first")
    return Counted(cells, strengths)


class _Families:
    """What stays the same of a family in every row, checked."""

    def __init__(self, table: ResultTable) -> None:
        self.ids = np.array(table.family.names)
        self.shapes = np.array(table.shape.names)[self._constant(table, "shape", table.shape)]
        self.domains = np.array(table.domain.names)[self._constant(table, "domain", table.domain)]
        self.conditions = np.array(table.condition.names)[self._constant(table, "condition", table.condition)]
        self.truth_ranks = None
        if table.truth_rank is not None:
            self.truth_ranks = self._constant(table, "truth_rank", table.truth_rank)
        self.display_positions = self._constant(table, "display_position", table.display_position)

    def _constant(self, table: ResultTable, name: str, column: LabelColumn | NDArray[np.int64]) -> NDArray[np.int64]:
        values = column.codes if isinstance(column, LabelColumn) else column
        found = np.zeros(self.ids.size, np.int64)  # a name may have no row in a part of a table
        found[table.family.codes] = values
        differing = found[table.family.codes] != values
        if differing.any():
            family = self.ids[table.family.codes[int(np.argmax(differing))]]
            raise InvalidRequestError(f"results: family '{family}' has two values of {name}; a family has one")
        return found


class _Sums(NamedTuple):
    """Of every family of the table, shape (families,)."""

    draws: NDArray[np.int64]
    correct: NDArray[np.int64]
    valid: NDArray[np.int64]
    probability: NDArray[np.float64] | None


class _Groups:
    """Sums over the rows of each model, ring, state with strength, and family."""

    def __init__(self, table: ResultTable, states: NDArray[np.int64], state_count: int) -> None:
        self._shape = len(table.model.names), len(table.ring.names), state_count, len(table.family.names)
        where = (table.model.codes, table.ring.codes, states, table.family.codes)
        places = np.ravel_multi_index(where, self._shape)
        if table.draw is not None:
            _require_once(table, places)
        rows = self._sum(places, None)
        self._draws, self._correct, self._valid = (
            self._sum(places, values).astype(np.int64) for values in (table.draw_count, table.correct, table.valid)
        )
        self._probability = None
        if table.probability is not None:
            self._probability = self._sum(places, table.probability) / np.maximum(rows, 1)

    def of(self, model: int, ring: int, state: int) -> _Sums:
        place = model, ring, state
        probability = None if self._probability is None else self._probability[place]
        return _Sums(self._draws[place], self._correct[place], self._valid[place], probability)

    def _sum(self, places: NDArray[np.int64], weights: NDArray[Any] | None) -> NDArray[np.float64]:
        # Sums of whole numbers stay whole in doubles up to 2^53, far above the draws of any experiment.
        sums = np.bincount(places, weights, minlength=int(np.prod(self._shape)))
        return sums.astype(np.float64).reshape(self._shape)


def _require_once(table: ResultTable, places: NDArray[np.int64]) -> None:
    draws = table.draw
    if draws is None:
        return
    width = int(draws.max()) + 1
    keys = places * width + draws
    if int(places.max() + 1) * width <= 1 << 22:
        is_twice = bool((np.bincount(keys) > 1).any())
    else:
        is_twice = np.unique(keys).size < keys.size
    if is_twice:
        found, counts = np.unique(keys, return_counts=True)
        row = int(np.flatnonzero(keys == found[np.argmax(counts > 1)])[1])
        family, state = table.family.names[table.family.codes[row]], table.state.names[table.state.codes[row]]
        raise InvalidRequestError(
            f"results: draw {draws[row]} of family '{family}' in state {state} occurs twice (row {row}); "
            "a case has one result"
        )


def _strengths(table: ResultTable) -> tuple[tuple[float, ...], NDArray[np.int64]]:
    """Return the strengths of adapted rows, and for each row 0 (base) or the 1-based place of its strength."""
    is_adapted = np.array([name == ModelState.ADAPTED for name in table.state.names])[table.state.codes]
    if table.strength is None:
        return (1.0,), is_adapted.astype(np.int64)
    if (table.strength[~is_adapted] != 0).any():
        raise InvalidRequestError("results: a row of state base has a strength; the base model has strength 0")
    names, places = np.unique(table.strength[is_adapted], return_inverse=True)
    states = np.zeros(table.row_count, np.int64)
    states[is_adapted] = places + 1
    return tuple(float(name) for name in names), states


def _cell(key: CellKey, families: _Families, base: _Sums, adapted: _Sums) -> Cell | None:
    asked = (families.domains == key.domain) & ((base.draws > 0) | (adapted.draws > 0))
    if not asked.any():
        return None
    arms = []
    for condition in Condition:
        members = np.flatnonzero(asked & (families.conditions == condition))
        if not members.size:
            raise PreconditionError(
                f"cell {_words(key)} has no family of {condition}; an effect needs families of both conditions"
            )
        arms.append(_arm(key, families, members, base, adapted))
    return Cell(key, *arms)


def _arm(key: CellKey, families: _Families, members: NDArray[np.int64], base: _Sums, adapted: _Sums) -> Arm:
    draws = int(max(base.draws[members].max(), adapted.draws[members].max()))
    for state, sums in (("base", base), ("adapted", adapted)):
        short = sums.draws[members] < draws
        if short.any():
            member = members[int(np.argmax(short))]
            raise PreconditionError(
                f"family '{families.ids[member]}' of cell {_words(key)} has {sums.draws[member]} of {draws} results in "
                f"state {state}; answer the rest of its bank first"
            )
    probabilities = None
    if base.probability is not None and adapted.probability is not None:
        probabilities = base.probability[members], adapted.probability[members]
    return Arm(
        outcomes=Outcomes(base.correct[members], adapted.correct[members], draws, families.ids[members].tolist()),
        shapes=families.shapes[members],
        truth_ranks=None if families.truth_ranks is None else families.truth_ranks[members],
        display_positions=families.display_positions[members],
        valid=(int(base.valid[members].sum()), int(adapted.valid[members].sum())),
        terminal=(int(base.draws[members].sum()), int(adapted.draws[members].sum())),
        probabilities=probabilities,
    )


def _words(key: CellKey) -> str:
    return f"{key.model}, {key.domain}, {key.ring}"
