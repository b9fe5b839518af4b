"""From a training record to token ids and the span the loss may see.

A wrong span is silent: a template without `{% generation %}` yields an all-zero mask and only a warning, a merge across
the assistant boundary shifts it by a token, and padding equal to the end token hides the end. So the span is derived
twice where it can be, decoded back, and compared; a record that disagrees is refused by its id.

Source: LeakScale D.2 (assistant-only loss).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

from leakscale.adaptation.identity import text_digest
from leakscale.errors import ModelError
from leakscale.models import Message, TrainingRecord

__all__ = [
    "EncodedRecord",
    "decode",
    "encode_completion",
    "encode_prompt",
    "encode_record",
    "encode_running_text",
    "special_ids",
]

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
        ModelError: If the template refuses the chat, if training and inference prompts differ, if the template never
            ends the assistant turn, or if the span does not decode to the rendered suffix byte for byte.
    """
    chat = [*prompt, Message("assistant", completion)]
    template = text_digest(str(tokenizer.chat_template))[:12]

    def refuse(rule: str) -> ModelError:
        return ModelError(f"{subject} cannot be masked under chat template {template}: {rule}")

    try:
        prompt_ids = encode_prompt(tokenizer, prompt)
        prompt_text, text = _text(tokenizer, prompt, add_generation_prompt=True), _text(tokenizer, chat)
    except TemplateError as error:
        raise refuse(f"the template refuses the chat ({error}); leave the record out") from error
    # 0. No turn holds a control token of the tokenizer, which would end it early.
    if any(_control_tokens(tokenizer, turn.content) for turn in chat):
        raise refuse("a turn holds the text of a control token; leave the record out")
    # 1. The finished chat goes on from the inference prompt, in text and in tokens.
    suffix = _suffix(prompt_text, text, completion)
    if suffix is None:
        raise refuse("the finished chat does not begin with the inference prompt; use a template that adds no text")
    ids = _text_ids(tokenizer, prompt_text + suffix)
    if ids[: len(prompt_ids)] != prompt_ids:
        raise refuse("a token merges across the assistant boundary; end the assistant header with a special token")
    if (fault := _begin_fault(tokenizer, ids)) is not None:
        raise refuse(fault)
    # 2. The turn ends with the template's own token; whitespace after it belongs to nobody.
    end = _end_of_turn(tokenizer, ids, len(prompt_ids))
    if end is None:
        raise refuse("the assistant turn has no end-of-turn token; a model trained on it never stops")
    if decode(tokenizer, ids[end:]).strip():
        raise refuse("the template writes text after the end-of-turn token")
    # 3. What is supervised is the rendered suffix, byte for byte.
    supervised = ids[len(prompt_ids) : end]
    decoded = decode(tokenizer, supervised)
    if not suffix.startswith(decoded) or suffix[len(decoded) :].strip() or not decoded.startswith(completion):
        raise refuse(f"the supervised tokens decode to {decoded!r}, the template wrote {suffix!r}")
    # 4. The template's own generation block, where it has one, marks the same tokens; some mark the whitespace after.
    if _GENERATION_BLOCK.search(str(tokenizer.chat_template)):
        marked = _generation_ids(tokenizer, chat)
        if marked[: len(supervised)] != supervised or decode(tokenizer, marked[len(supervised) :]).strip():
            raise refuse(f"its generation block marks tokens {marked}, the prefix difference {supervised}")
    return EncodedRecord(subject, ids[:end], len(prompt_ids))


def encode_running_text(
    tokenizer: PreTrainedTokenizerBase, prompt: Sequence[Message], completion: str, *, subject: str
) -> EncodedRecord:
    """Encode turns and completion as one text without a template, and end it with the tokenizer's end token.

    Supervised is everything after the tokens that the prompt alone has in common with it, as an audit scores options.

    Raises:
        ModelError: If the text holds a control token, the prompt has no token of its own, or there is no end token.
    """
    before = "\n\n".join(turn.content for turn in prompt)
    if _control_tokens(tokenizer, before + completion):
        raise ModelError(f"{subject} holds the text of a control token; leave the record out")
    if tokenizer.eos_token_id is None:
        raise ModelError(f"{subject} cannot be ended: the tokenizer has no end token; use a model that has one")
    whole, alone = tuple(tokenizer.encode(before + completion)), tuple(tokenizer.encode(before))
    shared = next((place for place, (one, two) in enumerate(zip(whole, alone, strict=False)) if one != two), None)
    prompt_length = min(len(whole), len(alone)) if shared is None else shared
    if prompt_length == 0 or prompt_length == len(whole):
        raise ModelError(f"{subject} has no token of its own before or after the boundary; give both a word")
    return EncodedRecord(subject, (*whole, tokenizer.eos_token_id), prompt_length)


def encode_record(tokenizer: PreTrainedTokenizerBase, record: TrainingRecord) -> EncodedRecord:
    """Encode one training record; see `encode_completion`.

    Raises:
        ModelError: As there, or if its answer is empty: then nothing but the end of the turn would be trained.
    """
    if not record.completion.strip():
        raise ModelError(f"training record '{record.record_id}' has an empty answer; leave the record out")
    encode = encode_completion if record.is_chat else encode_running_text
    encoded = encode(tokenizer, record.prompt, record.completion, subject=f"training record '{record.record_id}'")
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


@functools.lru_cache(maxsize=4)
def special_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Return the ids of control tokens: what a template writes and skip_special_tokens hides.

    Added tokens that are not special, such as Gemma's runs of newlines or HTML tags, are text.
    """
    added = (index for index, token in tokenizer.added_tokens_decoder.items() if token.special)
    return frozenset({*tokenizer.all_special_ids, *added})


def _generation_ids(tokenizer: PreTrainedTokenizerBase, chat: Sequence[Message]) -> tuple[int, ...]:
    """Return the tokens that `{% generation %}` marks; nothing when they come in several pieces."""
    encoded: Any = tokenizer.apply_chat_template(
        _dicts(chat), tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    marked = [index for index, bit in enumerate(encoded["assistant_masks"]) if bit]
    if not marked or marked[-1] - marked[0] + 1 != len(marked):
        return ()
    return tuple(encoded["input_ids"][marked[0] : marked[-1] + 1])


def _suffix(prompt_text: str, text: str, completion: str) -> str | None:
    """Return what the template writes after the inference prompt, or None where the two do not fit.

    Some templates open the turn with words of their own that a finished turn loses: Gemma 4 writes an empty thought
    channel in the inference prompt only. Then the finished turn follows the assistant header, and what is trained is
    the inference prompt with that turn after it, since training and inference must agree token for token.
    """
    if text.startswith(prompt_text):
        return text[len(prompt_text) :]
    pairs = enumerate(zip(prompt_text, text, strict=False))
    shared = next((index for index, (one, other) in pairs if one != other), len(text))
    return text[shared:] if prompt_text[:shared].strip() and text.startswith(completion, shared) else None


def _text_ids(tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[int, ...]:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def _control_tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> bool:
    return not special_ids(tokenizer).isdisjoint(_text_ids(tokenizer, text))


def _begin_fault(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str | None:
    """Say what is wrong with the begin token, if the tokenizer has one.

    Where it begins every text with one, a chat must have exactly one. Elsewhere the same token may open each turn, as
    in SmolLM2; two at the beginning are wrong there too.
    """
    begin = tokenizer.bos_token_id
    if begin is None:
        return None
    if tuple(ids[:2]) == (begin, begin):
        return "it begins with two BOS tokens; remove one from the template or the tokenizer"
    if tuple(tokenizer("x")["input_ids"])[:1] != (begin,):
        return None
    count = sum(token == begin for token in ids)
    if count != 1 or ids[0] != begin:
        return f"it holds {count} BOS tokens and needs one, at the beginning, as the tokenizer begins every text"
    return None
