"""Three learners that guess which candidate is right: small, deterministic, and of three different kinds.

Each is trained on families with their truth and then guesses for families that it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array
from scipy.special import logsumexp

from leakscale_server.catalog_audit.features import Rows
from leakscale_server.core.format.candidates import CANDIDATE_COUNT

__all__ = ["ATTACKERS", "Attacker"]

Indices: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Attacker: TypeAlias = Callable[[Rows, Indices, Indices, Indices], Indices]
"""Features, truths of all families, and indices of those to learn from and of those to guess → guessed positions."""

_PENALTY: Final = 1.0
"""Weight of the squared coefficients, against one log-likelihood a family."""
_STEPS_MAX: Final = 60
_NEIGHBORS: Final = 25
_SMOOTHING: Final = 4.0


def choose_by_logistic(rows: Rows, truths: Indices, known: Indices, asked: Indices) -> Indices:
    """Fit a multinomial logistic model over the four candidates of a family, with one weight a feature.

    The likelihood is that of McFadden's conditional logit, with a ridge penalty.
    """
    shown = _of(rows.relations, known)
    right = shown[np.arange(len(known)) * CANDIDATE_COUNT + truths[known]].sum(axis=0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = (shown @ weights).reshape(-1, CANDIDATE_COUNT)
        norms = logsumexp(scores, axis=1, keepdims=True)
        value = norms.sum() - right @ weights + _PENALTY / 2 * weights @ weights
        return float(value), shown.T @ np.exp(scores - norms).ravel() - right + _PENALTY * weights

    fitted = minimize(loss, np.zeros(shown.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS_MAX})
    return _best(_of(rows.relations, asked) @ fitted.x)


def choose_by_bayes(rows: Rows, truths: Indices, known: Indices, asked: Indices) -> Indices:
    """Weigh each feature by how much more often right candidates have it than wrong ones (naive Bayes)."""
    shown = _of(rows.words, known)
    is_right = np.zeros(shown.shape[0], dtype=bool)
    is_right[np.arange(len(known)) * CANDIDATE_COUNT + truths[known]] = True
    right, wrong = shown[is_right].sum(axis=0), shown[~is_right].sum(axis=0)
    weights = np.log(right + _SMOOTHING) - np.log(wrong / (CANDIDATE_COUNT - 1) + _SMOOTHING)
    return _best(_of(rows.words, asked) @ weights)


def choose_by_neighbors(rows: Rows, truths: Indices, known: Indices, asked: Indices) -> Indices:
    """Let the families that resemble one most vote with the candidates that were right in them."""
    seen, asking = _unit(rows.families[known]), _unit(rows.families[asked])
    closeness = (asking @ seen.T).toarray()
    count = min(_NEIGHBORS, len(known))
    nearest = np.argsort(-closeness, axis=1, kind="stable")[:, :count]
    candidates = _unit(rows.relations)
    right = candidates[known * CANDIDATE_COUNT + truths[known]]
    votes = [
        candidates[CANDIDATE_COUNT * family : CANDIDATE_COUNT * (family + 1)] @ right[own].sum(axis=0)
        for family, own in zip(asked, nearest, strict=True)
    ]
    return _best(np.concatenate(votes))


ATTACKERS: Final[Mapping[str, Attacker]] = {
    "logistic": choose_by_logistic,
    "naive Bayes": choose_by_bayes,
    "nearest neighbors": choose_by_neighbors,
}


def _of(matrix: csr_array, families: Indices) -> csr_array:
    """Return the four rows of each of some families."""
    return matrix[(families[:, None] * CANDIDATE_COUNT + np.arange(CANDIDATE_COUNT)).ravel()]


def _best(scores: Floats) -> Indices:
    return np.asarray(scores.reshape(-1, CANDIDATE_COUNT).argmax(axis=1), dtype=np.int64)


def _unit(matrix: csr_array) -> csr_array:
    """Return the rows at length one."""
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    return csr_array(diags_array(1 / np.maximum(lengths, 1e-12)) @ matrix)
