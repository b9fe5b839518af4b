"""What a score measures, where it was read, and which form each column of a table is.

Source: METHODS 0 (scores in [0, 1]), 6.2 (confidence of the same forms).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leakscale.audit.forms.models import FormKind
from leakscale.errors import InvalidRequestError

__all__ = ["ScoreKind", "ScoreSource", "form_columns", "require_state"]

_STATE: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,125}[A-Za-z0-9])?")


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

    @property
    def range_words(self) -> str:
        """What a score may be, for messages."""
        if self is ScoreKind.CORRECT:
            return "0 or 1"
        return "0 to 1" if self is ScoreKind.GRADED else "at most 0"

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


def require_state(state: str) -> None:
    """Refuse what cannot name a state of a model: files are named after it.

    Raises:
        InvalidRequestError: If it is not 1 to 127 of letters, digits, `-` and `_`, or begins or ends with a sign.
    """
    if not _STATE.fullmatch(state):
        raise InvalidRequestError(
            f"state {state!r} names no state of a model; use letters, digits, - and _, e.g. base, adapted-seed-3"
        )


def form_columns(fresh_count: int, deep_count: int) -> Iterator[tuple[FormKind, int]]:
    """Yield kind and number of the form in each column of a table."""
    yield FormKind.ORIGINAL, 0
    for kind, count in ((FormKind.FRESH, fresh_count), (FormKind.DEEP, deep_count)):
        for number in range(1, count + 1):
            yield kind, number
