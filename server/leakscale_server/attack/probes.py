"""What an attacker answers to learn from totals, and what exact totals over it say.

A *probe* is an integer array of shape (families, 4): how many draws of a family answer each candidate. Draws that are
left over answer nothing valid. Its total is the sum, over the families, of the entry of the right candidate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leakscale.models import Answer, Condition, Family, ModelState
from leakscale_server.attack.victim import Client

__all__ = [
    "BareOracle",
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
Guesses: TypeAlias = NDArray[np.int64]
"""Display index that is guessed for each family."""

MALFORMED: Final = ""


class Oracle(Protocol):
    """Something that tells totals, two at a time: of a base and of an adapted model."""

    def totals(self, base: Probe, adapted: Probe) -> tuple[int, int]:
        """Return the exact total of each probe."""


@dataclass(frozen=True, slots=True)
class BareOracle:
    """Totals without a policy, as often as asked: what an attack can do where nothing holds it back."""

    truths: Guesses

    def totals(self, base: Probe, adapted: Probe) -> tuple[int, int]:
        """Return the exact total of each probe."""
        rows = np.arange(len(self.truths))
        return int(base[rows, self.truths].sum()), int(adapted[rows, self.truths].sum())


class ServerOracle:
    """Totals as a server discloses them: an experiment for every two, registered, answered, sealed and disclosed.

    Args:
        clients: Who asks, in turn.
        condition: Whose families are attacked; the others get malformed answers.
        targets: Ids of the attacked families, in the order of the rows of a probe.
        draw_count: Draws of every experiment.
    """

    def __init__(self, clients: Sequence[Client], *, condition: Condition, targets: Sequence[str], draw_count: int):
        self._clients = clients
        self._condition = condition
        self._rows = {family_id: row for row, family_id in enumerate(targets)}
        self._draw_count = draw_count
        self._families = clients[0].families()
        self._numbers = itertools.count()

    def totals(self, base: Probe, adapted: Probe) -> tuple[int, int]:
        """Return the disclosed total of each probe.

        Raises:
            BudgetSpent: If the server tells no more.
        """
        number = next(self._numbers)
        client = self._clients[number % len(self._clients)]
        experiment = client.register(f"attack-{number}", draw_count=self._draw_count)
        for bank in experiment.banks:
            probe = base if bank.state is ModelState.BASE else adapted
            client.submit(bank, answers_to(self._families, probe, rows=self._rows, draw_count=self._draw_count))
            client.seal(bank)
        body = client.disclose(experiment)
        first, second = (total_of(body, condition=self._condition, state=state) for state in ModelState)
        return first, second


def answers_to(families: Sequence[Family], probe: Probe, *, rows: dict[str, int], draw_count: int) -> Iterator[Answer]:
    """Answer every case of a bank as a probe says; families without a row get malformed answers."""
    for family in families:
        row = rows.get(family.family_id)
        counts = [0, 0, 0, 0] if row is None else probe[row].tolist()
        texts = [each.answer for each, count in zip(family.candidates, counts, strict=True) for _ in range(count)]
        texts += [MALFORMED] * (draw_count - len(texts))
        for draw, text in enumerate(texts):
            yield Answer(family.family_id, draw, text)


def total_of(body: dict[str, Any], *, condition: Condition, state: ModelState) -> int:
    """Return one disclosed total over a whole edition of one domain."""
    (total,) = (each for each in body["totals"] if (each["condition"], each["state"]) == (condition.value, state.value))
    return int(total["correct_count"])


def least_squares(probes: Sequence[Probe], totals: Sequence[int], possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Score every candidate of every family: the least array, around even odds, that explains all totals.

    Args:
        probes: Each of shape (families, 4).
        totals: One of each.
        possible: Candidates that are not ruled out, of shape (families, 4); the others count for nothing.

    Returns:
        Scores of shape (families, 4), minus infinity where ruled out.
    """
    weights = possible / possible.sum(axis=1, keepdims=True)
    stack = np.stack(probes).astype(float)
    means = (stack * weights).sum(axis=2, keepdims=True)
    design = np.where(possible, stack - means, 0.0).reshape(len(probes), -1)
    rest = np.asarray(totals, dtype=float) - means.sum(axis=(1, 2))
    scores = np.linalg.lstsq(design, rest, rcond=None)[0].reshape(possible.shape)
    return np.where(possible, scores, -np.inf)


def best_guesses(scores: NDArray[np.float64]) -> Guesses:
    """Return the candidate of the highest score of each family."""
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)
