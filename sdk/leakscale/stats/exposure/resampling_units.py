"""What a resample draws: families, families within strata, or clusters with all their families.

A unit is a row of whole numbers (change in C0, families in C0, change in C2, families in C2), so that a family of one
condition and a cluster with families of both are the same kind of thing. Units are drawn from their own group only.

Source: LeakScale E.1 (families, C0 and C2 apart); METHODS 13.5 (shapes as clusters).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.errors import DesignError
from leakscale.stats.exposure.labels import Labels, read_labels
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.intervals import IntervalState
from leakscale.stats.wide_integers import largest, whole_total, widened

__all__ = ["Quantity", "ResamplingUnits", "resampling_units"]


class Quantity(enum.Enum):
    """What is estimated, by the signs of the C0 change and of the C2 change in it."""

    EFFECT = (-1, 1)
    C0_DRIFT = (1, 0)
    C2_CHANGE = (0, 1)

    @property
    def limit(self) -> float:
        """Greatest absolute value that the quantity can take."""
        return float(sum(abs(sign) for sign in self.value))


@dataclass(frozen=True, slots=True, eq=False)
class ResamplingUnits:
    """The units of one estimate in their groups, and what the estimate is to first order in each of them."""

    groups: tuple[NDArray[np.int64], ...]
    """Rows of shape (units, 4), one array a group; C0 before C2 where the conditions are drawn apart."""
    draws: tuple[int, int]
    """Draws of a family in C0 and in C2."""
    is_clustered: bool
    is_joint: bool
    """Whether a unit holds families of both conditions, which are then drawn together."""
    is_stratified: bool

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """Change and families of C0, change and families of C2, over all units."""
        change0, families0, change2, families2 = (whole_total(column) for column in np.concatenate(self.groups).T)
        return change0, families0, change2, families2

    @property
    def has_fixed_sizes(self) -> bool:
        """Tell whether every resample holds as many families of each condition as the data do."""
        return all(np.ptp(group[:, (1, 3)], axis=0).max() == 0 for group in self.groups)

    def weights(self, quantity: Quantity) -> tuple[int, int, int]:
        """Return w0, w2 and m such that the quantity is (w0 * change in C0 + w2 * change in C2) / m, exactly."""
        (sign0, sign2), (_, families0, _, families2) = quantity.value, self.totals
        size0, size2 = families0 * self.draws[0], families2 * self.draws[1]
        m = math.lcm(*(size for sign, size in ((sign0, size0), (sign2, size2)) if sign))
        return (sign0 * (m // size0) if sign0 else 0), (sign2 * (m // size2) if sign2 else 0), m

    def weighted(self, quantity: Quantity, change0: NDArray[Any], change2: NDArray[Any]) -> NDArray[Any]:
        """Return w0 * change0 + w2 * change2 of many totals, exactly, whatever the weights."""
        w0, w2, _ = self.weights(quantity)
        reach = abs(w0) * (largest(change0) + 1) + abs(w2) * (largest(change2) + 1)
        return np.asarray(w0 * widened(change0, reach) + w2 * widened(change2, reach))

    def numerator(self, quantity: Quantity) -> int:
        """Return the whole number that, over the m of `weights`, is the estimate."""
        w0, w2, _ = self.weights(quantity)
        change0, _, change2, _ = self.totals
        return w0 * change0 + w2 * change2

    def estimate(self, quantity: Quantity) -> float:
        """Return the estimate as a share, rounded once."""
        return self.numerator(quantity) / self.weights(quantity)[2]

    def contributions(self, quantity: Quantity) -> tuple[tuple[NDArray[Any], ...], int]:
        """Return how much each unit moves the quantity to first order, as whole numerators and their denominator.

        Numerators are given up to a constant in each group. With fixed sizes the first order is everything, and their
        total over a resample is the quantity itself; otherwise it is a ratio, linearized at the data.
        """
        if self.has_fixed_sizes:
            _, _, m = self.weights(quantity)
            return tuple(self.weighted(quantity, group[:, 0], group[:, 2]) for group in self.groups), m
        (sign0, sign2), (change0, families0, change2, families2) = quantity.value, self.totals
        scale0, scale2 = families0**2 * self.draws[0], families2**2 * self.draws[1]
        parts = []
        for group in self.groups:
            y0, m0, y2, m2 = group.astype(object).T
            of_c0, of_c2 = y0 * families0 - change0 * m0, y2 * families2 - change2 * m2
            parts.append(sign0 * scale2 * of_c0 + sign2 * scale0 * of_c2)
        return tuple(parts), scale0 * scale2

    def deviations(self, quantity: Quantity) -> tuple[NDArray[np.float64], ...]:
        """Return the contributions less the mean of their group, as shares: shape (units,), one array a group."""
        parts, denominator = self.contributions(quantity)
        shares = [(widened(part, denominator) / denominator).astype(np.float64) for part in parts]
        return tuple(part - part.mean() for part in shares)

    def state(self, quantity: Quantity) -> IntervalState:
        """Tell whether the units of the quantity vary at all, and if not, why."""
        signs = quantity.value
        involved = [group for group in self.groups if any(sign and group[0, 2 * i + 1] for i, sign in enumerate(signs))]
        if min(group.shape[0] for group in involved) == 1:
            if self.is_stratified:
                return IntervalState.SINGLE_IN_STRATUM
            return IntervalState.SINGLE_CLUSTER if self.is_clustered else IntervalState.SINGLE_FAMILY
        parts, _ = self.contributions(quantity)
        varies = any(part.max() != part.min() for part in parts)
        return IntervalState.ESTIMATED if varies else IntervalState.CONSTANT

    def __str__(self) -> str:
        counts = [group.shape[0] for group in self.groups]
        unit = "clusters" if self.is_clustered else "families"
        within = " within strata" if self.is_stratified else ""
        if self.is_joint:
            return f"{sum(counts)} {unit} of both conditions{within}"
        of_c0 = sum(count for count, group in zip(counts, self.groups, strict=True) if group[0, 1])
        return f"{of_c0} + {sum(counts) - of_c0} {unit}{within}"


def resampling_units(c0: Outcomes, c2: Outcomes, strata: Labels | None, cluster: Labels | None) -> ResamplingUnits:
    """Sort the families into units and the units into groups.

    Clusters that have families of both conditions, e.g. shapes, are drawn once for both; clusters of one condition
    only are drawn apart. A cluster is named by its stratum and its label, so that labels may repeat across strata.

    Raises:
        DesignError: If the labels do not fit, or some clusters have families of both conditions and others do not.
    """
    n0, n2 = c0.family_count, c2.family_count
    stratum = np.zeros(n0 + n2, np.int64)
    if strata is not None:
        read = read_labels(strata, c0, c2, argument="strata")
        stratum = np.concatenate((read.c0, read.c2))
    unit = np.arange(n0 + n2)
    if cluster is not None:
        read = read_labels(cluster, c0, c2, argument="cluster")
        _, unit = np.unique(stratum * len(read.names) + np.concatenate((read.c0, read.c2)), return_inverse=True)
    rows = np.zeros((int(unit.max()) + 1, 4), np.int64)
    for outcomes, members, column in ((c0, unit[:n0], 0), (c2, unit[n0:], 2)):
        np.add.at(rows[:, column], members, outcomes.changes)
        np.add.at(rows[:, column + 1], members, 1)
    in_both = (rows[:, 1] > 0) & (rows[:, 3] > 0)
    if in_both.any() and not in_both.all():
        raise DesignError(
            f"{in_both.sum()} of {in_both.size} clusters have families of both conditions and the others do not; "
            "label so that all have, or none"
        )
    stratum_of_unit = np.zeros(rows.shape[0], np.int64)
    stratum_of_unit[unit] = stratum
    key = (rows[:, 1] == 0) * (int(stratum.max()) + 1) + stratum_of_unit
    groups = tuple(_sorted(rows[key == each]) for each in np.unique(key))
    return ResamplingUnits(groups, (c0.draws, c2.draws), cluster is not None, bool(in_both.all()), strata is not None)


def _sorted(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order the units by what they hold, so that no result depends on the order of the families."""
    return rows[np.lexsort(rows.T[::-1])]
