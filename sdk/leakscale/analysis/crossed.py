"""Means over models and domains, and their interaction (Table 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from leakscale.analysis import heads
from leakscale.analysis.counting import Cell
from leakscale.analysis.plan import AnalysisPlan
from leakscale.analysis.table import Table
from leakscale.models import Domain
from leakscale.stats import CrossedSummary, DesignError, Interval, PairingError, crossed_summary, interaction_contrast

__all__ = ["CrossedRow", "crossed"]


@dataclass(frozen=True, slots=True)
class CrossedRow:
    """A mean of the effects of several cells, or a contrast of them."""

    summary: str
    """`model mean`, `domain mean`, `grand mean` or `interaction`."""
    of: str
    effect: Interval
    """With the registered interval; families are drawn once for all models that answered them."""
    exact: Interval


def crossed(cells: Sequence[Cell], plan: AnalysisPlan) -> Table[CrossedRow]:
    """Average the effects of cells, each weighing the same, and contrast models across domains.

    The interaction is (Python - SQL effect of one model) - (the same of the other). The paper leaves its sign open;
    here the model that comes later in the alphabet is the first of the two.

    Source: LeakScale E.5 (Table 17). The intervals are ours.
    """
    outcomes = {(cell.key.model, cell.key.domain.value): (cell.c0.outcomes, cell.c2.outcomes) for cell in cells}
    settings = {"n_resamples": plan.resample_count, "seed": plan.seed, "alpha": plan.alpha}
    try:
        registered = crossed_summary(outcomes, **settings)  # type: ignore[arg-type]
        exact = crossed_summary(outcomes, method="exact", alpha=plan.alpha)
    except (DesignError, PairingError) as error:
        return heads.CROSSED.withheld(str(error))
    rows = _means(registered, exact)
    domains = (Domain.PYTHON.value, Domain.SQL.value)
    if set(registered.domain_means) == set(domains):
        for second, first in combinations(registered.model_means, 2):
            models = (first, second)
            rows.append(
                CrossedRow(
                    "interaction",
                    f"{first} less {second}, python less sql",
                    interaction_contrast(outcomes, models=models, domains=domains, **settings),  # type: ignore[arg-type]
                    interaction_contrast(outcomes, models=models, domains=domains, method="exact", alpha=plan.alpha),
                )
            )
    note = "Every cell weighs the same. Families are resampled once for all models that answered them."
    return heads.CROSSED.filled(rows, note)


def _means(registered: CrossedSummary, exact: CrossedSummary) -> list[CrossedRow]:
    rows = [
        CrossedRow("model mean", model, mean, exact.model_means[model])
        for model, mean in registered.model_means.items()
    ]
    rows += [
        CrossedRow("domain mean", domain, mean, exact.domain_means[domain])
        for domain, mean in registered.domain_means.items()
    ]
    return [*rows, CrossedRow("grand mean", "all cells", registered.grand_mean, exact.grand_mean)]
