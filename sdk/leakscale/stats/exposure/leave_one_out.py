"""The exposure effect without each group in turn: whether one shape, rank or source carries it alone.

Descriptive: it says nothing about sampling and does not replace an interval. In a balanced design of G groups the
effect without group g is (G * effect - effect of g) / (G - 1).

Source: LeakScale E.4 (Table 16); METHODS 10.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leakscale.stats.errors import EmptyCellError
from leakscale.stats.exposure.labels import Labels, read_labels
from leakscale.stats.exposure.outcomes import Outcomes

__all__ = ["LeaveOneGroupOut", "leave_one_group_out"]


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneGroupOut:
    """The effect of all families, and without each group."""

    effect: Fraction
    """Of all families, in [-2, 2], exactly."""
    without: Mapping[str, Fraction]
    """Effect without the named group; in the order of the labels."""
    method: str = "difference in differences of integer totals, each group left out once"

    @property
    def least(self) -> tuple[str, float]:
        """The group without which the effect is smallest, and that effect."""
        name = min(self.without, key=self.without.__getitem__)
        return name, float(self.without[name])

    @property
    def greatest(self) -> tuple[str, float]:
        """The group without which the effect is greatest, and that effect."""
        name = max(self.without, key=self.without.__getitem__)
        return name, float(self.without[name])

    @property
    def keeps_sign(self) -> bool:
        """Tell whether no group turns the sign of the effect, or makes it zero."""
        return all(effect * self.effect > 0 for effect in self.without.values())

    def to_dict(self) -> dict[str, object]:
        """Return the effects as JSON-ready shares."""
        return {
            "effect": float(self.effect),
            "without": {name: float(effect) for name, effect in self.without.items()},
            "least": list(self.least),
            "greatest": list(self.greatest),
            "keeps_sign": self.keeps_sign,
            "method": self.method,
        }

    def __str__(self) -> str:
        (low_name, low), (high_name, high) = self.least, self.greatest
        return (
            f"without one of {len(self.without)} groups the effect of {100 * float(self.effect):+.2f} points is "
            f"{100 * low:+.2f} (without {low_name}) to {100 * high:+.2f} (without {high_name})"
        )


def leave_one_group_out(c0: Outcomes, c2: Outcomes, groups: Labels) -> LeaveOneGroupOut:
    """Compute the effect without each group.

    Args:
        c0: Outcomes of the no-key control.
        c2: Outcomes under targeted exposure.
        groups: Labels of the C0 families and of the C2 families, e.g. their shapes. A group may have families of one
            condition only.

    Raises:
        DesignError: If the labels do not fit the families.
        EmptyCellError: If a condition has families of one group only, so that nothing is left without it.
    """
    labels = read_labels(groups, c0, c2, argument="groups")
    sums, counts = [], []
    for outcomes, codes in ((c0, labels.c0), (c2, labels.c2)):
        change = np.zeros(len(labels.names), np.int64)
        np.add.at(change, codes, outcomes.changes)
        sums.append(change)
        counts.append(np.bincount(codes, minlength=len(labels.names)))
    for name, outcomes, count in zip(("c0", "c2"), (c0, c2), counts, strict=True):
        if (count == outcomes.family_count).any():
            raise EmptyCellError(f"all families of {name} are in one group; without it nothing is left")

    def effect(change0: int, families0: int, change2: int, families2: int) -> Fraction:
        return Fraction(change2, families2 * c2.draws) - Fraction(change0, families0 * c0.draws)

    totals = int(sums[0].sum()), c0.family_count, int(sums[1].sum()), c2.family_count
    parts = zip(labels.names, sums[0], counts[0], sums[1], counts[1], strict=True)
    without = {
        name: effect(*(total - int(part) for total, part in zip(totals, own, strict=True))) for name, *own in parts
    }
    return LeaveOneGroupOut(effect(*totals), without)
