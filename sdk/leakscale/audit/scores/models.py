"""What a score measures, where it was read, and which form each column of a table is.

Source: METHODS 0 (scores in [0, 1]), 6.2 (confidence of the same forms).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leakscale.audit.forms.models import FormKind

__all__ = ["ScoreKind", "ScoreSource", "form_columns"]


class ScoreKind(StrEnum):
    """What a score measures, and so its range."""

    CORRECT = "correct"
    """0 wrong, 1 right."""
    GRADED = "graded"
    """Share of full marks, 0 to 1; also the mean over repeated answers."""
    CONFIDENCE = "confidence"
    """Mean log-probability a token of what the model answered, at most 0."""
    FAMILIARITY = "familiarity"
    """Mean log-probability a token of the form itself, at most 0: minus the logarithm of its perplexity."""
    MIN_K = "min-k"
    """The same over the least probable fifth of its tokens: the Min-K % statistic."""

    @property
    def is_signal(self) -> bool:
        """Tell whether it is for detectors, and never for a gap in accuracy."""
        return self in {ScoreKind.CONFIDENCE, ScoreKind.FAMILIARITY, ScoreKind.MIN_K}

    def allows(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which scores are in range; a missing one (NaN) always is."""
        if self is ScoreKind.CORRECT:
            in_range = (scores == 0) | (scores == 1)
        elif self is ScoreKind.GRADED:
            in_range = (scores >= 0) & (scores <= 1)
        else:
            in_range = (scores <= 0) & np.isfinite(scores)
        return np.asarray(in_range | np.isnan(scores))


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """A file that scores were read from."""

    name: str
    """File name without its folder: where a file lies on one machine says nothing on another."""
    sha256: str

    @classmethod
    def of(cls, path: Path) -> ScoreSource:
        """Name and hash a file."""
        with path.open("rb") as file:
            return cls(path.name, hashlib.file_digest(file, "sha256").hexdigest())


def form_columns(fresh_count: int, deep_count: int) -> Iterator[tuple[FormKind, int]]:
    """Yield kind and number of the form in each column of a table."""
    yield FormKind.ORIGINAL, 0
    for kind, count in ((FormKind.FRESH, fresh_count), (FormKind.DEEP, deep_count)):
        for number in range(1, count + 1):
            yield kind, number
