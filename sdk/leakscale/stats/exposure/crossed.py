"""Summaries across models and domains: means over one, the other and both, and the interaction of the two.

Models answer the same families of a domain, so a resample draws a family once for all of them; domains, and C0 and C2
within a domain, are drawn apart. The paper prints these summaries without intervals.

Source: LeakScale E.5 (Table 17); METHODS 10.8 and section 14 (joint resampling).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from leakscale.stats import parameters
from leakscale.stats.errors import DesignError, EmptyCellError
from leakscale.stats.exposure.contrasts import Contrasts, Weights, draw_contrasts
from leakscale.stats.exposure.joint import joint_changes
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.intervals import Interval

__all__ = ["Cells", "CrossedSummary", "crossed_contrast", "crossed_summary", "interaction_contrast"]

_WEIGHT_MAX: Final = 1e6
"""Far above any contrast in use, and far below weights whose squares leave the doubles."""

Cells = Mapping[tuple[str, str], tuple[Outcomes, Outcomes]]
"""C0 and C2 outcomes of each (model, domain)."""


@dataclass(frozen=True, slots=True, eq=False)
class CrossedSummary:
    """The exposure effects of all cells and their equal-weight means, from one set of resamples."""

    cells: Mapping[tuple[str, str], Interval]
    """Effect of each (model, domain)."""
    model_means: Mapping[str, Interval]
    """Mean over the domains of each model."""
    domain_means: Mapping[str, Interval]
    """Mean over the models of each domain."""
    grand_mean: Interval
    """Mean over all cells."""
    totals: Mapping[tuple[str, str], Mapping[str, Mapping[str, int]]]
    """Integer totals of C0 and C2 of each (model, domain)."""
    method: str
    alpha: float
    n_resamples: int | None
    seed: int | None

    def to_dict(self) -> dict[str, object]:
        """Return the intervals and integer totals as JSON-ready values."""
        return {
            "cells": [
                {"model": str(model), "domain": str(domain), "effect": effect.to_dict(), **self.totals[model, domain]}
                for (model, domain), effect in self.cells.items()
            ],
            "model_means": {str(model): mean.to_dict() for model, mean in self.model_means.items()},
            "domain_means": {str(domain): mean.to_dict() for domain, mean in self.domain_means.items()},
            "grand_mean": self.grand_mean.to_dict(),
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        size = f"{len(self.model_means)} models x {len(self.domain_means)} domains"
        return f"grand mean of the exposure effect {self.grand_mean}, {size}"


def crossed_summary(
    cells: Cells,
    *,
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> CrossedSummary:
    """Average the exposure effects over domains, over models, and over everything, cells weighing the same.

    Args:
        cells: C0 and C2 outcomes of every combination of a model and a domain. The models of a domain answer the same
            families; with ids these are matched by name, otherwise row by row.
        method: `percentile` with a seed, or `exact`, its infinite-resample limit.
        n_resamples: Resamples of each condition and domain.
        seed: Seeds `Generator(PCG64(seed))`, which draws domain after domain (sorted by name), C0 before C2.
        alpha: Probability left outside each interval, in (0, 1); the intervals are not simultaneous.

    Raises:
        DesignError: If a combination of a model and a domain is missing.
        EmptyCellError: If there is no cell.
        EnumerationError: If the exact distribution would not fit into memory, as for families of unequal numbers.
        PairingError: If the models of a domain answered different families.
        ParameterError, SeedRequiredError, UnsupportedMethodError: As for `difference_in_differences`.
    """
    design = _Design.of(cells)
    contrasts = design.drawn(cells, method, n_resamples, seed, alpha)
    keys = [(model, domain) for model in design.models for domain in design.domains]

    def mean_of(chosen: list[tuple[str, str]]) -> Interval:
        return contrasts.interval(design.weights({key: Fraction(1, len(chosen)) for key in chosen}))

    return CrossedSummary(
        cells={key: mean_of([key]) for key in keys},
        model_means={model: mean_of([(model, domain) for domain in design.domains]) for model in design.models},
        domain_means={domain: mean_of([(model, domain) for model in design.models]) for domain in design.domains},
        grand_mean=mean_of(keys),
        totals={key: {"c0": cells[key][0].to_dict(), "c2": cells[key][1].to_dict()} for key in keys},
        method=method,
        alpha=contrasts.alpha,
        n_resamples=contrasts.n_resamples,
        seed=contrasts.seed,
    )


def interaction_contrast(
    cells: Cells,
    *,
    models: tuple[str, str],
    domains: tuple[str, str],
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> Interval:
    """Estimate how much more the first domain gains over the second in the first model than in the second.

    interaction = (effect[m1, d1] - effect[m1, d2]) - (effect[m2, d1] - effect[m2, d2]), in [-8, 8]. The paper leaves
    the sign open; here it is the order of `models` and `domains`.

    Raises:
        DesignError: If the two models are one, or the two domains, or one of them is in no cell.
        And as for `crossed_contrast`.
    """
    (m1, m2), (d1, d2) = models, domains
    for kind, (first, second) in (("models", models), ("domains", domains)):
        if first == second:
            raise DesignError(f"{kind} are {first!r} twice; an interaction compares two different {kind}")
    one = Fraction(1)
    weights = {(m1, d1): one, (m1, d2): -one, (m2, d1): -one, (m2, d2): one}
    return crossed_contrast(cells, weights, method=method, n_resamples=n_resamples, seed=seed, alpha=alpha)


def crossed_contrast(
    cells: Cells,
    weights: Mapping[tuple[str, str], Fraction | float],
    *,
    method: str = "percentile",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> Interval:
    """Estimate a weighted sum of the exposure effects of cells, e.g. one model less another in a domain.

    Args:
        weights: Of (model, domain); a cell without one weighs nothing.

    Raises:
        DesignError: If a combination of a model and a domain is missing, or a weight has no cell.
        ParameterError: If a weight is no finite number, or beyond a million on either side.
        And as for `crossed_summary`.
    """
    design = _Design.of(cells)
    unknown = sorted(set(weights) - set(cells), key=repr)
    if unknown:
        raise DesignError(f"weight for {unknown[0]}, but there is no such cell; cells are {sorted(cells, key=repr)}")
    exact = {key: _weight(weight, key) for key, weight in weights.items()}
    return design.drawn(cells, method, n_resamples, seed, alpha).interval(design.weights(exact))


def _weight(value: Fraction | float, key: tuple[str, str]) -> Fraction:
    found = parameters.number(value, f"weight of {key}", -_WEIGHT_MAX, _WEIGHT_MAX)
    return value if isinstance(value, Fraction) else Fraction(found)


@dataclass(frozen=True, slots=True)
class _Design:
    models: tuple[str, ...]
    domains: tuple[str, ...]

    @classmethod
    def of(cls, cells: Cells) -> _Design:
        if not cells:
            raise EmptyCellError("no cell to summarize; pass C0 and C2 outcomes of at least one model and domain")
        models, domains = (tuple(sorted({key[i] for key in cells})) for i in (0, 1))
        missing = [(model, domain) for model in models for domain in domains if (model, domain) not in cells]
        if missing:
            raise DesignError(f"cell {missing[0]} is missing; a crossed summary needs every model in every domain")
        return cls(models, domains)

    def drawn(
        self, cells: Cells, method: str, n_resamples: int, seed: parameters.Seed | None, alpha: float
    ) -> Contrasts:
        blocks = [
            joint_changes(
                [cells[model, domain][i] for model in self.models], subject=f"{name} of {domain!r}", is_complete=True
            )
            for domain in self.domains
            for i, name in enumerate(("C0", "C2"))
        ]
        return draw_contrasts(blocks, method=method, n_resamples=n_resamples, seed=seed, alpha=alpha)

    def weights(self, of_cells: Mapping[tuple[str, str], Fraction | int]) -> Weights:
        """Spread the weights of effects over blocks: each domain's C0 with the sign turned, then its C2."""
        return tuple(
            tuple(sign * Fraction(of_cells.get((model, domain), 0)) for model in self.models)
            for domain in self.domains
            for sign in (-1, 1)
        )
