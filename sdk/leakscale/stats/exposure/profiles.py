"""Quartiles of the accuracy of families: how an average is spread over them.

Families are the observations, not draws, so a cell can have a median of zero with a mean near chance: most families
never right, some always.

Source: LeakScale E.2 (Table 12); METHODS 10.5. The quantile rule, which the paper leaves open, is the linear one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.exposure.outcomes import Outcomes

__all__ = ["FamilyProfile", "Quartiles", "family_profile"]


@dataclass(frozen=True, slots=True)
class Quartiles:
    """Five numbers of a distribution over families, exactly, with the mean beside them."""

    least: Fraction
    lower: Fraction
    median: Fraction
    upper: Fraction
    greatest: Fraction
    mean: Fraction

    def to_dict(self) -> dict[str, float]:
        """Return the numbers as shares."""
        names = ("least", "lower", "median", "upper", "greatest", "mean")
        return {name: float(getattr(self, name)) for name in names}

    def __str__(self) -> str:
        shown = (self.lower, self.median, self.upper)
        return (
            f"quartiles {' / '.join(f'{100 * float(share):.1f}' for share in shown)}, mean {100 * float(self.mean):.1f}"
        )


@dataclass(frozen=True, slots=True)
class FamilyProfile:
    """How accuracy is spread over the families of a condition, in both model states, and how it changed."""

    base: Quartiles
    adapted: Quartiles
    change: Quartiles
    """Of the change of each family, in [-1, 1]; not the change of the quartiles."""
    family_count: int
    never_right: tuple[int, int]
    """Families without a correct draw before and after adaptation."""
    always_right: tuple[int, int]
    """Families with correct draws only, before and after adaptation."""
    method: str = "linear quantiles over families, in whole numbers"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON-ready values."""
        return {
            "base": self.base.to_dict(),
            "adapted": self.adapted.to_dict(),
            "change": self.change.to_dict(),
            "family_count": self.family_count,
            "never_right": list(self.never_right),
            "always_right": list(self.always_right),
            "method": self.method,
        }

    def __str__(self) -> str:
        return f"{self.family_count} families: base {self.base}; adapted {self.adapted} (percent)"


def family_profile(outcomes: Outcomes) -> FamilyProfile:
    """Summarize the families of one condition by quartiles of their accuracy."""
    states = (outcomes.base, outcomes.adapted)
    return FamilyProfile(
        base=_quartiles(outcomes.base, outcomes.draws),
        adapted=_quartiles(outcomes.adapted, outcomes.draws),
        change=_quartiles(outcomes.changes, outcomes.draws),
        family_count=outcomes.family_count,
        never_right=(int((states[0] == 0).sum()), int((states[1] == 0).sum())),
        always_right=(int((states[0] == outcomes.draws).sum()), int((states[1] == outcomes.draws).sum())),
    )


def _quartiles(counts: NDArray[np.int64], draws: int) -> Quartiles:
    ordered = [int(count) for count in np.sort(counts)]
    numbers = []
    for quarter in range(5):
        place, rest = divmod((len(ordered) - 1) * quarter, 4)
        above = ordered[min(place + 1, len(ordered) - 1)]
        numbers.append(Fraction(ordered[place] * (4 - rest) + above * rest, 4 * draws))
    least, lower, median, upper, greatest = numbers
    return Quartiles(least, lower, median, upper, greatest, mean=Fraction(sum(ordered), len(ordered) * draws))
