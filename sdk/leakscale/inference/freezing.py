"""Freeze a bank: render and tokenize every question once, before any model is asked.

Source: LeakScale F.1 (frozen cases), B.1 (evaluation-facing choice prompt).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from leakscale.adaptation.loading import ModelFolder, open_model_folder
from leakscale.adaptation.rendering import encode_completion, encode_prompt
from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.inference.cases import BANK_FORMAT, PLAN_MEND, FrozenBank, Question, families_digest, plan_lines
from leakscale.inference.lines import read_header
from leakscale.models import Family, Message
from leakscale.prompts import choice_prompt
from leakscale.whole_files import replacing

__all__ = ["encode_question", "freeze_bank"]


def freeze_bank(
    path: Path,
    families: Sequence[Family],
    *,
    model: str | Path | ModelFolder,
    bank_seed: int,
    draw_count: int,
) -> FrozenBank:
    """Write a bank, or open the one that is there if it asks exactly the same.

    The file appears whole or not at all, and its bytes do not depend on the order of the families.

    Args:
        path: Where it is, or goes.
        families: Public families, each once a ring, in any order.
        model: Whose tokenizer and chat template render the prompts: a folder, a Hugging Face id, or an open folder.
        bank_seed: Root of the seeds of all draws.
        draw_count: Draws a question; 32 in the paper.

    Raises:
        InvalidRequestError: If `draw_count` is below one, a family comes twice, or two candidates read the same.
        ModelError: If the model cannot be opened, or a question cannot be rendered under its chat template.
        ConflictError: If the bank at `path` asks something else; the message names what differs.
        IntegrityError: If the bank at `path` is not as it was frozen; the message names the line.
    """
    if draw_count < 1:
        raise InvalidRequestError(f"draw_count is {draw_count}; ask for at least one draw a family")
    ordered = _checked(families)
    folder = model if isinstance(model, ModelFolder) else open_model_folder(model)
    header = {
        "format": BANK_FORMAT,
        "bank_seed": str(bank_seed),  # as text: JSON readers round large integers
        "draw_count": draw_count,
        "question_count": len(ordered),
        "tokenizer": folder.tokenizer_digest,
        "template": folder.template_digest,
        "families": families_digest(ordered),
    }
    if path.exists():
        _check_same(path, header)
        return FrozenBank(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as opened:
        questions = (encode_question(folder.tokenizer, family, index=index) for index, family in enumerate(ordered))
        opened.writelines(plan_lines(header, questions))
    return FrozenBank(path)


def encode_question(tokenizer: PreTrainedTokenizerBase, family: Family, *, index: int = 0) -> Question:
    """Render a family's prompt and its four answers exactly as training does.

    Raises:
        ModelError: If an answer cannot be masked under the tokenizer's chat template.
        InvalidRequestError: If two candidates read the same to the model, or one answer begins another.
    """
    prompt = choice_prompt(family)
    answers = tuple(candidate.answer for candidate in family.candidates)
    subject = f"family '{family.family_id}'"
    answer_ids = tuple(
        encode_completion(tokenizer, prompt, answer, subject=subject).completion_ids for answer in answers
    )
    for one, other in pairwise(sorted(answer_ids)):
        if other[: len(one)] == one:
            raise InvalidRequestError(f"{subject} has two candidates with one answer string; certify it again")
    prompt_ids = encode_prompt(tokenizer, prompt)
    unasked = encode_prompt(tokenizer, [*prompt[:-1], Message(prompt[-1].role, "")])
    return Question(
        index=index,
        family_id=family.family_id,
        domain=family.domain,
        ring=family.ring,
        prompt=prompt,
        prompt_ids=prompt_ids,
        answers=answers,
        answer_ids=answer_ids,
        shared_length=_common_length(prompt_ids, unasked),
    )


def _common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two prompts begin with alike, at most all but the last of the first."""
    pairs = zip(one[:-1], other, strict=False)
    return next((place for place, (left, right) in enumerate(pairs) if left != right), min(len(one) - 1, len(other)))


def _checked(families: Sequence[Family]) -> list[Family]:
    ordered = sorted(families, key=lambda family: (family.family_id, family.ring.value))
    for one, other in pairwise(ordered):
        if (one.family_id, one.ring) == (other.family_id, other.ring):
            raise InvalidRequestError(f"family '{one.family_id}' comes twice; a bank asks each family once a ring")
    return ordered


def _check_same(path: Path, wanted: dict[str, Any]) -> None:
    found = read_header(path, mend=PLAN_MEND)
    differing = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
    if differing:
        changes = json.dumps({name: [found.get(name), wanted.get(name)] for name in differing})
        raise ConflictError(
            f"bank '{path}' was frozen with another {', '.join(differing)} ({changes}); choose another place, or "
            "delete it with its answers"
        )
