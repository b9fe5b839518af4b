"""Finite populations of gaps that the laboratories sample from.

A shape is a share of the population at each gap value; a frame of N parents holds whole numbers of parents that add up
to N. All values lie on the lattice of two fresh forms: -1, -1/2, 0, 1/2, 1.

Source: METHODS 4.3 and 13. The papers give no exact laws. `sparse` and `two-point` are recovered from exact coverages
and width ratios they print; the others have the variances that the papers' width ratios imply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["EXTENDED_SHAPES", "PAPER_SHAPES", "frame", "frame_counts", "nonzero_share"]

_VALUES: Final = (-1.0, -0.5, 0.0, 0.5, 1.0)


def nonzero_share(share: float) -> tuple[float, ...]:
    """Return the law of a model that has seen nothing, answers `share` of parents unevenly, and has K = 2 fresh forms.

    Where one of three exchangeable forms is right, the gap is +1 (the original is it) or -1/2; where two are, +1/2 or
    -1. Both kinds are equally frequent, so the mean is 0 and the variance is share / 2.
    """
    return (share / 6, share / 3, 1 - share, share / 3, share / 6)


PAPER_SHAPES: Final[Mapping[str, tuple[float, ...]]] = {
    "sparse": (0.02, 0, 0.90, 0, 0.08),
    "near-null": (0.05, 0, 0.90, 0, 0.05),
    "two-point": (0.45, 0, 0, 0, 0.55),
    "low-variance": (0, 0.09, 0.81, 0.10, 0),
    "balanced": (0.12, 0.10, 0.56, 0.10, 0.12),
    "right-skewed": (0, 0.20, 0.61, 0.075, 0.115),
}
"""The six shapes of the papers' stress design: shares at -1, -1/2, 0, 1/2, 1."""

EXTENDED_SHAPES: Final[Mapping[str, tuple[float, ...]]] = {
    "sparse": PAPER_SHAPES["sparse"],
    "near-null": PAPER_SHAPES["near-null"],
    "15 % nonzero": nonzero_share(0.15),
    "8 % nonzero": nonzero_share(0.08),
    "60 % nonzero": nonzero_share(0.60),
    "two-point": PAPER_SHAPES["two-point"],
    "low-variance": PAPER_SHAPES["low-variance"],
    "right-skewed": PAPER_SHAPES["right-skewed"],
}
"""The eight shapes at the size of a real benchmark."""


def frame_counts(shape: tuple[float, ...], size: int) -> dict[float, int]:
    """Return how many of `size` parents have each gap value; zero takes what rounding leaves.

    A shape without zeros gives the remainder to its last value.
    """
    counts = {value: round(share * size) for value, share in zip(_VALUES, shape, strict=True) if share > 0}
    rest = 0.0 if 0.0 in counts else max(counts)
    counts[rest] += size - sum(counts.values())
    return counts


def frame(shape: tuple[float, ...], size: int) -> NDArray[np.float64]:
    """Return the gaps of a frame, shape (size,), ascending."""
    counts = frame_counts(shape, size)
    return np.repeat(np.array(sorted(counts)), [counts[value] for value in sorted(counts)])
