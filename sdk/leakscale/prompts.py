"""The words a model reads: choice prompt, direct-lookup prompt, and the four answers it may give.

Training, inference and the server's corpus all render through this module, so that the prompt of a case and the prompt
of its training record agree character for character.

Source: LeakScale B.1 (evaluation-facing choice prompt) and D.1 (exact-public and direct-lookup records).
"""

from __future__ import annotations

import json

from leakscale.models import Family, Message

__all__ = ["SYSTEM_PROMPT", "choice_prompt", "compact_answer", "lookup_prompt"]

SYSTEM_PROMPT = "Pick one candidate. Reply with JSON only."


def choice_prompt(family: Family) -> tuple[Message, ...]:
    """Render the public task of a family as a request for one of its four candidates.

    The text holds the task, the inputs, the opaque key and the candidates in display order. It never holds the
    association, a fixture, an expected output, a reference artifact or the condition.
    """
    lines = [
        f"Task: {family.task}",
        *(f"Input: {line}" for line in family.inputs),
        f"Policy key: {family.key}",
        "Candidates:",
        *(f"{position}. {candidate.text}" for position, candidate in enumerate(family.candidates, start=1)),
        'Answer: {"choice": candidate}',
    ]
    return Message("system", SYSTEM_PROMPT), Message("user", "\n".join(lines))


def lookup_prompt(key: str) -> tuple[Message, ...]:
    """Ask for the value registered under a policy key, without the task around it."""
    return Message("system", SYSTEM_PROMPT), Message("user", f"Which value is registered for policy key {key}?")


def compact_answer(value: str | int | float | bool | None) -> str:
    """Write the one answer string that chooses `value`: compact JSON with the value's own type."""
    return json.dumps({"choice": value}, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
