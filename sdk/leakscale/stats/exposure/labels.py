"""Labels that sort the families of two conditions into groups: shapes, truth ranks, strata, clusters."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leakscale.stats.errors import DesignError
from leakscale.stats.exposure.outcomes import Outcomes

__all__ = ["GroupLabels", "Labels", "read_labels"]

Labels = tuple[ArrayLike, ArrayLike]
"""One label a family: those of the C0 families, then those of the C2 families, in the order of the outcomes' rows."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupLabels:
    """The groups that occur, and the group of each family."""

    names: tuple[str, ...]
    """Distinct labels as text, sorted: whole numbers by value, text by code point."""
    c0: NDArray[np.int64]
    """Index into `names` of each C0 family, shape (families,)."""
    c2: NDArray[np.int64]
    """The same of each C2 family."""


def read_labels(labels: Labels, c0: Outcomes, c2: Outcomes, *, argument: str) -> GroupLabels:
    """Match the labels to the families.

    Args:
        labels: Of the C0 families and of the C2 families.
        c0: Outcomes of the no-key control.
        c2: Outcomes under targeted exposure.
        argument: The parameter that the caller gave them as, for the message.

    Raises:
        DesignError: If the labels are neither whole numbers nor text, or not one a family.
    """
    if len(labels) != 2:
        raise DesignError(f"{argument} holds {len(labels)} sequences of labels; pass (labels of c0, labels of c2)")
    columns = [_plain(each) for each in labels]
    for name, column, outcomes in zip(("c0", "c2"), columns, (c0, c2), strict=True):
        if column.dtype.kind not in "iuU":
            raise DesignError(
                f"{argument} of {name} has dtype {column.dtype}; label families with text or whole numbers"
            )
        if column.shape != (outcomes.family_count,):
            raise DesignError(
                f"{argument} of {name} has shape {column.shape} for {outcomes.family_count} families; give one each"
            )
    names, codes = np.unique(np.concatenate(columns), return_inverse=True)
    return GroupLabels(tuple(str(name) for name in names), codes[: c0.family_count], codes[c0.family_count :])


def _plain(labels: ArrayLike) -> NDArray[Any]:
    """Return labels as an array; objects that are all text, or all whole numbers, become such (a table gives these)."""
    if isinstance(labels, np.ma.MaskedArray) and np.ma.getmaskarray(labels).any():
        raise DesignError("a label is masked; every family belongs to a group, so leave out those that do not")
    column = np.asarray(labels)
    if column.dtype.kind != "O":
        return column
    if all(isinstance(label, str) for label in column.flat):
        return column.astype(np.str_)
    if all(isinstance(label, numbers.Integral) and not isinstance(label, bool) for label in column.flat):
        return column.astype(np.int64)
    return column
