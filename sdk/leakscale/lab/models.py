"""Simulated answers of models that were exposed to nothing, for the relabelling test and the odds ratio."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["ACCURACY", "MODELS", "answers", "answers_with_odds_ratio"]

ACCURACY: Final = 0.7
"""Accuracy of the simulated models on public forms."""
MODELS: Final = ("alike", "unequal")
"""Parents `alike`: each is answered with the same chance. `unequal`: their logits spread with standard deviation 2."""

_SPREAD: Final = {"alike": 0.0, "unequal": 2.0}
_QUADRATURE = np.polynomial.hermite_e.hermegauss(64)


def answers(model: str, parents: int, penalty: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Answer an original and two fresh forms of each parent; fresh forms are harder by `penalty` on average.

    Returns:
        Whether each answer is right, shape (parents, 3), column 0 the original.
    """
    public = _logit_for(ACCURACY, _SPREAD[model])
    fresh = _logit_for(ACCURACY - penalty, _SPREAD[model])
    return _answered(public, fresh, model, parents, rng)


def answers_with_odds_ratio(model: str, parents: int, odds_ratio: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Answer forms of which the public one has `odds_ratio` times the odds of a fresh form of the same parent."""
    public = _logit_for(ACCURACY, _SPREAD[model])
    return _answered(public, public - float(np.log(odds_ratio)), model, parents, rng)


def _answered(public: float, fresh: float, model: str, parents: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    ease = _SPREAD[model] * rng.standard_normal((parents, 1))
    chances = expit(ease + np.array([public, fresh, fresh]))
    right: NDArray[np.bool_] = rng.random((parents, 3)) < chances
    return right


def _logit_for(accuracy: float, spread: float) -> float:
    """Return the mean logit at which parents whose logits spread normally are answered with this mean accuracy."""
    nodes, weights = _QUADRATURE
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        if float(weights @ expit(middle + spread * nodes)) / float(weights.sum()) < accuracy:
            low = middle
        else:
            high = middle
    return (low + high) / 2
