"""Correct draws of the families of one condition, before and after adaptation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats import parameters
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
    ids: tuple[str, ...] | None
    """Names of the families, row by row; needed where other outcomes of the same families are to be joined by name."""

    def __init__(
        self,
        base: ArrayLike,
        adapted: ArrayLike,
        draws: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Take counts of shape (families,) with `draws`, or 0/1 matrices of shape (families, draws).

        Raises:
            EmptyCellError: If there is no family or no draw.
            OutcomeError: If the two states differ in shape, a value is no whole number, a count is outside 0..draws,
                or the ids are not one a family and all different.
        """
        before = parameters.whole_numbers(base, "base", error=OutcomeError)
        after = parameters.whole_numbers(adapted, "adapted", error=OutcomeError)
        if draws is not None:
            draws = parameters.count(draws, "draws", error=OutcomeError)
        if before.shape != after.shape:
            raise OutcomeError(f"base has shape {before.shape} and adapted {after.shape}; pair them family by family")
        if before.ndim == 2:
            draws = _draws_of_matrix(before, after, draws)
            before, after = before.sum(axis=1), after.sum(axis=1)
        if before.ndim != 1 or draws is None:
            raise OutcomeError("outcomes are counts (families,) with `draws`, or 0/1 matrices (families, draws)")
        if before.size == 0 or draws < 1:
            raise EmptyCellError("a condition has no family or no draw; its change is undefined, not zero")
        _require_countable(before.size, draws)
        for name, counts in (("base", before), ("adapted", after)):
            if counts.min() < 0 or counts.max() > draws:
                raise OutcomeError(f"{name} holds a count outside 0..{draws}; check `draws`")
            counts.flags.writeable = False
        object.__setattr__(self, "base", before)
        object.__setattr__(self, "adapted", after)
        object.__setattr__(self, "draws", draws)
        object.__setattr__(self, "ids", None if ids is None else _names(ids, before.size))

    @classmethod
    def from_forms(cls, base: ArrayLike, adapted: ArrayLike, ids: Sequence[str] | None = None) -> Outcomes:
        """Take scores of parents by form, where forms may be missing.

        A parent's accuracy is the mean over the forms that it has, and every parent weighs the same. A parent without
        any form is left out, its id with it: give `ids` if the outcomes are to be joined with others.

        Args:
            base: 0/1 scores of shape (parents, forms) before adaptation; NaN where a form does not exist.
            adapted: The same after adaptation, with the same forms missing.
            ids: One name a parent, including those without a form.

        Raises:
            EmptyCellError: If no parent has a form.
            OutcomeError: If the shapes or the missing forms of the two states differ, a score is not 0, 1 or NaN, the
                ids do not fit, or parents have so many different numbers of forms that 64 bits cannot weigh them.

        Source: CleanScore 7.13, 7.14; METHODS 9.1 and 9.8.
        """
        before = parameters.floats(base, "base scores", error=OutcomeError)
        after = parameters.floats(adapted, "adapted scores", error=OutcomeError)
        if before.shape != after.shape or before.ndim != 2:
            raise OutcomeError(f"scores have shapes {before.shape} and {after.shape}; pass (parents, forms) for both")
        exists = ~np.isnan(before)
        if not np.array_equal(exists, ~np.isnan(after)):
            raise OutcomeError("a form is scored in one model state and missing in the other; blank it in both")
        if not np.isin(np.concatenate((before[exists], after[exists])), (0.0, 1.0)).all():
            raise OutcomeError("a score is not 0, 1 or NaN; pass counts of correct draws to Outcomes() instead")
        form_counts = exists.sum(axis=1)
        kept = form_counts > 0
        draws = math.lcm(*(int(count) for count in np.unique(form_counts[kept])))
        _require_countable(int(kept.sum()), draws)
        names = None if ids is None else tuple(np.asarray(_names(ids, kept.size), object)[kept])
        correct = (np.nansum(scores, axis=1)[kept].astype(np.int64) for scores in (before, after))
        base_counts, adapted_counts = (count * (draws // form_counts[kept]) for count in correct)
        return cls(base_counts, adapted_counts, draws, names)

    @classmethod
    def pooled(cls, *parts: Outcomes) -> Outcomes:
        """Put the families of several conditions, e.g. one per domain, under one another.

        Raises:
            EmptyCellError: If there is no part.
            OutcomeError: If the parts differ in draws (their families would not weigh the same), if only some of them
                have ids, or if two share one.
        """
        if not parts:
            raise EmptyCellError("no outcomes to pool; pass at least one")
        if strangers := [part for part in parts if not isinstance(part, Outcomes)]:
            raise OutcomeError(f"a part is a {type(strangers[0]).__name__}; pass `Outcomes`, one argument each")
        draw_counts = sorted({part.draws for part in parts})
        if len(draw_counts) > 1:
            raise OutcomeError(f"outcomes with {draw_counts} draws cannot be pooled; bank each with the same number")
        base, adapted = ([getattr(part, state) for part in parts] for state in ("base", "adapted"))
        named = [part.ids for part in parts if part.ids is not None]
        if named and len(named) < len(parts):
            raise OutcomeError(f"{len(named)} of {len(parts)} parts have ids; give them to all parts or to none")
        ids = [name for part_ids in named for name in part_ids] if named else None
        return cls(np.concatenate(base), np.concatenate(adapted), draw_counts[0], ids)

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

    def __str__(self) -> str:
        accuracies = f"{100 * self.base_accuracy:.2f} % before adaptation and {100 * self.adapted_accuracy:.2f} % after"
        return f"{self.family_count} families, {self.draws} draws each, correct in {accuracies}"


_DRAWS_OF_ALL_MAX = 2**62
"""All draws of a condition together, so that sums and differences of counts stay inside 64 bits."""


def _require_countable(families: int, draws: int) -> None:
    if families * draws > _DRAWS_OF_ALL_MAX:
        raise OutcomeError(
            f"{families} families with {draws} draws each are more than 64 bits count; if they come from forms, "
            "compare parents with one number of forms"
        )


def _names(ids: Sequence[str], families: int) -> tuple[str, ...]:
    names = parameters.names(ids, "ids", error=OutcomeError)
    if len(names) != families:
        raise OutcomeError(f"{len(names)} ids for {families} families; give one each, in the order of the rows")
    if len(set(names)) < families:
        twice = next(name for name in names if names.count(name) > 1)
        raise OutcomeError(f"family {twice!r} occurs twice; one row holds all draws of a family")
    return names


def _draws_of_matrix(before: NDArray[np.int64], after: NDArray[np.int64], draws: int | None) -> int:
    width = int(before.shape[1])
    if draws not in (None, width):
        raise OutcomeError(f"the matrices have {width} draws a family, but draws={draws}; leave `draws` out")
    if before.size and (min(before.min(), after.min()) < 0 or max(before.max(), after.max()) > 1):
        raise OutcomeError("a matrix of draws holds 0 and 1 only; pass counts as a vector with `draws`")
    return width
