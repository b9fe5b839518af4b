"""The exposure effect inside each truth rank, display position or shape.

Descriptive: which group an effect is large in. The intervals hold one by one and not together, and groups are small,
so the default is the studentized bootstrap, and every result carries its own warnings.

Source: LeakScale E.3 and E.4 (Tables 13 to 15); METHODS 10.6, 10.7 and 13.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscale.stats import parameters
from leakscale.stats.errors import EmptyCellError
from leakscale.stats.exposure.did import DidResult, difference_in_differences
from leakscale.stats.exposure.labels import Labels, read_labels
from leakscale.stats.exposure.outcomes import Outcomes

__all__ = ["Marginals", "marginals"]


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """One result a group, with its integer totals."""

    groups: Mapping[str, DidResult]
    method: str
    alpha: float
    n_resamples: int | None
    """None for the exact method."""
    seed: int | None
    """None for the exact method, and when a generator was passed."""

    @property
    def positive_count(self) -> int:
        """Number of groups whose estimate is above zero."""
        return sum(result.effect.estimate > 0 for result in self.groups.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all groups, each with the name of its group."""
        return tuple(f"{name}: {said}" for name, result in self.groups.items() for said in result.warnings)

    def to_dict(self) -> dict[str, object]:
        """Return the results as JSON-ready values."""
        return {
            "groups": {name: result.to_dict() for name, result in self.groups.items()},
            "positive_count": self.positive_count,
            "method": self.method,
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        effects = {name: result.effect.estimate for name, result in self.groups.items()}
        low, high = min(effects, key=effects.__getitem__), max(effects, key=effects.__getitem__)
        return (
            f"{len(effects)} groups, {self.positive_count} positive: {100 * effects[low]:+.2f} ({low}) to "
            f"{100 * effects[high]:+.2f} points ({high}); {len(self.warnings)} warnings"
        )


def marginals(
    c0: Outcomes,
    c2: Outcomes,
    groups: Labels,
    *,
    method: str = "studentized",
    n_resamples: int = 10_000,
    seed: parameters.Seed | None = None,
    alpha: float = 0.05,
) -> Marginals:
    """Estimate the effect inside each group from the group's own C0 and C2 families.

    Args:
        c0: Outcomes of the no-key control.
        c2: Outcomes under targeted exposure.
        groups: Labels of the C0 families and of the C2 families, e.g. their truth ranks.
        method: As for `difference_in_differences`; `exact` needs no seed and covers too little in groups as small as
            those of a shape.
        n_resamples: Resamples of each condition and group.
        seed: Seeds `Generator(PCG64(seed))`, which is used group after group, in the order of the labels.
        alpha: Probability left outside each interval, in (0, 1).

    Raises:
        DesignError: If the labels do not fit the families.
        EmptyCellError: If a group lacks families of one condition; its effect is undefined, not zero.
        ParameterError, SeedRequiredError, UnsupportedMethodError: As for `difference_in_differences`.
    """
    labels = read_labels(groups, c0, c2, argument="groups")
    rng, number = (None, None) if seed is None or method == "exact" else parameters.seeded(seed)
    results = {}
    for code, name in enumerate(labels.names):
        members0, members2 = labels.c0 == code, labels.c2 == code
        if not members0.any() or not members2.any():
            raise EmptyCellError(f"group {name!r} lacks families of one condition; its effect is undefined, not zero")
        results[name] = difference_in_differences(
            _only(c0, members0), _only(c2, members2), method=method, n_resamples=n_resamples, seed=rng, alpha=alpha
        )
    first = next(iter(results.values()))
    return Marginals(results, method, first.alpha, first.n_resamples, number)


def _only(outcomes: Outcomes, members: NDArray[np.bool_]) -> Outcomes:
    names = None if outcomes.ids is None else [outcomes.ids[row] for row in np.flatnonzero(members)]
    return Outcomes(outcomes.base[members], outcomes.adapted[members], outcomes.draws, names)
