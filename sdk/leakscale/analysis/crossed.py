"""Means over models and domains, and their interaction (Table 17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from leakscale.analysis import heads
from leakscale.analysis.counting import Cell
from leakscale.analysis.plan import AnalysisPlan
from leakscale.models import Domain
from leakscale.stats import Interval, PairingError
from leakscale.stats.exposure.contrasts import Contrasts, Weights, draw_contrasts
from leakscale.stats.exposure.joint import JointChanges, joint_changes
from leakscale.tables import Table

__all__ = ["CrossedRow", "crossed"]

_CellName = tuple[str, Domain]
"""Model and domain."""


@dataclass(frozen=True, slots=True)
class CrossedRow:
    """A mean of the effects of several cells, or a contrast of them."""

    summary: str
    """`model mean`, `domain mean`, `grand mean`, `interaction`; `difference` of the domains where there is one model;
    `pooled` where a disclosure pooled the families."""
    of: str
    effect: Interval
    """With the registered interval; families are drawn once for all models that answered them."""
    exact: Interval | None
    """None where a disclosure lacks it."""


def crossed(cells: Sequence[Cell], plan: AnalysisPlan) -> Table[CrossedRow]:
    """Average the effects of cells, each weighing the same, and contrast models across domains.

    The interaction is (Python - SQL effect of one model) - (the same of the other). The paper leaves its sign open;
    here the model that comes later in the alphabet is the first of the two. Means are those of
    `leakscale.stats.crossed_summary` to the last bit; here means and interactions read one set of resamples.

    Source: LeakScale E.5 (Table 17). The intervals are ours.
    """
    by_name = {(cell.key.model, cell.key.domain): cell for cell in cells}
    models, domains = sorted({model for model, _ in by_name}), sorted({domain for _, domain in by_name})
    for model in models:
        for domain in domains:
            if (model, domain) not in by_name:
                return heads.CROSSED.withheld(f"{model} was not asked in {domain}; a mean needs every cell")
    try:
        blocks = [_block(by_name, models, domain, place) for domain in domains for place in (0, 1)]
    except PairingError as error:
        return heads.CROSSED.withheld(str(error))
    settings = {"n_resamples": plan.resample_count, "seed": plan.seed, "alpha": plan.alpha}
    drawn = [draw_contrasts(blocks, method=method, **settings) for method in ("percentile", "exact")]  # type: ignore[arg-type]
    rows = [
        _row(summary, of, drawn, _weights(of_cells, models, domains))
        for summary, of, of_cells in _summaries(models, domains)
    ]
    note = "Every cell weighs the same. Families are resampled once for all models that answered them."
    return heads.CROSSED.filled(rows, note)


def _summaries(models: Sequence[str], domains: Sequence[Domain]) -> list[tuple[str, str, Mapping[_CellName, Fraction]]]:
    """Return the weight of each cell in each summary."""

    def mean(chosen: Sequence[_CellName]) -> dict[_CellName, Fraction]:
        return dict.fromkeys(chosen, Fraction(1, len(chosen)))

    every = [(model, domain) for model in models for domain in domains]
    found: list[tuple[str, str, Mapping[_CellName, Fraction]]] = [
        *(("model mean", model, mean([name for name in every if name[0] == model])) for model in models),
        *(("domain mean", domain.value, mean([name for name in every if name[1] is domain])) for domain in domains),
        ("grand mean", "all cells", mean(every)),
    ]
    if len(domains) == len(Domain):
        if len(models) == 1:
            of_domains = {(models[0], Domain.PYTHON): Fraction(1), (models[0], Domain.SQL): Fraction(-1)}
            found.append(("difference", "python less sql", of_domains))
        for second, first in combinations(models, 2):
            signs = {
                (model, domain): Fraction((1 if model == first else -1) * (1 if domain is Domain.PYTHON else -1))
                for model in (first, second)
                for domain in domains
            }
            found.append(("interaction", f"{first} less {second}, python less sql", signs))
    return found


def _block(cells: Mapping[_CellName, Cell], models: Sequence[str], domain: Domain, place: int) -> JointChanges:
    """Match the families of one condition of a domain over the models."""
    arms = [cells[model, domain].arms[place] for model in models]
    subject = f"{arms[0][0]} of {domain.value!r}"
    return joint_changes([arm.outcomes for _, arm in arms], subject=subject, is_complete=True)


def _weights(of_cells: Mapping[_CellName, Fraction], models: Sequence[str], domains: Sequence[Domain]) -> Weights:
    """Spread the weights of effects over blocks: each domain's C0 with the sign turned, then its C2."""
    return tuple(
        tuple(sign * of_cells.get((model, domain), Fraction()) for model in models)
        for domain in domains
        for sign in (-1, 1)
    )


def _row(summary: str, of: str, drawn: Sequence[Contrasts], weights: Weights) -> CrossedRow:
    registered, exact = (contrasts.interval(weights) for contrasts in drawn)
    return CrossedRow(summary, of, registered, exact)
