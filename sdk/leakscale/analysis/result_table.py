"""The results of an experiment as columns: one row a draw, or one row a family with its counts.

| column | holds |
|---|---|
| `model`, `domain`, `shape`, `condition`, `family`, `ring`, `state` | text |
| `truth_rank` | place of the correct value among the sorted candidates, 0 to 3; left out where nobody knows it |
| `display_position` | place of the correct candidate in the prompt, 0 to 3 |
| `draw` | 0-based sample index; left out where a row holds the counts of several draws |
| `draw_count` | draws that the row holds; 1 if left out |
| `correct`, `valid` | of these draws, how many passed every fixture, and how many were one of the four strings |
| `strength` | factor of the adapter, 0 in the base state; left out where there is one strength |
| `probability` | of the correct candidate, where the engine read it exactly; left out otherwise |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leakscale.errors import InvalidRequestError
from leakscale.models import Condition, Domain, ModelState, Ring

__all__ = ["OPTIONAL_COLUMNS", "TEXT_COLUMNS", "WHOLE_COLUMNS", "LabelColumn", "ResultTable"]

TEXT_COLUMNS: Final = ("model", "domain", "shape", "condition", "family", "ring", "state")
WHOLE_COLUMNS: Final = ("truth_rank", "display_position", "draw", "draw_count", "correct", "valid")
OPTIONAL_COLUMNS: Final = ("truth_rank", "draw", "draw_count", "strength", "probability")

_LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "domain": tuple(each.value for each in Domain),
    "condition": tuple(each.value for each in Condition),
    "ring": tuple(each.value for each in Ring),
    "state": tuple(each.value for each in ModelState),
}
"""What these columns may hold, in the order in which tables list it."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """A column of text, each distinct text stored once."""

    codes: NDArray[np.int64]
    """Index into `names` of each row, shape (rows,)."""
    names: tuple[str, ...]
    """Distinct texts: in the order of their enumeration for domain, condition, ring and state, sorted otherwise."""

    @classmethod
    def of(cls, column: str, codes: NDArray[Any], names: tuple[str, ...]) -> LabelColumn:
        """Order the names, which may be in any order, occur twice, or not occur in any row.

        Raises:
            InvalidRequestError: If a name is none that the column may hold.
        """
        used = np.bincount(codes, minlength=len(names)) > 0
        kept = {name for name, is_used in zip(names, used, strict=True) if is_used}
        allowed = _LABELS.get(column, tuple(sorted(kept)))
        if strange := sorted(kept - set(allowed)):
            raise InvalidRequestError(
                f"results: {column} {strange[0]!r} is not one of {', '.join(allowed)}; correct it"
            )
        ordered = tuple(name for name in allowed if name in kept)
        place = {name: index for index, name in enumerate(ordered)}
        return cls(np.array([place.get(name, 0) for name in names], np.int64)[codes], ordered)

    @classmethod
    def of_texts(cls, column: str, texts: Any) -> LabelColumn:
        """Encode one text a row."""
        names, codes = np.unique(np.asarray(texts, np.str_), return_inverse=True)
        return cls.of(column, codes, tuple(str(name) for name in names))

    @property
    def texts(self) -> list[str]:
        """One text a row."""
        return [self.names[code] for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class ResultTable:
    """All results of an experiment, over its models, rings, states and strengths.

    Raises:
        InvalidRequestError: If columns differ in length, or a value is out of its range; the message names both.
    """

    model: LabelColumn
    domain: LabelColumn
    shape: LabelColumn
    condition: LabelColumn
    family: LabelColumn
    ring: LabelColumn
    state: LabelColumn
    display_position: NDArray[np.int64]
    correct: NDArray[np.int64]
    valid: NDArray[np.int64]
    draw_count: NDArray[np.int64]
    truth_rank: NDArray[np.int64] | None = None
    draw: NDArray[np.int64] | None = None
    strength: NDArray[np.float64] | None = None
    probability: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        lengths = {name: column.size for name, column in self._arrays().items()}
        if len(set(lengths.values())) > 1:
            raise InvalidRequestError(f"results: columns differ in length, {lengths}; give every row every column")
        if not self.row_count:
            raise InvalidRequestError("results: there is no row; nothing was measured, so nothing can be analyzed")
        _require("display_position", self.display_position, 0, 3)
        if self.truth_rank is not None:
            _require("truth_rank", self.truth_rank, 0, 3)
        _require("draw_count", self.draw_count, 1, 1 << 40)
        for name in ("correct", "valid"):
            _require(name, getattr(self, name), 0, self.draw_count)
        _require("correct", self.correct, 0, self.valid, rule="more than the valid draws of its row")
        if self.draw is not None:
            _require("draw", self.draw, 0, 1 << 40)
            _require("draw_count", self.draw_count, 1, 1)
        if self.probability is not None:
            _require("probability", self.probability, 0.0, 1.0)
        if self.strength is not None:
            _require("strength", self.strength, 0.0, 1e6)

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return int(self.correct.size)

    @property
    def draw_total(self) -> int:
        """Number of draws in all rows."""
        return int(self.draw_count.sum())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: column.codes if isinstance(column, LabelColumn) else column
            for name, column in columns.items()
            if column is not None
        }


def _require(
    name: str,
    values: NDArray[Any],
    low: float,
    high: float | NDArray[np.int64],
    *,
    rule: str | None = None,
) -> None:
    # Negated, so that NaN is out of range too.
    outside = ~((values >= low) & (values <= high))
    if outside.any():
        row = int(np.argmax(outside))
        limit = high if isinstance(high, (int, float)) else int(high[row])
        raise InvalidRequestError(
            f"results: {name} of row {row} is {values[row]}, {rule or f'outside {low:g} to {limit:g}'}; correct it"
        )
