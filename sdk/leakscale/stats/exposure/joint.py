"""Changes of the same families in several outcomes: two models, public and fresh forms, four studies.

What is measured on one family is not independent, so a resample draws a family once, with everything that was measured
on it. Resampled apart, the difference between two models would look up to several times less certain than it is.

Source: METHODS 9.3, 9.4 (parents jointly over forms and studies), 9.8 (missing forms), 10.8 (families over models).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.errors import PairingError
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.resampling import resampled_rows
from leakscale.stats.wide_integers import whole_total

__all__ = ["JointChanges", "joint_changes"]


@dataclass(frozen=True, slots=True, eq=False)
class JointChanges:
    """What the families of one condition changed by in each of several outcomes."""

    changes: NDArray[np.int64]
    """Adapted minus base correct draws, shape (families, outcomes); 0 where a family is missing."""
    present: NDArray[np.bool_]
    """Whether the outcome holds the family, shape (families, outcomes)."""
    draws: tuple[int, ...]
    """Draws of a family in each outcome."""

    @property
    def is_complete(self) -> bool:
        """Tell whether every outcome holds every family."""
        return bool(self.present.all())

    @property
    def family_counts(self) -> tuple[int, ...]:
        """Number of families in each outcome."""
        return tuple(int(count) for count in self.present.sum(axis=0))

    @property
    def means(self) -> tuple[Fraction, ...]:
        """Mean change of accuracy in each outcome, exactly."""
        totals = [whole_total(column) for column in self.changes.T]
        sizes = zip(self.family_counts, self.draws, strict=True)
        return tuple(Fraction(total, count * draws) for total, (count, draws) in zip(totals, sizes, strict=True))

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the mean changes, shape (outcomes, outcomes); zero where an outcome holds one family.

        An outcome without missing families has the textbook variance s^2 / n on the diagonal.
        """
        counts, draws = np.array(self.family_counts), np.array(self.draws)
        means = np.array([float(mean) for mean in self.means])
        parts = self.present * (self.changes / draws - means) / counts
        corrections = np.sqrt(counts / np.maximum(counts - 1, 1))
        return np.asarray((parts.T @ parts) * np.outer(corrections, corrections))

    def resampled_means(self, n_resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw the families `n_resamples` times and return the mean changes, shape (resamples, outcomes).

        A resample in which an outcome has no family at all keeps that outcome's mean at 0; with n families of which m
        are missing this has probability (m / n)^n.
        """
        width = len(self.draws)
        if self.is_complete:
            totals = resampled_rows(self.changes, n_resamples, rng)
            return np.asarray(totals / (self.changes.shape[0] * np.array(self.draws)), np.float64)
        totals = resampled_rows(np.hstack((self.changes, self.present.astype(np.int64))), n_resamples, rng)
        return np.asarray(totals[:, :width] / (np.maximum(totals[:, width:], 1) * np.array(self.draws)), np.float64)

    def contributions(self, weights: Sequence[Fraction]) -> tuple[NDArray[Any], int]:
        """Return how much each family moves the weighted sum of means, as whole numerators and their denominator.

        Without missing families the numerators add up to the weighted sum. With missing ones it is linearized, and
        they add up to zero; their variation is the variance of the weighted sum either way.
        """
        counts = self.family_counts
        power = 1 if self.is_complete else 2
        shares = [w / (n**power * s) for w, n, s in zip(weights, counts, self.draws, strict=True)]
        m = math.lcm(*(share.denominator for share in shares))
        factors = np.array([int(share * m) for share in shares], object)
        changes = self.changes.astype(object)
        if not self.is_complete:
            changes = self.present * (changes * np.array(counts, object) - changes.sum(axis=0))
        return changes @ factors, m


def joint_changes(
    outcomes: Sequence[Outcomes], *, subject: str, is_complete: bool = False, may_be_apart: bool = False
) -> JointChanges:
    """Match the families of several outcomes of one condition.

    Outcomes with ids are matched by id and may lack families that others have. Outcomes without ids are matched row by
    row.

    Args:
        outcomes: At least one, all of the same condition.
        subject: What they are, for the message, e.g. `C0 of 'sql'`.
        is_complete: Whether all must hold the same families.
        may_be_apart: Whether two may have no family in common; they are then independent of one another.

    Raises:
        PairingError: If only some have ids, if they differ in families where that is not allowed, or if two have no
            family in common where that is not allowed.
    """
    named = [one.ids for one in outcomes if one.ids is not None]
    if named and len(named) < len(outcomes):
        raise PairingError(
            f"{subject}: only {len(named)} of {len(outcomes)} outcomes have ids; give ids to all or none"
        )
    rows = _rows_by_id(named) if named else _rows_in_order(outcomes, subject)
    present = np.stack([row >= 0 for row in rows], axis=1)
    if is_complete and not present.all():
        raise PairingError(f"{subject}: outcomes hold different families; every model answers the same ones")
    if not may_be_apart and ((present.T.astype(np.int64) @ present) == 0).any():
        raise PairingError(f"{subject}: two outcomes have no family in common; they cannot be resampled jointly")
    changes = np.stack(
        [np.where(row >= 0, one.changes[row], 0) for row, one in zip(rows, outcomes, strict=True)], axis=1
    )
    return JointChanges(changes, present, tuple(one.draws for one in outcomes))


def _rows_by_id(named: Sequence[tuple[str, ...]]) -> list[NDArray[np.int64]]:
    """Return the row of every id in each outcome, -1 where it has none; ids are in sorted order."""
    ids = sorted(set().union(*named))
    places = [{name: row for row, name in enumerate(names)} for names in named]
    return [np.array([place.get(name, -1) for name in ids], np.int64) for place in places]


def _rows_in_order(outcomes: Sequence[Outcomes], subject: str) -> list[NDArray[np.int64]]:
    counts = sorted({one.family_count for one in outcomes})
    if len(counts) > 1:
        raise PairingError(f"{subject}: outcomes have {counts} families and no ids; give ids to match them by name")
    return [np.arange(counts[0]) for _ in outcomes]
