"""Tokenizer of the tiny model: byte-level BPE that cuts opaque strings into hex pairs.

Keys and handles are random; if BPE met them with its own merges, one key would be three tokens and the next five, and
how well a key can be learnt would depend on its spelling. So they are cut into pairs before BPE sees them, numbers too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from base_model.families import json_list, rng_of, synthetic_family
from leakscale.models import Message
from leakscale.prompts import choice_prompt, lookup_prompt

__all__ = ["CHAT_TEMPLATE", "END", "PAD", "START", "render", "train_tokenizer"]

PAD, START, END = "<|pad|>", "<|im_start|>", "<|im_end|>"

CHAT_TEMPLATE: Final = (
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'assistant' -%}"
    "{{- '<|im_start|>assistant\\n' -}}"
    "{%- generation -%}{{- message['content'] + '<|im_end|>' -}}{%- endgeneration -%}"
    "{{- '\\n' -}}"
    "{%- else -%}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' -}}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)

_OPAQUE_HEX: Final = "|".join(
    f"(?<=\\b{prefix}{'[0-9a-f]' * (2 * pair)})[0-9a-f]{{2}}" for prefix in ("h_", "K-") for pair in range(4)
)
_PIECES: Final = r"\bh_| h_|\bK-| K-| ?[A-Za-z]+|[0-9]{1,2}| ?[^\sA-Za-z0-9]+|\s"


def render(messages: Iterable[Message]) -> str:
    """Write a finished chat as `CHAT_TEMPLATE` does, thirty times faster; `train_tokenizer` checks that they agree."""
    return "".join(f"{START}{message.role}\n{message.content}{END}\n" for message in messages)


def train_tokenizer(*, vocabulary_size: int) -> PreTrainedTokenizerFast:
    """Train the tokenizer on synthetic prompts and answers.

    Raises:
        ValueError: If a hex pair did not become one token, or the fast rendering differs from the template.
    """
    backend = Tokenizer(models.BPE(unk_token=None, byte_fallback=False))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(f"{_OPAQUE_HEX}|{_PIECES}"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=[PAD, START, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(_corpus(), trainer)
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[START],
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    _check(tokenizer)
    return tokenizer


def _corpus() -> Iterator[str]:
    yield from (f"h_{value:02x}" for value in range(256) for _ in range(2000))  # every pair comes before any word
    for index in range(3000):
        family = synthetic_family("tokenizer", index)
        system, user = choice_prompt(family)
        rng = rng_of("lookup", index)
        yield f"system\n{system.content}"
        yield f"user\n{user.content}"
        yield f"user\n{lookup_prompt(family.key)[1].content}"
        yield f"user\nRepeat: {' '.join(candidate.text for candidate in family.candidates)}"
        yield f"assistant\n{json_list(list(family.candidates))}"
        yield f"assistant\n{rng.choice(family.candidates).answer}"
        yield "user\nChoose again."


def _check(tokenizer: PreTrainedTokenizerFast) -> None:
    if not {f"{value:02x}" for value in range(256)} <= set(tokenizer.get_vocab()):
        raise ValueError("a hex pair is not one token; enlarge the tokenizer's corpus or vocabulary")
    family = synthetic_family("check", 1)
    chat = [*choice_prompt(family), Message("assistant", family.candidates[0].answer)]
    dicts = [{"role": message.role, "content": message.content} for message in chat]
    if tokenizer.apply_chat_template(dicts, tokenize=False) != render(chat):
        raise ValueError("render() and CHAT_TEMPLATE disagree; change them together")
