"""Scores that a test plants: models that answer three forms of a parent with a known advantage of the original."""

from __future__ import annotations

import numpy as np

from leakscale.audit.scores import ScoreKind, ScoreTable

__all__ = ["confidences", "scores"]


def scores(
    model: str, parents: int, *, planted: float = 0.0, seed: int = 0, prefix: str = "p", state: str = "base"
) -> ScoreTable:
    """Return right and wrong answers; a planted share of originals is right whatever the fresh forms are."""
    rng = np.random.Generator(np.random.PCG64(seed))
    right = (rng.random((parents, 1)) < 0.6) ^ (rng.random((parents, 3)) < 0.05)
    right[:, 0] |= rng.random(parents) < planted
    return _table(model, ScoreKind.CORRECT, right.astype(np.float64), prefix, state)


def confidences(
    model: str, parents: int, *, shift: float = 0.0, seed: int = 0, kind: ScoreKind = ScoreKind.CONFIDENCE
) -> ScoreTable:
    """Return mean log-probabilities a token; the originals' are higher by `shift` on average."""
    rng = np.random.Generator(np.random.PCG64(seed))
    values = -1.5 - rng.random((parents, 3))
    values[:, 0] += shift
    return _table(model, kind, values, "p", "base")


def _table(model: str, kind: ScoreKind, values: np.ndarray, prefix: str, state: str) -> ScoreTable:
    return ScoreTable(
        model=model,
        kind=kind,
        metric="numeric" if kind is ScoreKind.CORRECT else "log-probability",
        parent_ids=tuple(f"{prefix}{number}" for number in range(len(values))),
        scores=values,
        fresh_count=2,
        state=state,
    )
