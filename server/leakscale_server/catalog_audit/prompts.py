"""Whether every prompt stays within a number of tokens in every ring.

A tokenizer is a model's own, so tokens are counted by a rule: two letters of a word, two digits, a mark and a line's
end are one each. The tokenizer of the demo's model, whose vocabulary is tiny, needs fewer on each prompt that ships.
"""

from __future__ import annotations

import re
from typing import Final

from leakscale.models import Ring
from leakscale.prompts import choice_prompt
from leakscale_server.catalog_audit.findings import Finding, find
from leakscale_server.catalog_audit.material import Material

__all__ = ["TOKEN_COUNT_MAX", "check_prompts", "count_tokens"]

TOKEN_COUNT_MAX: Final = 256
"""A quarter of the context of the smallest model that a study names; the rest is for training records around it."""

_TOKEN: Final = re.compile(r"[^\W\d_]{1,2}|\d{1,2}|[^\w \t]|_")


def check_prompts(material: Material) -> Finding:
    """Check the prompts of every family against the budget."""
    counts = {
        (public.family_id, public.ring): sum(count_tokens(message.content) for message in choice_prompt(public))
        for _, public in material.forms()
    }
    longest = {ring: max(count for (_, each), count in counts.items() if each is ring) for ring in Ring}
    checked = f"{len(counts):,} prompts of at most {' / '.join(str(longest[ring]) for ring in Ring)} tokens"
    faults = (
        f"{family_id} in {ring} has a prompt of {count} tokens, and at most {TOKEN_COUNT_MAX} may be; "
        "shorten the task, the words or the number of inputs"
        for (family_id, ring), count in counts.items()
        if count > TOKEN_COUNT_MAX
    )
    return find("prompts", checked, faults)


def count_tokens(text: str) -> int:
    """Count the tokens of a text by the rule above."""
    return len(_TOKEN.findall(text))
