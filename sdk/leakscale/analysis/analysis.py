"""The results section of an experiment: every table, from one set of counts.

Source: LeakScale, Tables 2 and 9 to 21; METHODS 10 and 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from leakscale.analysis import heads
from leakscale.analysis.counting import Cell, Counted, count_families
from leakscale.analysis.crossed import crossed
from leakscale.analysis.extensions import dose_response, exact_choices, expected_accuracies, ring_transfer
from leakscale.analysis.families import answer_strata, family_accuracies, family_profiles
from leakscale.analysis.identity_tables import identity_tables
from leakscale.analysis.plan import AnalysisPlan, Identities, ReleasePolicy
from leakscale.analysis.result_table import ResultTable
from leakscale.analysis.shapes import leave_one_shape_out, shape_effects, without_shapes
from leakscale.analysis.totals import completion, effects, integer_totals, sizes, trajectories
from leakscale.errors import InvalidRequestError, PreconditionError
from leakscale.models import Ring
from leakscale.tabled import Tabled
from leakscale.tables import Table, TableHead

__all__ = ["Analysis", "analyze_results", "in_order"]

_FORMAT: Final = "leakscale-analysis-v1"
_OF_FAMILIES: Final = "single families"
_OF_RANKS: Final = "families of one truth rank or display position"
_OF_SHAPES: Final = "families of single shapes"

_Make = Callable[[], "Table[Any] | None"]


@dataclass(frozen=True, slots=True)
class Analysis(Tabled):
    """Every table, in the order of the paper's numbers, those that it lacks last."""

    tables: tuple[Table[Any], ...]
    plan: AnalysisPlan

    def to_dict(self) -> dict[str, Any]:
        """Return settings and tables as JSON-ready values."""
        return {
            "format": _FORMAT,
            "plan": self.plan.to_dict(),
            "tables": {one.name: one.to_dict() for one in self.tables},
        }


def analyze_results(
    table: ResultTable,
    plan: AnalysisPlan,
    *,
    policy: ReleasePolicy | None = None,
    identities: Identities | None = None,
    progress: Callable[[int, int], None] | None = None,
    thread_count: int = 2,
) -> Analysis:
    """Compute every table of an experiment.

    Args:
        table: All results.
        plan: The registered settings.
        policy: What may be shown; everything if left out.
        identities: What the numbers are tied to; tables without any are withheld.
        progress: Called with the tables that are done and their number.
        thread_count: Tables that are computed at once. No number depends on it.

    Raises:
        InvalidRequestError: If the rows contradict each other, or the plan names a strength that they do not have.
        PreconditionError: If they are incomplete, or hold several strengths and the plan names none.
    """
    counted = count_families(table)
    strength = _strength(counted, plan)
    cells = counted.reported(Ring.R0, strength)
    if not cells:
        raise PreconditionError("results hold nothing in ring R0, the form that was leaked; answer its banks first")
    makers = _makers(counted, cells, strength, plan, policy or ReleasePolicy.of_practice())
    made: list[Table[Any] | None] = []
    with ThreadPoolExecutor(thread_count) as threads:
        for one in threads.map(lambda make: make(), makers):
            made.append(one)
            if progress is not None:
                progress(len(made), len(makers))
    tables = [one for one in made if one is not None]
    tables += identity_tables(identities or Identities(seeds={"analysis": plan.seed}))
    return Analysis(in_order(tables), plan)


def in_order(tables: Iterable[Table[Any]]) -> tuple[Table[Any], ...]:
    """Sort tables by the paper's numbers, those that it lacks last."""
    return tuple(sorted(tables, key=lambda one: int(one.number or 99)))


def _strength(counted: Counted, plan: AnalysisPlan) -> float:
    shown = ", ".join(f"{each:g}" for each in counted.strengths)
    if plan.strength is None:
        if len(counted.strengths) > 1:
            raise PreconditionError(f"results hold the strengths {shown}; name the one to report, `--strength`")
        return counted.strengths[0]
    if plan.strength not in counted.strengths:
        raise InvalidRequestError(f"strength {plan.strength:g} is not in the results; they hold {shown}")
    return plan.strength


def _makers(
    counted: Counted, cells: Sequence[Cell], strength: float, plan: AnalysisPlan, policy: ReleasePolicy
) -> list[_Make]:
    """Return what makes each table; the longest first, so that no thread waits for them at the end."""
    domains = list(dict.fromkeys(cell.key.domain for cell in cells))

    def unless_withheld(head: TableHead, over: str, make: _Make) -> _Make:
        reason = policy.withholds(over)
        return make if reason is None else lambda: head.withheld(reason)

    return [
        *(
            unless_withheld(heads.SHAPES[domain], _OF_SHAPES, partial(shape_effects, domain, cells, plan))
            for domain in domains
        ),
        lambda: crossed(cells, plan),
        lambda: effects(cells, plan),
        unless_withheld(heads.ANSWER_STRATA, _OF_RANKS, lambda: answer_strata(cells, plan)),
        unless_withheld(heads.LEAVE_ONE_SHAPE_OUT, _OF_SHAPES, lambda: leave_one_shape_out(cells)),
        unless_withheld(heads.WITHOUT_SHAPES, _OF_SHAPES, lambda: without_shapes(cells)),
        unless_withheld(heads.FAMILY_PROFILES, _OF_FAMILIES, lambda: family_profiles(cells)),
        unless_withheld(heads.FAMILY_ACCURACIES, _OF_FAMILIES, lambda: family_accuracies(cells)),
        lambda: ring_transfer(counted, strength, plan),
        lambda: exact_choices(cells, plan),
        lambda: expected_accuracies(cells),
        lambda: dose_response(counted, plan),
        lambda: trajectories(cells),
        lambda: sizes(cells),
        lambda: integer_totals(cells),
        lambda: completion(cells),
    ]
