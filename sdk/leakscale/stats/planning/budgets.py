"""What smaller audits would have shown: precision and ranking of models by budget.

The audited parents are taken as a population. Subsamples without replacement show, for each budget, how wide the Wald
interval is and how much of the ranking by fresh-form score survives. Scores are compared as whole numbers; a tie in a
subsample orders nothing and counts as a failure to order.

Source: CleanScore 7.8 and Table 10; METHODS 8.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from leakscale.stats import parameters
from leakscale.stats.designs import FinitePopulationDesign
from leakscale.stats.errors import ParameterError, ScoreError, SeedRequiredError
from leakscale.stats.gaps import Gaps
from leakscale.stats.mean_intervals import mean_bounds

__all__ = ["BudgetCurve", "BudgetPoint", "budget_curve"]


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What audits of one size show, on average over the subsamples."""

    budget: int
    """Parents of a subsample."""
    half_width: float | None
    """Mean Wald half-width over subsamples and models; None where no subsample has one."""
    pair_share: float | None
    """Share of the pairs of models that a subsample orders as the full audit does; None where that orders no pair."""
    order_share: float | None
    """Share of the subsamples that reproduce the whole order; None likewise."""
    without_interval_count: int
    """Subsamples of a model in which all gaps are equal, which gives no Wald interval."""

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the fields as JSON-ready values."""
        return {
            "budget": self.budget,
            "half_width": self.half_width,
            "pair_share": self.pair_share,
            "order_share": self.order_share,
            "without_interval_count": self.without_interval_count,
        }


@dataclass(frozen=True, slots=True)
class BudgetCurve:
    """Precision and ranking by budget."""

    points: tuple[BudgetPoint, ...]
    models: tuple[str, ...]
    """By fresh-form score in the full audit, best first."""
    tied_pairs: tuple[tuple[str, str], ...]
    """Pairs that the full audit does not order; they are left out of both shares."""
    replicates: int
    alpha: float

    @property
    def method(self) -> str:
        """Name the computation."""
        return f"{self.replicates} subsamples without replacement, wald_fpc, ties count as wrong"

    def to_dict(self) -> dict[str, object]:
        """Return the curve as JSON-ready values."""
        return {
            "points": [point.to_dict() for point in self.points],
            "models": [str(model) for model in self.models],
            "tied_pairs": [[str(model) for model in pair] for pair in self.tied_pairs],
            "replicates": self.replicates,
            "alpha": self.alpha,
            "method": self.method,
        }

    def __str__(self) -> str:
        parts = [
            f"{p.budget} parents {100 * p.pair_share:.0f} % / {100 * p.order_share:.0f} %"
            for p in self.points
            if p.pair_share is not None and p.order_share is not None
        ]
        if not parts:
            return f"the full audit orders none of the {len(self.models)} models, so no budget can keep an order"
        return f"pairs / whole orders as in the full audit: {', '.join(parts)}"


def budget_curve(
    models: Mapping[str, Gaps],
    *,
    budgets: Iterable[int],
    replicates: int = 2_000,
    seed: parameters.Seed | None = None,
    design: FinitePopulationDesign | None = None,
    alpha: float = 0.05,
) -> BudgetCurve:
    """Subsample an audit of several models at several budgets.

    Args:
        models: Gaps with scores (from `paired_gap`) of each model on the same parents; one alone has half-widths and no
            order.
        budgets: Parents of a subsample, each from 1 to the size of the audit.
        replicates: Subsamples; the same ones for every model and, as nested prefixes, for every budget.
        seed: Of the subsamples; required.
        design: Benchmark for the half-widths; None: the audited parents, as in the paper, so that a subsample of all
            of them has width 0.
        alpha: Level of the half-widths.

    Raises:
        DesignError: If a budget exceeds the design.
        ParameterError: If budgets or replicates are out of range, or there is no model.
        ScoreError: If the models were not scored on the same number of parents, or only their gaps are known.
        SeedRequiredError: If there is no seed.
    """
    if seed is None:
        raise SeedRequiredError("subsamples need a seed; pass `seed=`")
    size = _common_count(models)
    replicates, alpha = parameters.count(replicates, "replicates", 1), parameters.level(alpha)
    sizes = [parameters.count(budget, "a budget", 1, size) for budget in budgets]
    if not sizes:
        raise ParameterError("there is no budget; pass at least one, e.g. half of the audit")
    rng, _ = parameters.seeded(seed)
    orders = rng.permuted(np.tile(np.arange(size), (replicates, 1)), axis=1)
    fresh = _fresh_numerators(models)
    pairs, tied = _ordered_pairs(fresh)
    names = list(models)
    ranked = sorted(range(len(names)), key=lambda index: -int(fresh[index].sum()))
    frame = design or FinitePopulationDesign(size)
    return BudgetCurve(
        points=tuple(_point(models, fresh, pairs, orders[:, :budget], frame=frame, alpha=alpha) for budget in sizes),
        models=tuple(names[index] for index in ranked),
        tied_pairs=tuple((names[a], names[b]) for a, b in tied),
        replicates=replicates,
        alpha=alpha,
    )


def _common_count(models: Mapping[str, Gaps]) -> int:
    if not models:
        raise ParameterError("there is no model; pass the gaps of at least one")
    counts = {name: gaps.count for name, gaps in models.items()}
    is_whole = not any(gaps.dropped_parent_count for gaps in models.values())
    if len(models) > 1 and not (is_whole and len(set(counts.values())) == 1):
        raise ScoreError(f"models have gaps for {counts} parents; a ranking needs scores on the same ones")
    return next(iter(counts.values()))


def _fresh_numerators(models: Mapping[str, Gaps]) -> NDArray[np.int64]:
    """Return the fresh-form score of each model and parent over one denominator, shape (models, parents)."""
    scale = math.lcm(*(gaps.denominator for gaps in models.values()))
    rows = []
    for name, gaps in models.items():
        if gaps.original_numerators is None:
            raise ScoreError(f"model {name!r} has gaps without scores; build them with `paired_gap`")
        rows.append((gaps.original_numerators - gaps.numerators) * (scale // gaps.denominator))
    return np.stack(rows)


def _ordered_pairs(fresh: NDArray[np.int64]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the pairs of models that the full audit orders, better one first, and the pairs that it ties."""
    totals = fresh.sum(axis=1)
    pairs = list(combinations(range(len(totals)), 2))
    ordered = [(a, b) if totals[a] > totals[b] else (b, a) for a, b in pairs if totals[a] != totals[b]]
    return ordered, [(a, b) for a, b in pairs if totals[a] == totals[b]]


def _point(
    models: Mapping[str, Gaps],
    fresh: NDArray[np.int64],
    pairs: list[tuple[int, int]],
    chosen: NDArray[np.int64],
    *,
    frame: FinitePopulationDesign,
    alpha: float,
) -> BudgetPoint:
    totals = np.stack([row[chosen].sum(axis=1) for row in fresh])
    kept = np.stack([totals[better] > totals[worse] for better, worse in pairs]) if pairs else None
    half_widths = []
    for gaps in models.values():
        bounds = mean_bounds(gaps.numerators[chosen], gaps.denominator, frame, method="wald_fpc", alpha=alpha)
        half_widths.append(((bounds.high - bounds.low) / 2)[~bounds.is_degenerate])
    known = np.concatenate(half_widths)
    return BudgetPoint(
        budget=chosen.shape[1],
        half_width=float(known.mean()) if known.size else None,
        pair_share=None if kept is None else float(kept.mean()),
        order_share=None if kept is None else float(kept.all(axis=0).mean()),
        without_interval_count=len(models) * len(chosen) - known.size,
    )
