"""Correct draws of the families of one condition, before and after adaptation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats.errors import EmptyCellError, OutcomeError

__all__ = ["Outcomes"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Outcomes:
    """Correct draws of each family of one condition in both model states.

    Row i of `base` and row i of `adapted` are the same family, so that the two always travel together.
    """

    base: NDArray[np.int64]
    """Correct draws of each family before adaptation, shape (families,)."""
    adapted: NDArray[np.int64]
    """The same families, in the same order, after adaptation."""
    draws: int
    """Draws of each family in each state."""

    def __init__(self, base: ArrayLike, adapted: ArrayLike, draws: int | None = None) -> None:
        """Take counts of shape (families,) with `draws`, or 0/1 matrices of shape (families, draws).

        Raises:
            EmptyCellError: If there is no family or no draw.
            OutcomeError: If the two states differ in shape, a value is no whole number, or a count is outside
                0..draws.
        """
        before, after = _whole_numbers(base, "base"), _whole_numbers(adapted, "adapted")
        if before.shape != after.shape:
            raise OutcomeError(f"base has shape {before.shape} and adapted {after.shape}; pair them family by family")
        if before.ndim == 2:
            draws = _draws_of_matrix(before, after, draws)
            before, after = before.sum(axis=1), after.sum(axis=1)
        if before.ndim != 1 or draws is None:
            raise OutcomeError("outcomes are counts (families,) with `draws`, or 0/1 matrices (families, draws)")
        if before.size == 0 or draws < 1:
            raise EmptyCellError("a condition has no family or no draw; its change is undefined, not zero")
        for name, counts in (("base", before), ("adapted", after)):
            if counts.min() < 0 or counts.max() > draws:
                raise OutcomeError(f"{name} holds a count outside 0..{draws}; check `draws`")
            counts.flags.writeable = False
        object.__setattr__(self, "base", before)
        object.__setattr__(self, "adapted", after)
        object.__setattr__(self, "draws", int(draws))

    @classmethod
    def pooled(cls, *parts: Outcomes) -> Outcomes:
        """Put the families of several conditions, e.g. one per domain, under one another.

        Raises:
            EmptyCellError: If there is no part.
            OutcomeError: If the parts differ in draws; their families would not weigh the same.
        """
        if not parts:
            raise EmptyCellError("no outcomes to pool; pass at least one")
        draw_counts = sorted({part.draws for part in parts})
        if len(draw_counts) > 1:
            raise OutcomeError(f"outcomes with {draw_counts} draws cannot be pooled; bank each with the same number")
        base, adapted = ([getattr(part, state) for part in parts] for state in ("base", "adapted"))
        return cls(np.concatenate(base), np.concatenate(adapted), draw_counts[0])

    @property
    def family_count(self) -> int:
        """Number of families."""
        return int(self.base.size)

    @property
    def changes(self) -> NDArray[np.int64]:
        """Adapted minus base correct draws of each family: whole numbers in -draws..draws."""
        return self.adapted - self.base

    @property
    def base_accuracy(self) -> float:
        """Share of correct draws before adaptation."""
        return int(self.base.sum()) / (self.family_count * self.draws)

    @property
    def adapted_accuracy(self) -> float:
        """Share of correct draws after adaptation."""
        return int(self.adapted.sum()) / (self.family_count * self.draws)

    def to_dict(self) -> dict[str, int]:
        """Return the integer totals."""
        return {
            "family_count": self.family_count,
            "draws": self.draws,
            "base_correct": int(self.base.sum()),
            "adapted_correct": int(self.adapted.sum()),
        }


def _whole_numbers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    if array.dtype.kind not in "biu":
        raise OutcomeError(f"{name} has dtype {array.dtype}; pass whole numbers of correct draws, not shares")
    return array.astype(np.int64)


def _draws_of_matrix(before: NDArray[np.int64], after: NDArray[np.int64], draws: int | None) -> int:
    width = int(before.shape[1])
    if draws not in (None, width):
        raise OutcomeError(f"the matrices have {width} draws a family, but draws={draws}; leave `draws` out")
    if before.size and (min(before.min(), after.min()) < 0 or max(before.max(), after.max()) > 1):
        raise OutcomeError("a matrix of draws holds 0 and 1 only; pass counts as a vector with `draws`")
    return width
