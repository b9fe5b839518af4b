"""How many tokens a prompt has.

A tokenizer is a model's own, so tokens are counted by a rule: two letters of a word, two digits, a mark and a line's
end are one each. The tokenizer of the demo's model, whose vocabulary is tiny, needs fewer on each prompt that ships.
"""

from __future__ import annotations

import re
from typing import Final

from leakscale.models import Family
from leakscale.prompts import choice_prompt

__all__ = ["TOKEN_COUNT_MAX", "count_prompt_tokens", "count_tokens"]

TOKEN_COUNT_MAX: Final = 256
"""A quarter of the context of the smallest model that a study names; the rest is for training records around it."""

_TOKEN: Final = re.compile(r"[^\W\d_]{1,2}|\d{1,2}|[^\w \t]|_")


def count_prompt_tokens(family: Family) -> int:
    """Count the tokens of everything that a model is shown of a family."""
    return sum(count_tokens(message.content) for message in choice_prompt(family))


def count_tokens(text: str) -> int:
    """Count the tokens of a text by the rule above."""
    return len(_TOKEN.findall(text))
