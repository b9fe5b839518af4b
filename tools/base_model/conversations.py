"""Chats that teach the form of the task: choose, repeat the candidates, choose again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from base_model.families import json_list, rng_of, synthetic_family
from base_model.tokenizer import END, START, render
from leakscale.models import Family, Message
from leakscale.prompts import choice_prompt

__all__ = ["BRANCH_SLOTS", "Example", "conversation_examples"]

BRANCH_SLOTS = 12
"""Least common multiple of 1 to 4: every distribution over compatible candidates has whole slots."""


@dataclass(frozen=True, slots=True)
class Example:
    """One chat as tokens."""

    ids: list[int]
    supervised: list[bool]
    """True for every token of an assistant turn, its end token included."""
    branches: list[tuple[int, tuple[int, ...]]]
    """(position, next tokens of the candidates still compatible there, in `BRANCH_SLOTS` slots)."""


def conversation_examples(
    tokenizer: PreTrainedTokenizerFast, *, seed: str, count: int, turn_count: int
) -> list[Example]:
    """Build `count` chats of `turn_count` requests after the first choice."""
    families = [synthetic_family(seed, index) for index in range(count)]
    chats = [render(_chat(family, seed, index, turn_count)) for index, family in enumerate(families)]
    answers = [f"{candidate.answer}{END}" for family in families for candidate in family.candidates]
    encode = tokenizer.backend_tokenizer.encode_batch
    chat_ids = [encoding.ids for encoding in encode(chats, add_special_tokens=False)]
    answer_ids = [encoding.ids for encoding in encode(answers, add_special_tokens=False)]
    turns = _AssistantTurns(tokenizer)
    return [turns.example(ids, answer_ids[4 * index : 4 * index + 4]) for index, ids in enumerate(chat_ids)]


def _chat(family: Family, seed: str, index: int, turn_count: int) -> Iterator[Message]:
    rng = rng_of("conversation", seed, index)
    yield from choice_prompt(family)
    yield Message("assistant", rng.choice(family.candidates).answer)
    shuffled = rng.sample(family.candidates, 4)
    yield Message("user", f"Repeat: {' '.join(candidate.text for candidate in shuffled)}")
    yield Message("assistant", json_list(shuffled))
    for _ in range(turn_count - 1):
        yield Message("user", "Choose again.")
        yield Message("assistant", rng.choice(family.candidates).answer)


class _AssistantTurns:
    """Finds the assistant turns of a tokenized chat, and the branches of those that choose."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self._header = tokenizer.encode(f"{START}assistant\n", add_special_tokens=False)
        (self._end,) = tokenizer.encode(END, add_special_tokens=False)

    def example(self, ids: list[int], answers: Sequence[list[int]]) -> Example:
        supervised = [False] * len(ids)
        branches: list[tuple[int, tuple[int, ...]]] = []
        for start in self._starts(ids):
            stop = ids.index(self._end, start) + 1
            supervised[start:stop] = [True] * (stop - start)
            if ids[start:stop] in answers:
                branches += [(start + depth, slots) for depth, slots in _branches(ids[start:stop], answers)]
        return Example(ids, supervised, branches)

    def _starts(self, ids: list[int]) -> Iterator[int]:
        length = len(self._header)
        for position in range(len(ids) - length):
            if ids[position : position + length] == self._header:
                yield position + length


def _branches(chosen: list[int], answers: Sequence[list[int]]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each depth at which the answers that share the chosen prefix go on differently."""
    for depth in range(len(chosen)):
        following = [answer[depth] for answer in answers if answer[:depth] == chosen[:depth]]
        if len(set(following)) > 1:
            yield depth, tuple(following[slot % len(following)] for slot in range(BRANCH_SLOTS))
