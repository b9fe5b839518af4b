"""Draw answers token by token, each prefix computed once for all the draws that reach it.

The prompt is read once, and a prefix that several draws reach is one forward for all of them. Each draw takes its own
uniform at each token, a function of its seed and of the token's place. A prefix is always read in the same pieces, so
its numbers do not depend on which other draws reached it, and a draw is the same alone as among thousands.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from transformers import DynamicCache

from leakscale.inference.attempts import Attempt
from leakscale.inference.cases import Case, Question
from leakscale.inference.draws import counter_uniform
from leakscale.inference.engines.grammar import Grammar, Tokens
from leakscale.inference.engines.local import LocalModel

__all__ = ["walk"]


@dataclass(frozen=True, slots=True)
class _Node:
    """A prefix that some draws reached."""

    tokens: Tokens
    cache: DynamicCache
    """Of the prompt and the tokens; each child reads on in a copy."""
    log_probabilities: torch.Tensor
    """Of the next token; float64 of shape (vocabulary,)."""
    cases: list[Case]


@torch.inference_mode()
def walk(
    local: LocalModel, question: Question, grammar: Grammar, cases: Sequence[Case], *, tier: int = 0
) -> Iterator[Attempt]:
    """Draw the answer of every case of a question, and return the attempts in the order of the cases."""
    if not cases:
        return iter(())
    done: dict[int, Attempt] = {}
    start, cache = grammar.forced(()), DynamicCache(config=local.model.config)
    row = local.log_softmax([[*question.prompt_ids, *start]], cache, keep=1)[0, -1]
    stack = [_Node(start, cache, row, list(cases))]
    while stack:
        node = stack.pop()
        for tokens, reached in _taken(node, grammar):
            outcome = grammar.ending(tokens)
            if outcome is None:
                stack.append(_child(local, node, tokens, reached))
            else:
                text = grammar.text(tokens)
                done |= {case.index: Attempt(case.index, outcome, tier=tier, text=text) for case in reached}
    return iter([done[case.index] for case in cases])


def _taken(node: _Node, grammar: Grammar) -> list[tuple[Tokens, list[Case]]]:
    """Let every draw at a node take its next token; return the prefixes reached, with their draws."""
    pick, depth = grammar.law(node.tokens, node.log_probabilities), len(node.tokens)
    taken: defaultdict[int, list[Case]] = defaultdict(list)
    for case in node.cases:
        taken[pick(counter_uniform(case.seed, depth))].append(case)
    return [(grammar.forced((*node.tokens, token)), cases) for token, cases in taken.items()]


def _child(local: LocalModel, node: _Node, tokens: Tokens, cases: list[Case]) -> _Node:
    cache = copy.deepcopy(node.cache)  # not cropped afterwards: sliding-window layers cannot be
    row = local.log_softmax([list(tokens[len(node.tokens) :])], cache, keep=1)[0, -1]
    return _Node(tokens, cache, row, cases)
