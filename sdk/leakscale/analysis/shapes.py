"""Effects by program structure, and without each of them (Tables 14, 15 and 16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from leakscale.analysis import heads
from leakscale.analysis.counting import Cell
from leakscale.analysis.plan import AnalysisPlan
from leakscale.errors import IntegrityError
from leakscale.models import Domain
from leakscale.stats import EmptyCellError, Interval, LeaveOneGroupOut, Marginals, leave_one_group_out, marginals
from leakscale.tables import Table

__all__ = ["LeaveOneOutRow", "ShapeRow", "WithoutShapeRow", "leave_one_shape_out", "shape_effects", "without_shapes"]


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """The effect of one model among the families of one shape."""

    shape: str
    model: str
    families: str
    """Control and exposed."""
    c0_drift: float
    c2_change: float
    effect: Interval
    """Studentized: at 16 + 16 families a percentile interval covers too little."""
    warnings: tuple[str, ...]
    """Why even this interval may cover less than it promises."""


@dataclass(frozen=True, slots=True)
class LeaveOneOutRow:
    """How far the effect of a cell moves when one shape is left out."""

    model: str
    domain: Domain
    effect: float
    shapes: int
    least: float
    without_least: str
    greatest: float
    without_greatest: str
    positive: int
    identity: str
    """`exact` where (G * effect - effect of a shape) / (G - 1) equals each effect without it, in whole numbers;
    `unbalanced` where shapes differ in size, so that it need not."""


@dataclass(frozen=True, slots=True)
class WithoutShapeRow:
    """The effect of a cell without one shape."""

    model: str
    domain: Domain
    without: str
    effect: float


def shape_effects(domain: Domain, cells: Sequence[Cell], plan: AnalysisPlan) -> Table[ShapeRow]:
    """Estimate the effect of every shape of a domain.

    Source: LeakScale E.4 (Tables 14 and 15). The intervals are ours: they hold one by one, not together.
    """
    rows = []
    for cell in cells:
        if cell.key.domain is not domain:
            continue
        for shape, result in _by_shape(cell, plan).groups.items():
            rows.append(
                ShapeRow(
                    shape,
                    cell.key.model,
                    f"{result.c0.family_count} + {result.c2.family_count}",
                    result.c0_drift.estimate,
                    result.c2_change.estimate,
                    result.effect,
                    result.warnings,
                )
            )
    rows.sort(key=lambda row: row.shape)
    warned = sum(bool(row.warnings) for row in rows)
    positive = sum(row.effect.estimate > 0 for row in rows)
    return heads.SHAPES[domain].filled(
        rows,
        f"{positive} of {len(rows)} effects are positive; {warned} carry warnings, written out in CSV "
        "and JSON. Descriptive: studentized intervals, one by one.",
    )


def _by_shape(cell: Cell, plan: AnalysisPlan) -> Marginals:
    return marginals(
        cell.c0.outcomes,
        cell.c2.outcomes,
        (cell.c0.shapes, cell.c2.shapes),
        n_resamples=plan.resample_count,
        seed=plan.seed,
        alpha=plan.alpha,
    )


def leave_one_shape_out(cells: Sequence[Cell]) -> Table[LeaveOneOutRow]:
    """Compute the effect without each shape, and check that it and the shape's own effect add up.

    Raises:
        IntegrityError: If they do not, in a balanced cell.

    Source: LeakScale E.4 (Table 16); METHODS 10.7 (identity).
    """
    rows = []
    for cell in cells:
        found = _without(cell)
        if found is None:
            continue
        (least_name, least), (greatest_name, greatest) = found.least, found.greatest
        rows.append(
            LeaveOneOutRow(
                cell.key.model,
                cell.key.domain,
                float(found.effect),
                len(found.without),
                least,
                least_name,
                greatest,
                greatest_name,
                sum(effect > 0 for effect in found.without.values()),
                _identity(cell, found),
            )
        )
    positive, shapes = sum(row.positive for row in rows), sum(row.shapes for row in rows)
    note = f"{positive} of {shapes} effects are positive. Descriptive: it does not replace the intervals."
    return heads.LEAVE_ONE_SHAPE_OUT.filled(rows, note)


def without_shapes(cells: Sequence[Cell]) -> Table[WithoutShapeRow]:
    """List the effect without each shape: what the range of Table 16 is the range of."""
    rows = []
    for cell in cells:
        found = _without(cell)
        for shape, effect in found.without.items() if found else ():
            rows.append(WithoutShapeRow(cell.key.model, cell.key.domain, shape, float(effect)))
    return heads.WITHOUT_SHAPES.filled(rows)


def _without(cell: Cell) -> LeaveOneGroupOut | None:
    """Return the effects without each shape, or None where a condition has one shape only."""
    try:
        return leave_one_group_out(cell.c0.outcomes, cell.c2.outcomes, (cell.c0.shapes, cell.c2.shapes))
    except EmptyCellError:
        return None


def _identity(cell: Cell, found: LeaveOneGroupOut) -> str:
    own = _shape_effects(cell)
    if own is None:
        return "unbalanced"
    groups = len(own)
    for shape, effect in own.items():
        if found.without[shape] * (groups - 1) != groups * found.effect - effect:
            raise IntegrityError(
                f"cell {cell.key.model}, {cell.key.domain}: the effect without shape '{shape}' does not follow from "
                "the effect of the cell and that of the shape; report this as a fault of leakscale"
            )
    return "exact"


def _shape_effects(cell: Cell) -> dict[str, Fraction] | None:
    """Return the effect of each shape in whole numbers; None where shapes differ in families."""
    effects: dict[str, Fraction] = {}
    sizes = set()
    for sign, arm in ((-1, cell.c0), (1, cell.c2)):
        totals: dict[str, int] = {}
        counts: dict[str, int] = {}
        for shape, change in zip(arm.shapes.tolist(), arm.outcomes.changes.tolist(), strict=True):
            totals[shape] = totals.get(shape, 0) + change
            counts[shape] = counts.get(shape, 0) + 1
        sizes.add((frozenset(counts), *sorted(set(counts.values()))))
        for shape, total in totals.items():
            effects[shape] = effects.get(shape, Fraction()) + sign * Fraction(total, counts[shape] * arm.outcomes.draws)
    names = {names for names, *_ in sizes}
    is_balanced = len(names) == 1 and all(len(size) == 2 for size in sizes)
    return effects if is_balanced else None
