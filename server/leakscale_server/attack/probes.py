"""What an attacker answers to learn from totals, and what exact totals over it say.

A *probe* is an integer array of shape (families, 4): how many draws of a family answer each candidate. Draws that are
left over answer nothing valid. Its total is the sum, over the families, of the entry of the right candidate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leakscale.models import Answer, Condition, Family, ModelState
from leakscale.totals import round_count
from leakscale_server.attack.victim import Client

__all__ = [
    "BareOracle",
    "Beside",
    "Disclosed",
    "Guesses",
    "Oracle",
    "Probe",
    "ServerOracle",
    "answers_to",
    "best_guesses",
    "least_squares",
    "total_of",
]

Probe: TypeAlias = NDArray[np.int64]
Disclosed: TypeAlias = dict[str, Any]
"""What a disclosure says, as JSON has it."""
Beside: TypeAlias = Mapping[ModelState, Mapping[str, Sequence[int]]]
Guesses: TypeAlias = NDArray[np.int64]
"""Display index that is guessed for each family."""

MALFORMED: Final = ""


class Oracle(Protocol):
    """Something that tells totals, two at a time: of a base and of an adapted model."""

    @property
    def count_step(self) -> int:
        """Return what totals are rounded to multiples of, 1 where they are exact; known from the first answer on."""

    def totals(self, base: Probe, adapted: Probe) -> tuple[int, int]:
        """Return the total of each probe."""


@dataclass(frozen=True, slots=True)
class BareOracle:
    """Totals without a budget, as often as asked: what an attack can do where nothing holds it back."""

    truths: Guesses
    count_step: int = 1

    def totals(self, base: Probe, adapted: Probe) -> tuple[int, int]:
        """Return the total of each probe."""
        rows = np.arange(len(self.truths))
        first, second = (int(probe[rows, self.truths].sum()) for probe in (base, adapted))
        return round_count(first, step=self.count_step), round_count(second, step=self.count_step)


class ServerOracle:
    """Totals as a server discloses them: an experiment for every two, registered, answered, sealed and disclosed.

    Args:
        clients: Who asks, in turn.
        condition: Whose families are attacked; the others get malformed answers.
        targets: Ids of the attacked families, in the order of the rows of a probe.
        draw_count: Draws of every experiment.
        resample_count: Resamples of every experiment.
    """

    def __init__(
        self,
        clients: Sequence[Client],
        *,
        condition: Condition,
        targets: Sequence[str],
        draw_count: int,
        resample_count: int = 100,
    ) -> None:
        self._resample_count = resample_count
        self._clients = clients
        self._condition = condition
        self._targets = targets
        self._draw_count = draw_count
        self._families = clients[0].families()
        self._numbers = itertools.count()
        self.count_step = 1

    def totals(self, base: Probe, adapted: Probe) -> tuple[int, int]:
        """Return the disclosed total of each probe.

        Raises:
            BudgetSpent: If the server tells no more.
        """
        body = self.disclosed(base, adapted)
        first, second = (total_of(body, condition=self._condition, state=state) for state in ModelState)
        return first, second

    def disclosed(self, base: Probe, adapted: Probe, *, beside: Beside | None = None) -> Disclosed:
        """Register, answer, seal and disclose an experiment, and return everything that was told.

        Args:
            base: Answers of the base model to the attacked families.
            adapted: Answers of the adapted model to the same.
            beside: How other families are answered: draws of each candidate by id, in each state.

        Raises:
            BudgetSpent: If the server tells no more.
        """
        number = next(self._numbers)
        client = self._clients[number % len(self._clients)]
        experiment = client.register(
            f"attack-{number}", draw_count=self._draw_count, resample_count=self._resample_count
        )
        for bank in experiment.banks:
            probe = base if bank.state is ModelState.BASE else adapted
            counts = dict(zip(self._targets, probe.tolist(), strict=True)) | dict((beside or {}).get(bank.state, {}))
            client.submit(bank, answers_to(self._families, counts, draw_count=self._draw_count))
            client.seal(bank)
        body = client.disclose(experiment)
        self.count_step = int(body["count_step"])
        return body


def answers_to(
    families: Sequence[Family], counts_of: Mapping[str, Sequence[int]], *, draw_count: int
) -> Iterator[Answer]:
    """Answer every case of a bank with so many draws a candidate, by family id; other families answer nothing valid."""
    for family in families:
        counts = counts_of.get(family.family_id, (0, 0, 0, 0))
        texts = [each.answer for each, count in zip(family.candidates, counts, strict=True) for _ in range(count)]
        texts += [MALFORMED] * (draw_count - len(texts))
        for draw, text in enumerate(texts):
            yield Answer(family.family_id, draw, text)


def total_of(body: Disclosed, *, condition: Condition, state: ModelState) -> int:
    """Return one disclosed total over a whole edition of one domain."""
    (total,) = (each for each in body["totals"] if (each["condition"], each["state"]) == (condition.value, state.value))
    return int(total["correct_count"])


def least_squares(
    probes: Sequence[NDArray[Any]],
    totals: Sequence[float],
    possible: NDArray[np.bool_],
    *,
    variances: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """Score every candidate of every family: the least array, around even odds, that explains all totals.

    Args:
        probes: Each of shape (families, 4).
        totals: One of each.
        possible: Candidates that are not ruled out, of shape (families, 4); the others count for nothing.
        variances: Squared errors of the totals, in their own unit; by default they are exact.

    Returns:
        Scores of shape (families, 4), minus infinity where ruled out.
    """
    weights = possible / possible.sum(axis=1, keepdims=True)
    stack = np.stack(probes).astype(float)
    means = (stack * weights).sum(axis=2, keepdims=True)
    design = np.where(possible, stack - means, 0.0).reshape(len(probes), -1)
    rest = np.asarray(totals, dtype=float) - means.sum(axis=(1, 2))
    # An entry of a family has variance 1/4 and covariance -1/16: what is measured of it is told by its own design.
    spread = design @ design.T + np.diag(4.0 * np.asarray(variances or [0.0] * len(probes)))
    scores = (design.T @ np.linalg.lstsq(spread, rest, rcond=None)[0]).reshape(possible.shape)
    return np.where(possible, scores, -np.inf)


def best_guesses(scores: NDArray[np.float64]) -> Guesses:
    """Return the candidate of the highest score of each family."""
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)
