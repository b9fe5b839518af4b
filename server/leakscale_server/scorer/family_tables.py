"""The tables that tell families apart, for who may be told everything: the author of a practice edition.

They are those of `leakscale analyze` (12 to 16), by the same functions, from the answers of the sealed banks in R0. Of
every other experiment nothing here is computed, so that nothing of it can leave.

The vault has no values of candidates, so there are no truth ranks; the display position is that of the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from leakscale.analysis import heads
from leakscale.analysis.counting import Arm, Cell, CellKey
from leakscale.analysis.families import answer_strata, family_accuracies, family_profiles
from leakscale.analysis.plan import AnalysisPlan
from leakscale.analysis.shapes import leave_one_shape_out, shape_effects, without_shapes
from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.stats import Outcomes, StatisticsError
from leakscale.tables import Table, TableHead
from leakscale_server.scorer.contract import ExperimentHead, FamilyCell
from leakscale_server.scorer.ring_scores import ALPHA, Tallies
from leakscale_server.store.vault import Association

__all__ = ["family_tables"]


def family_tables(
    head: ExperimentHead,
    families: Sequence[FamilyCell],
    tallies: Tallies,
    associations: Mapping[str, Association],
) -> list[dict[str, Any]]:
    """Compute the tables of an open experiment, as `Table.to_dict` writes them.

    Args:
        head: Of an open experiment.
        families: Of the edition.
        tallies: Of its banks in R0.
        associations: By family id.

    A table that the design does not carry is withheld with the reason: numbers that are due must leave all the same.
    """
    cells = list(_cells(head, families, tallies, associations))
    plan = AnalysisPlan(seed=head.bootstrap_seed, resample_count=head.resample_count, alpha=ALPHA)
    makers: list[tuple[TableHead, Callable[[], Table[Any]]]] = [
        (heads.FAMILY_PROFILES, lambda: family_profiles(cells)),
        (heads.FAMILY_ACCURACIES, lambda: family_accuracies(cells)),
        (heads.ANSWER_STRATA, lambda: answer_strata(cells, plan)),
        *((heads.SHAPES[cell.key.domain], partial(shape_effects, cell.key.domain, [cell], plan)) for cell in cells),
        (heads.LEAVE_ONE_SHAPE_OUT, lambda: leave_one_shape_out(cells)),
        (heads.WITHOUT_SHAPES, lambda: without_shapes(cells)),
    ]
    return [_made(table, make).to_dict() for table, make in makers]


def _made(head: TableHead, make: Callable[[], Table[Any]]) -> Table[Any]:
    try:
        return make()
    except StatisticsError as error:
        return head.withheld(str(error))


def _cells(
    head: ExperimentHead,
    families: Sequence[FamilyCell],
    tallies: Tallies,
    associations: Mapping[str, Association],
) -> Iterator[Cell]:
    asked = {family.domain for family in families}
    for domain in (each for each in Domain if each in asked):
        c0, c2 = (
            _arm(
                head,
                [one for one in families if (one.domain, one.condition) == (domain, condition)],
                tallies,
                associations,
            )
            for condition in Condition
        )
        yield Cell(CellKey(head.model_label, domain, Ring.R0, 1.0), c0, c2)


def _arm(
    head: ExperimentHead, families: Sequence[FamilyCell], tallies: Tallies, associations: Mapping[str, Association]
) -> Arm:
    ids = [family.family_id for family in families]
    base, adapted = ([tallies[one.domain, state].correct[one.family_id] for one in families] for state in ModelState)
    valid = [sum(tallies[one.domain, state].valid[one.family_id] for one in families) for state in ModelState]
    draws = len(ids) * head.draw_count
    return Arm(
        outcomes=Outcomes(base, adapted, head.draw_count, ids),
        shapes=np.array([family.shape_id for family in families]),
        truth_ranks=None,
        display_positions=np.array([associations[each].truth for each in ids], np.int64),
        valid=(valid[0], valid[1]),
        terminal=(draws, draws),
        probabilities=None,
    )
