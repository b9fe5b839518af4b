"""From a training record to token ids and the span the loss may see.

A wrong span is silent: a template without `{% generation %}` yields an all-zero mask and only a warning, a merge across
the assistant boundary shifts it by a token, and padding equal to the end token hides the end. So the span is derived
twice where it can be, decoded back, and compared; a record that disagrees is refused by its id.

Source: LeakScale D.2 (assistant-only loss).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from leakscale.adaptation.identity import text_digest
from leakscale.errors import ModelError
from leakscale.models import Message, TrainingRecord

__all__ = ["EncodedRecord", "decode", "encode_completion", "encode_prompt", "encode_record", "special_ids"]

_GENERATION_BLOCK: Final = re.compile(r"\{%[-+]?\s*generation\b")


@dataclass(frozen=True, slots=True)
class EncodedRecord:
    """A record as token ids; everything after `prompt_length` is supervised, and nothing else."""

    record_id: str
    ids: tuple[int, ...]
    """Prompt, answer and the template's own end-of-turn token; what the template writes after that is cut off."""
    prompt_length: int

    @property
    def completion_ids(self) -> tuple[int, ...]:
        """The supervised tokens, end-of-turn included."""
        return self.ids[self.prompt_length :]


def encode_prompt(tokenizer: PreTrainedTokenizerBase, prompt: Sequence[Message]) -> tuple[int, ...]:
    """Render system and user turns with the assistant header after them, as at inference."""
    return _ids(tokenizer, prompt, add_generation_prompt=True)


def encode_completion(
    tokenizer: PreTrainedTokenizerBase, prompt: Sequence[Message], completion: str, *, subject: str
) -> EncodedRecord:
    """Render a finished turn and find the supervised span; `subject` names the record in a refusal.

    Raises:
        ModelError: If training and inference prompts differ, if the template never ends the assistant turn, or if the
            span does not decode to the rendered suffix byte for byte.
    """
    chat = [*prompt, Message("assistant", completion)]
    prompt_ids = encode_prompt(tokenizer, prompt)
    prompt_text, text = _text(tokenizer, prompt, add_generation_prompt=True), _text(tokenizer, chat)
    ids = _ids(tokenizer, chat)
    template = text_digest(str(tokenizer.chat_template))[:12]

    def refuse(rule: str) -> ModelError:
        return ModelError(f"{subject} cannot be masked under chat template {template}: {rule}")

    # 1. The finished chat goes on from the inference prompt, in text and in tokens.
    if not text.startswith(prompt_text):
        raise refuse("the finished chat does not begin with the inference prompt; use a template that adds no text")
    if ids[: len(prompt_ids)] != prompt_ids:
        raise refuse("a token merges across the assistant boundary; end the assistant header with a special token")
    if tokenizer.bos_token_id is not None and ids[:2] == (tokenizer.bos_token_id,) * 2:
        raise refuse("it begins with two BOS tokens; remove one from the template or the tokenizer")
    # 2. The turn ends with the template's own token; whitespace after it belongs to nobody.
    end = _end_of_turn(tokenizer, ids, len(prompt_ids))
    if end is None:
        raise refuse("the assistant turn has no end-of-turn token; a model trained on it never stops")
    if decode(tokenizer, ids[end:]).strip():
        raise refuse("the template writes text after the end-of-turn token")
    # 3. What is supervised is the rendered suffix, byte for byte.
    suffix = text[len(prompt_text) :]
    decoded = decode(tokenizer, ids[len(prompt_ids) : end])
    if not suffix.startswith(decoded) or suffix[len(decoded) :].strip() or not decoded.startswith(completion):
        raise refuse(f"the supervised tokens decode to {decoded!r}, the template wrote {suffix!r}")
    # 4. The template's own generation block, where it has one, marks the same tokens; some mark the whitespace after.
    if _GENERATION_BLOCK.search(str(tokenizer.chat_template)):
        marked = _generation_span(tokenizer, chat)
        if marked is None or marked[0] != len(prompt_ids) or marked[1] < end:
            raise refuse(f"its generation block marks tokens {marked}, the prefix difference {(len(prompt_ids), end)}")
    return EncodedRecord(subject, ids[:end], len(prompt_ids))


def encode_record(tokenizer: PreTrainedTokenizerBase, record: TrainingRecord) -> EncodedRecord:
    """Encode one training record; see `encode_completion`."""
    encoded = encode_completion(
        tokenizer, record.prompt, record.completion, subject=f"training record '{record.record_id}'"
    )
    return EncodedRecord(record.record_id, encoded.ids, encoded.prompt_length)


def _dicts(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _text(tokenizer: PreTrainedTokenizerBase, chat: Sequence[Message], *, add_generation_prompt: bool = False) -> str:
    return str(tokenizer.apply_chat_template(_dicts(chat), tokenize=False, add_generation_prompt=add_generation_prompt))


def _ids(
    tokenizer: PreTrainedTokenizerBase, chat: Sequence[Message], *, add_generation_prompt: bool = False
) -> tuple[int, ...]:
    encoded: Any = tokenizer.apply_chat_template(
        _dicts(chat), tokenize=True, add_generation_prompt=add_generation_prompt, return_dict=True
    )
    return tuple(encoded["input_ids"])


def decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """Give token ids back as text, special tokens as they are written and no space cleaned away."""
    return str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def _end_of_turn(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], start: int) -> int | None:
    """Return the index after the last special token of the suffix, or None."""
    special = special_ids(tokenizer)
    ends = [index + 1 for index in range(start, len(ids)) if ids[index] in special]
    return ends[-1] if ends else None


def special_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Return the ids of tokens that a template writes and a text cannot be split into by accident."""
    return frozenset({*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder})


def _generation_span(tokenizer: PreTrainedTokenizerBase, chat: Sequence[Message]) -> tuple[int, int] | None:
    """Return the (start, stop) that `{% generation %}` marks, or None when it is empty or in several pieces."""
    encoded: Any = tokenizer.apply_chat_template(
        _dicts(chat), tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    marked = [index for index, bit in enumerate(encoded["assistant_masks"]) if bit]
    if not marked or marked[-1] - marked[0] + 1 != len(marked):
        return None
    return marked[0], marked[-1] + 1
