"""The rules of a family that are decided without running a program: one list, wherever families are judged.

`catalog check`, `catalog audit` and the certification of a server ask the same list, before anything runs. What it
finds is public: texts, prompts and programs as their author wrote them, whichever candidate is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from leakscale.models import Ring
from leakscale_server.core.building.construction import Construction
from leakscale_server.core.checks.candidates_in_text import find_candidate_in_text
from leakscale_server.core.checks.prompt_length import TOKEN_COUNT_MAX, count_prompt_tokens
from leakscale_server.core.checks.structures import WRITTEN_RINGS, is_copied
from leakscale_server.core.checks.wordings import OTHER_WORDS_MIN, count_other_words
from leakscale_server.core.format.schema import Shape
from leakscale_server.core.format.text import with_plain_marks
from leakscale_server.core.judging.rejections import Rejection, RejectionReason

__all__ = ["FAMILY_RULES", "FamilyRule", "find_written_fault"]

FamilyRule = Callable[[Shape, Construction], Rejection | None]

_OPAQUE: Final = re.compile(r"\b(?:K-[0-9a-f]{4,}|h_[0-9a-f]{4})\b", re.IGNORECASE)
"""What a key or a handle looks like, in letters of either case."""


def _find_key(_shape: Shape, family: Construction) -> Rejection | None:
    """Find a second key, or a handle, in what a prompt shows around the candidates or among their values."""
    for form in family.forms:
        shown = (form.public.task, *form.public.inputs, *family.literals)
        opaque = _OPAQUE.search(with_plain_marks("\n".join(shown)))
        if opaque:
            return Rejection(RejectionReason.TEXT_NAMES_KEY, form.public.ring, found=opaque[0])
    return None


def _find_candidate(shape: Shape, _family: Construction) -> Rejection | None:
    for ring in WRITTEN_RINGS:
        found = find_candidate_in_text(shape, shape.rings.text(ring).task)
        if found:
            return Rejection(RejectionReason.TEXT_NAMES_CANDIDATE, ring, found=repr(found))
    return None


def _find_long_prompt(_shape: Shape, family: Construction) -> Rejection | None:
    for form in family.forms:
        count = count_prompt_tokens(form.public)
        if count > TOKEN_COUNT_MAX:
            reason = RejectionReason.PROMPT_TOO_LONG
            return Rejection(reason, form.public.ring, token_count=count, token_count_max=TOKEN_COUNT_MAX)
    return None


def _find_copied_task(shape: Shape, _family: Construction) -> Rejection | None:
    count = count_other_words(shape.rings.R0.task, shape.rings.R1.task)
    if count >= OTHER_WORDS_MIN:
        return None
    reason = RejectionReason.TASK_NOT_REWORDED
    return Rejection(reason, Ring.R1, word_count=count, word_count_min=OTHER_WORDS_MIN)


def _find_copied_program(shape: Shape, _family: Construction) -> Rejection | None:
    return Rejection(RejectionReason.PROGRAM_NOT_REWORDED, Ring.R1) if is_copied(shape) else None


FAMILY_RULES: Final[dict[RejectionReason, FamilyRule]] = {
    RejectionReason.TEXT_NAMES_KEY: _find_key,
    RejectionReason.TEXT_NAMES_CANDIDATE: _find_candidate,
    RejectionReason.PROMPT_TOO_LONG: _find_long_prompt,
    RejectionReason.TASK_NOT_REWORDED: _find_copied_task,
    RejectionReason.PROGRAM_NOT_REWORDED: _find_copied_program,
}
"""By the reason that each gives; they are asked in this order."""


def find_written_fault(shape: Shape, family: Construction) -> Rejection | None:
    """Return the first rule that a family breaks as it is written, if any."""
    return next(filter(None, (rule(shape, family) for rule in FAMILY_RULES.values())), None)
