"""The four answers of a family as a token trie, and the distributions over them.

Two distributions are read off the same log-probabilities:

- *guided*: at every branch the model's distribution is renormalised over the tokens that still lead to an answer. This
  is what a constrained decoder samples from, and what our draws are taken from.
- *unconstrained*: the probability of writing each whole answer with nothing forced. Its sum is the mass that the model
  puts on valid answers; it is reported beside, because guiding hides a model that cannot do the task.

Pure: tokens and numbers in, numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["followers", "guided_probabilities", "shared_prefix_length", "unconstrained_log_probabilities"]

TokenPath = Sequence[int]
LogProbabilityTable = Sequence[dict[int, float]]
"""For each depth of one answer, log p of every token that some answer has there after the same prefix."""


def shared_prefix_length(answers: Sequence[TokenPath]) -> int:
    """Return how many tokens all answers begin with in common."""
    length = 0
    while all(len(answer) > length for answer in answers) and len({answer[length] for answer in answers}) == 1:
        length += 1
    return length


def followers(answers: Sequence[TokenPath], prefix: TokenPath) -> list[int]:
    """Return, sorted, the tokens that continue a prefix towards some answer."""
    depth = len(prefix)
    return sorted(
        {answer[depth] for answer in answers if len(answer) > depth and tuple(answer[:depth]) == tuple(prefix)}
    )


def unconstrained_log_probabilities(answers: Sequence[TokenPath], tables: Sequence[LogProbabilityTable]) -> list[float]:
    """Return the log-probability of each whole answer, end token included."""
    return [
        math.fsum(table[depth][token] for depth, token in enumerate(answer))
        for answer, table in zip(answers, tables, strict=True)
    ]


def guided_probabilities(answers: Sequence[TokenPath], tables: Sequence[LogProbabilityTable]) -> list[float]:
    """Return the probability with which a guided decoder ends at each answer; they sum to one."""
    weights = []
    for answer, table in zip(answers, tables, strict=True):
        log_weight = 0.0
        for depth, token in enumerate(answer):
            options = followers(answers, answer[:depth])
            if len(options) > 1:
                log_weight += table[depth][token] - _log_sum_exp([table[depth][option] for option in options])
        weights.append(math.exp(log_weight))
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _log_sum_exp(values: Sequence[float]) -> float:
    highest = max(values)
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))
