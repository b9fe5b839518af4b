"""Which items carry the gap: clusters of models that fail alike, and forms that nearly copy their original.

Source: CleanScore 7.7, Tables 8 and 9; METHODS 7.1 and 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.panel import ModelScores, Panel
from leakscale.audit.scores import ScoreKind
from leakscale.stats import (
    EmptySampleError,
    EnumerationError,
    NearCopies,
    cooccurrence_test,
    drop_and_recompute,
    pooled_depth_correlation,
)
from leakscale.tables import NUMBER, Table

__all__ = ["clustering", "near_copies"]

_PATTERNS: Final = {"fault": "public right, every fresh wrong", "mirror": "public wrong, every fresh right"}
_MODELS_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class ClusteringRow:
    """Parents on which two or more models show one pattern."""

    pattern: str
    parents: int
    observed: int
    expected: float = field(metadata=NUMBER)
    """Under a null that keeps how often each model shows the pattern."""
    p: float = field(metadata=NUMBER)
    """One-sided, exact."""
    parent_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearCopyRow:
    """The gap of one model with and without near-copied parents."""

    model: str
    parents: int
    dropped: int
    gap_of_all: float
    gap_without: float
    shift: float


def clustering(panel: Panel) -> Table[ClusteringRow]:
    """Table 8: whether models fail on the same fresh forms, which a bad rewrite would make them do."""
    if len(panel.models) < _MODELS_LEAST:
        return heads.CLUSTERING.withheld("it compares models, and only one was scored")
    if any(model.audit.kind is not ScoreKind.CORRECT for model in panel):
        return heads.CLUSTERING.withheld("it counts right and wrong answers, and some scores are graded")
    correct = np.stack([model.audit.exchangeable for model in panel])
    ids = panel.models[0].audit.parent_ids
    rows = []
    for pattern, words in _PATTERNS.items():
        try:
            found = cooccurrence_test(correct, pattern=pattern)
        except (EmptySampleError, EnumerationError) as error:
            return heads.CLUSTERING.withheld(str(error))
        parents = tuple(ids[row] for row in found.parents)
        rows.append(ClusteringRow(words, found.parent_count, found.observed, found.expected, found.p_value, parents))
    return heads.CLUSTERING.filled(rows, "Read the fresh forms of the parents named in the CSV file.")


def near_copies(panel: Panel) -> Table[NearCopyRow]:
    """Table 9: the gap once parents with a near-copy are dropped; copies pull a gap to zero."""
    copies = panel.near_copies
    if copies is None:
        return heads.NEAR_COPIES.withheld("the texts of the forms are not at hand; pass the bank that was scored")
    if copies.flagged.all():
        return heads.NEAR_COPIES.withheld(
            f"every parent has a fresh form with similarity {copies.threshold:g} or more; rewrite the forms"
        )
    rows = [_near_copy_row(model, copies) for model in panel]
    pooled = pooled_depth_correlation(copies.similarities, np.stack([model.audit.exchangeable for model in panel]))
    note = f"{copies}. " + (
        f"Similarity and gap correlate by {pooled.r:+.3f} over all models."
        if pooled.r is not None
        else "Similarity or gap does not vary."
    )
    return heads.NEAR_COPIES.filled(rows, note)


def _near_copy_row(model: ModelScores, copies: NearCopies) -> NearCopyRow:
    found = drop_and_recompute(model.audit.exchangeable, copies.flagged)
    return NearCopyRow(
        model.name, found.parent_count, found.dropped_count, found.gap_of_all, found.gap_without, found.shift
    )
