"""What a token-by-token draw may write: one of the four answers, or anything.

Tokens and log-probabilities in, tokens and text out; the model is elsewhere (`walk`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from transformers import PreTrainedTokenizerBase

from leakscale.inference.attempts import Outcome
from leakscale.inference.cases import Question
from leakscale.inference.draws import inverse_cdf
from leakscale.inference.trie import followers

__all__ = ["FreeGrammar", "Grammar", "GuidedGrammar", "Tokens"]

Tokens = tuple[int, ...]


class Grammar(Protocol):
    """What may follow a prefix, and when an answer is over."""

    def forced(self, tokens: Tokens) -> Tokens:
        """Extend a prefix by the tokens that nothing has to decide."""

    def law(self, tokens: Tokens, log_probabilities: torch.Tensor) -> Callable[[float], int]:
        """Return the inverse of the cumulative distribution of the next token: from a uniform in [0, 1) to a token.

        Args:
            tokens: The prefix.
            log_probabilities: float64 of shape (vocabulary,), in nats.
        """

    def ending(self, tokens: Tokens) -> Outcome | None:
        """Tell how an answer that has these tokens ended; None if it goes on."""

    def text(self, tokens: Tokens) -> str:
        """Write an ended answer as text, without its end token."""


class GuidedGrammar:
    """Only what leads to one of the four answers, renormalised at every branch."""

    def __init__(self, question: Question) -> None:
        self._answers = question.answer_ids
        self._texts = dict(zip(question.answer_ids, question.answers, strict=True))

    def forced(self, tokens: Tokens) -> Tokens:
        """Follow the trie to its next branch or end."""
        while len(options := followers(self._answers, tokens)) == 1:
            tokens = (*tokens, options[0])
        return tokens

    def law(self, tokens: Tokens, log_probabilities: torch.Tensor) -> Callable[[float], int]:
        """Renormalise over the tokens that still lead to an answer, in ascending order of token id."""
        options = followers(self._answers, tokens)
        probabilities: list[float] = torch.softmax(log_probabilities[options], dim=-1).tolist()
        return lambda point: options[inverse_cdf(probabilities, point)]

    def ending(self, tokens: Tokens) -> Outcome | None:
        """Tell whether an answer is written out."""
        return Outcome.COMPLETED if tokens in self._texts else None

    def text(self, tokens: Tokens) -> str:
        """Return the answer's exact string."""
        return self._texts[tokens]


class FreeGrammar:
    """Anything, up to a length."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, end_ids: frozenset[int], tokens_max: int) -> None:
        self._tokenizer, self._end_ids, self._tokens_max = tokenizer, end_ids, tokens_max

    def forced(self, tokens: Tokens) -> Tokens:
        """Nothing is forced."""
        return tokens

    def law(self, tokens: Tokens, log_probabilities: torch.Tensor) -> Callable[[float], int]:
        """Take the model's own distribution, in ascending order of token id."""
        cumulative = torch.cumsum(torch.exp(log_probabilities), dim=-1).cpu()
        last = len(cumulative) - 1  # the sum may end a rounding below one

        def pick(point: float) -> int:
            return min(int(torch.searchsorted(cumulative, point, right=True)), last)

        return pick

    def ending(self, tokens: Tokens) -> Outcome | None:
        """Tell whether the model ended its turn, or was cut off."""
        if tokens and tokens[-1] in self._end_ids:
            return Outcome.COMPLETED
        return Outcome.LENGTH if len(tokens) >= self._tokens_max else None

    def text(self, tokens: Tokens) -> str:
        """Decode what was written, special tokens included: they make an answer malformed, and must be seen."""
        kept = tokens[:-1] if tokens and tokens[-1] in self._end_ids else tokens
        return str(self._tokenizer.decode(list(kept), skip_special_tokens=False, clean_up_tokenization_spaces=False))
