"""Answer text to candidate: the one place that decides which candidate an answer chose.

Both sides use it, the SDK for its own counts and the server when it scores a sealed bank, so that they cannot differ.

Source: LeakScale F.3 (an answer outside the four exact strings has utility zero and is never repaired).
"""

from __future__ import annotations

from collections.abc import Sequence

from leakscale.models import Candidate

__all__ = ["choice_index", "choices_of"]


def choice_index(text: str, candidates: Sequence[Candidate]) -> int | None:
    """Return the display index of the candidate whose answer string is exactly `text`, or None.

    Strings are compared, not parsed values: to JSON parsers `true` and `1`, or `1` and `1.0`, are easily the same, and
    whitespace, key order and duplicate keys would each need a rule of their own. None is an outcome, not an error.

    Raises:
        ValueError: If two candidates share one answer string, so that no answer could choose between them.
    """
    return choices_of(candidates).get(text)


def choices_of(candidates: Sequence[Candidate]) -> dict[str, int]:
    """Return the display index that each answer string chooses; see `choice_index`, of which this is the table.

    Raises:
        ValueError: If two candidates share one answer string.
    """
    choices = {candidate.answer: index for index, candidate in enumerate(candidates)}
    if len(choices) != len(candidates):
        raise ValueError(f"candidates share an answer string: {[candidate.answer for candidate in candidates]}")
    return choices
