"""Ask a local model for the distribution over the four answers of one family.

float32, one family a forward, nothing padded: in bfloat16, or in batches, a few draws in a thousand change with the
shape of the batch (measured), and then a bank depends on how it was computed.

Source: LeakScale F.2 (constrained choice). Deviation: the paper samples a guided decoder; here its distribution is
computed exactly and the draws are taken from that, so all draws of a family cost one prompt.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from peft import PeftModel
from transformers import DynamicCache

from leakscale.adaptation.completion import read_completion
from leakscale.adaptation.loading import ModelFolder, open_model_folder, quiet_libraries, use_threads
from leakscale.adaptation.rendering import encode_completion, encode_prompt
from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.inference.trie import (
    LogProbabilityTable,
    followers,
    guided_probabilities,
    shared_prefix_length,
    unconstrained_log_probabilities,
)
from leakscale.models import Family
from leakscale.prompts import choice_prompt

__all__ = ["ChoiceEngine", "Distribution", "EncodedFamily"]

_DTYPE: Final = "float32"
_ATTENTION: Final = "sdpa"


@dataclass(frozen=True, slots=True)
class EncodedFamily:
    """A family as the model reads it."""

    family: Family
    prompt_ids: tuple[int, ...]
    answer_ids: tuple[tuple[int, ...], ...]
    """One per candidate in display order, each with the end-of-turn token."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A model's distribution over the four answers of a family, in display order."""

    guided: tuple[float, ...]
    """What a guided decoder samples from; sums to one."""
    unconstrained: tuple[float, ...]
    """Log-probability of each whole answer with nothing forced, in nats."""


class ChoiceEngine:
    """A model, with or without an adapter, that answers one family at a time."""

    def __init__(self, model: str | Path, *, adapter: Path | None = None, thread_count: int = 2) -> None:
        """Load a model in float32.

        Raises:
            ModelError: If the model or the adapter folder cannot be used.
            ConflictError: If the adapter was trained on another model, tokenizer or chat template.
        """
        use_threads(thread_count)
        folder = open_model_folder(model)
        self._tokenizer = folder.tokenizer
        self._model: Any = folder.load(dtype=_DTYPE, attention=_ATTENTION)
        self.identity: dict[str, str | int | None] = {
            "model": folder.model_digest,
            "tokenizer": folder.tokenizer_digest,
            "template": folder.template_digest,
            "adapter": None,
            "dtype": _DTYPE,
            "attention": _ATTENTION,
            "thread_count": thread_count,
        }
        """What decides the numbers that this engine returns."""
        if adapter is not None:
            self.identity["adapter"] = _check_adapter(folder, adapter)
            with quiet_libraries():
                self._model = PeftModel.from_pretrained(self._model, str(adapter)).eval()

    def encode(self, family: Family) -> EncodedFamily:
        """Render a family's prompt and its four answers exactly as training does.

        Raises:
            ModelError: If an answer cannot be masked under the model's chat template.
            InvalidRequestError: If two candidates read the same to the model.
        """
        prompt = choice_prompt(family)
        prompt_ids = encode_prompt(self._tokenizer, prompt)
        answers = tuple(
            encode_completion(
                self._tokenizer, prompt, candidate.answer, subject=f"family '{family.family_id}'"
            ).completion_ids
            for candidate in family.candidates
        )
        if len(set(answers)) != len(answers):
            raise InvalidRequestError(f"family '{family.family_id}' has two candidates with one answer string")
        return EncodedFamily(family, prompt_ids, answers)

    @torch.no_grad()
    def distribution(self, encoded: EncodedFamily) -> Distribution:
        """Compute the distribution over the four answers: one prefill, then the rest of each answer on its cache."""
        answers = encoded.answer_ids
        shared = shared_prefix_length(answers)
        prefill = torch.tensor([encoded.prompt_ids + answers[0][:shared]])
        cache = DynamicCache(config=self._model.config)
        logits = self._model(input_ids=prefill, cache=cache, use_cache=True, logits_to_keep=shared + 1).logits
        head = torch.log_softmax(logits[0].double(), dim=-1)
        tails = self._tails(cache, [answer[shared:] for answer in answers])
        tables = [_table(answers, answer, torch.cat([head, tail])) for answer, tail in zip(answers, tails, strict=True)]
        return Distribution(
            guided=tuple(guided_probabilities(answers, tables)),
            unconstrained=tuple(unconstrained_log_probabilities(answers, tables)),
        )

    def _tails(self, cache: DynamicCache, tails: list[tuple[int, ...]]) -> list[torch.Tensor]:
        """Return log p of shape (tokens of the tail - 1, vocabulary) for each tail, one after the other."""
        results = []
        for tail in tails:
            if len(tail) < 2:
                results.append(torch.empty(0, self._model.config.vocab_size, dtype=torch.double))
                continue
            branch = copy.deepcopy(cache)  # not cropped afterwards: sliding-window layers cannot be
            logits = self._model(input_ids=torch.tensor([tail[:-1]]), cache=branch, use_cache=True).logits
            results.append(torch.log_softmax(logits[0].double(), dim=-1))
        return results


def _table(
    answers: tuple[tuple[int, ...], ...], answer: tuple[int, ...], log_probabilities: torch.Tensor
) -> LogProbabilityTable:
    """Pick, at each depth of one answer, log p of every token that continues towards some answer."""
    return [
        {token: float(log_probabilities[depth, token]) for token in followers(answers, answer[:depth])}
        for depth in range(len(answer))
    ]


def _check_adapter(folder: ModelFolder, adapter: Path) -> str:
    identity = read_completion(adapter).identity
    pairs = {
        "model": (identity.model, folder.model_digest),
        "tokenizer": (identity.tokenizer, folder.tokenizer_digest),
        "chat template": (identity.template, folder.template_digest),
    }
    differing = [name for name, (trained, loaded) in pairs.items() if trained != loaded]
    if differing:
        raise ConflictError(
            f"adapter '{adapter}' was trained on another {', '.join(differing)} than '{folder.path}'; give the model "
            "that it was trained on"
        )
    return identity.adapter
