"""The four answers of a question as a token trie, and the distributions over them.

All are read off the same numbers, log p of each answer's own tokens, because every token that may follow a prefix
towards some answer is the next token of an answer that begins with this prefix:

- *guided*: at every branch the model's distribution is renormalised over the tokens that still lead to an answer. This
  is what a constrained decoder samples from.
- *unconstrained*: the probability of writing each whole answer with nothing forced. Its sum is the mass that the model
  puts on valid answers; it is reported beside, because guiding hides a model that cannot do the task.
- *conditional*: the unconstrained probabilities, renormalised over the four answers.

Pure: tokens and numbers in, numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ChoiceDistribution", "TokenPath", "choice_distribution", "followers"]

TokenPath = Sequence[int]


@dataclass(frozen=True, slots=True)
class ChoiceDistribution:
    """A model's distribution over the four answers of a question, in display order."""

    guided: tuple[float, ...]
    """What a guided decoder samples from; sums to one."""
    unconstrained: tuple[float, ...]
    """Log-probability of each whole answer, end token included, with nothing forced, in nats."""

    @property
    def conditional(self) -> tuple[float, ...]:
        """Probability of each answer given that the model writes one of the four; sums to one."""
        highest = max(self.unconstrained)
        weights = [math.exp(value - highest) for value in self.unconstrained]
        total = math.fsum(weights)
        return tuple(weight / total for weight in weights)

    @property
    def valid_mass(self) -> float:
        """Probability in [0, 1] that the model writes any of the four answers with nothing forced."""
        return math.fsum(map(math.exp, self.unconstrained))


def followers(answers: Sequence[TokenPath], prefix: TokenPath) -> list[int]:
    """Return, sorted, the tokens that continue a prefix towards some answer."""
    depth = len(prefix)
    return sorted(
        {answer[depth] for answer in answers if len(answer) > depth and tuple(answer[:depth]) == tuple(prefix)}
    )


def choice_distribution(
    answers: Sequence[TokenPath], log_probabilities: Sequence[Sequence[float]]
) -> ChoiceDistribution:
    """Combine log p of each answer's own tokens, in nats, into the distributions over the answers.

    Args:
        answers: Token ids of each answer, in display order; none a prefix of another.
        log_probabilities: For each answer, log p of each of its tokens after those before it.

    Source: LeakScale B.2 (constrained choice).
    """
    terms: list[list[float]] = [[] for _ in answers]
    _add_branches(answers, log_probabilities, list(range(len(answers))), 0, terms)
    weights = [math.exp(math.fsum(each)) for each in terms]
    total = math.fsum(weights)
    return ChoiceDistribution(
        guided=tuple(weight / total for weight in weights),
        unconstrained=tuple(math.fsum(values) for values in log_probabilities),
    )


def _add_branches(
    answers: Sequence[TokenPath],
    log_probabilities: Sequence[Sequence[float]],
    members: list[int],
    depth: int,
    terms: list[list[float]],
) -> None:
    """Add, to each of some answers that are alike up to a depth, log p of the ways it takes at the branches from there.

    Of each way among those that lead to an answer; a token that all take is no branch.
    """
    while len(members) > 1:
        ways: dict[int, list[int]] = {}
        for member in members:
            ways.setdefault(answers[member][depth], []).append(member)
        if len(ways) > 1:
            values = [log_probabilities[taking[0]][depth] for taking in ways.values()]
            total = _log_sum_exp(values)
            for value, taking in zip(values, ways.values(), strict=True):
                for member in taking:
                    terms[member].append(value - total)
                _add_branches(answers, log_probabilities, taking, depth + 1, terms)
            return
        depth += 1


def _log_sum_exp(values: Sequence[float]) -> float:
    highest = max(values)
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))
