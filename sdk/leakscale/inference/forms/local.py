"""A model in this process that answers the forms of an audit.

Prompts of a batch are padded on the left, where nothing attends. Padding changes the shape of a forward, and with it
the last bits of a logit; where two tokens are that close, the batch can decide. So the batch size is part of the
engine's identity, and an audit always forms the same batches.

Source: CleanScore 7.1 (greedy decoding, character-normalized log-probability of each option), 7.6 (mean
log-probability a token of the greedy continuation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import DynamicCache

from leakscale.adaptation.loading import ModelFolder, open_model_folder
from leakscale.adaptation.rendering import encode_prompt
from leakscale.base_model import named_model
from leakscale.errors import InvalidRequestError, ModelError
from leakscale.inference.draws import counter_uniform
from leakscale.inference.engines.local import LocalModel
from leakscale.inference.forms import Decoding, FormPrompt, Generated, JsonScalar, OptionScore, shared_length
from leakscale.inference.forms.options import LocalFormOptions, local_form_options

__all__ = ["LocalFormEngine", "LocalFormOptions", "open_local_forms"]


class LocalFormEngine:
    """A local model, with or without an adapter."""

    def __init__(self, folder: ModelFolder, *, adapter: Path | None, options: LocalFormOptions) -> None:
        """Load the weights.

        Raises:
            ModelError: If the model or the adapter folder cannot be used.
        """
        self._local = LocalModel(folder, adapter=adapter, options=options)
        self._tokenizer = folder.tokenizer
        self._ends = _end_ids(self._local.model, folder)
        self.batch_size = options.batch_size
        self.identity: Mapping[str, JsonScalar] = self._local.identity | {
            "engine": "transformers",
            "batch_size": options.batch_size,
        }

    @torch.inference_mode()
    def generate(
        self, prompts: Sequence[FormPrompt], *, decoding: Decoding, seeds: Sequence[bytes] = ()
    ) -> list[Generated]:
        """Answer prompts together; see `FormEngine`.

        Raises:
            InvalidRequestError: If there are more prompts than the batch size, or seeds do not match them.
            ModelError: If a prompt is empty, or prompt and answer are longer than the model reads.
        """
        if len(prompts) > self.batch_size or (decoding.temperature > 0 and len(seeds) != len(prompts)):
            raise InvalidRequestError(
                f"{len(prompts)} prompts with {len(seeds)} seeds; pass at most {self.batch_size}, and a seed each "
                "where the temperature is not 0"
            )
        rows = [self._encoded(prompt) for prompt in prompts]
        self._require_room(max(map(len, rows)), decoding.token_count_max)
        written = _Written(len(rows), self._ends)
        ids, mask = self._padded(rows)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        cache = DynamicCache(config=self._local.model.config)
        for step in range(decoding.token_count_max):
            logits = self._local.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                cache=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
            log_p = torch.log_softmax(logits.double(), dim=-1)
            chosen = _chosen(log_p, decoding.temperature, seeds, step)
            if written.take(chosen.tolist(), log_p.gather(1, chosen[:, None])[:, 0].tolist()):
                break
            ids, positions = chosen[:, None], positions[:, -1:] + 1
            mask = torch.cat([mask, mask.new_ones((len(rows), 1))], dim=-1)
        return [self._generated(*row) for row in written.rows()]

    def score_options(self, prompt: FormPrompt, options: Sequence[str]) -> list[OptionScore]:
        """Say how probable each option is, as the joint probability of the tokens that tell options apart.

        A token may reach across the end of the prompt. So prompt and option are encoded as one text, and what is
        scored is everything after the tokens that all of them and the prompt alone have in common.

        Raises:
            ModelError: If the prompt is empty to the model.
        """
        before = self._encoded(prompt)
        whole = [self._text_ids(prompt.text + option) for option in options]
        shared = shared_length([before, *whole])
        if shared == 0:
            raise ModelError("no token of the prompt is left before its options; begin choice_template with a word")
        rest = [tuple(ids[shared:]) for ids in whole]
        values = self._local.answer_log_probabilities(before[:shared], rest)
        return [OptionScore(sum(row), len(row)) for row in values]

    @property
    def reads_texts(self) -> bool:
        """It always does."""
        return True

    @torch.inference_mode()
    def read_texts(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """Say how probable texts are, in one forward; see `TextReader`.

        Padded on the right, where no token of a text attends.

        Raises:
            ModelError: If a text is longer than the model reads.
        """
        rows = [self._text_ids(text) for text in texts]
        width = max(map(len, rows), default=0)
        if width < 2:
            return [()] * len(rows)
        self._require_room(width, 0)
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([row + [pad] * (width - len(row)) for row in rows], device=self._local.device)
        logits = self._local.model(input_ids=ids).logits
        return [_log_p(scores, row) for scores, row in zip(logits, rows, strict=True)]

    def _encoded(self, prompt: FormPrompt) -> list[int]:
        ids = list(encode_prompt(self._tokenizer, prompt.turns)) if prompt.is_chat else self._text_ids(prompt.text)
        if not ids:
            raise ModelError("a prompt has no token; give the template a word")
        return ids

    def _text_ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text))

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        width = max(map(len, rows))
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([[pad] * (width - len(row)) + list(row) for row in rows], device=self._local.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=self._local.device)
        return ids, mask

    def _require_room(self, prompt_length: int, token_count: int) -> None:
        room = getattr(self._local.model.config.get_text_config(), "max_position_embeddings", None)
        if room is not None and prompt_length + token_count > room:
            raise ModelError(
                f"a prompt of {prompt_length} tokens and {token_count} more for its answer are beyond the {room} that "
                "the model reads; register a smaller decoding.token_count_max"
            )

    def _generated(self, tokens: Sequence[int], log_p: Sequence[float], is_cut_off: bool) -> Generated:
        text = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        confidence = min(0.0, sum(log_p) / len(log_p)) if log_p else None
        return Generated(str(text), len(tokens), is_cut_off, confidence)


class _Written:
    """What a batch has written so far."""

    def __init__(self, count: int, ends: frozenset[int]) -> None:
        self._ends = ends
        self._tokens: list[list[int]] = [[] for _ in range(count)]
        self._log_p: list[list[float]] = [[] for _ in range(count)]
        self._ended = [False] * count

    def take(self, tokens: Sequence[int], log_p: Sequence[float]) -> bool:
        """Add a token to every row that has not ended; tell whether all have."""
        for row, (token, value) in enumerate(zip(tokens, log_p, strict=True)):
            if not self._ended[row]:
                self._log_p[row].append(value)
                if token in self._ends:
                    self._ended[row] = True
                else:
                    self._tokens[row].append(token)
        return all(self._ended)

    def rows(self) -> list[tuple[list[int], list[float], bool]]:
        """Return tokens, their log-probabilities (the end's included), and whether the cap ended it."""
        return [
            (tokens, log_p, not ended)
            for tokens, log_p, ended in zip(self._tokens, self._log_p, self._ended, strict=True)
        ]


def open_local_forms(*, source: str | Path, adapter: Path | None, options: Mapping[str, Any]) -> LocalFormEngine:
    """Open the engine `transformers`; see `open_form_engine`. `tiny` is the model that ships."""
    return LocalFormEngine(open_model_folder(named_model(source)), adapter=adapter, options=local_form_options(options))


def _log_p(logits: torch.Tensor, row: Sequence[int]) -> tuple[float, ...]:
    """Return log p of every token of a text but its first, from the logits at each place."""
    after = torch.tensor(row[1:], device=logits.device)
    log_p = torch.log_softmax(logits[: len(after)].double(), dim=-1)
    return tuple(min(0.0, value) for value in log_p.gather(1, after[:, None])[:, 0].tolist())


def _chosen(log_p: torch.Tensor, temperature: float, seeds: Sequence[bytes], step: int) -> torch.Tensor:
    """Return the most probable token of each row, or the one at the row's own uniform number."""
    if temperature == 0:
        return log_p.argmax(dim=-1)
    cumulative = torch.softmax(log_p / temperature, dim=-1).cumsum(dim=-1)
    points = torch.tensor([[counter_uniform(seed, step)] for seed in seeds], dtype=cumulative.dtype)
    found = torch.searchsorted(cumulative, points.to(cumulative.device), right=True)[:, 0]
    return found.clamp(max=log_p.shape[-1] - 1)


def _end_ids(model: Any, folder: ModelFolder) -> frozenset[int]:
    """Return the tokens that end an answer: the tokenizer's, and those that the model's publisher lists."""
    listed = getattr(model.generation_config, "eos_token_id", None)
    ids = {*(listed if isinstance(listed, list) else [listed]), folder.tokenizer.eos_token_id}
    return frozenset(each for each in ids if isinstance(each, int))
