"""What a prompt holds beside the words of its form.

Take a form's words out of its prompt, and what is left is the template, the few-shot examples and the options. That is
to be the same for every form of a parent, character for character. It sees what no declared setting says: a template
changed in code, other examples, an original that stands among its own examples.

It does not see what a provider adds after the log was written.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Final

from leakscale.audit.forms.models import FormBank, FormName
from leakscale.audit.importers.columns import Column, FormColumn
from leakscale.audit.importers.models import LoggedAnswer, PairingRule
from leakscale.errors import InvalidRequestError

__all__ = ["check_prompts", "prompt_frame"]

_SLOT: Final = "\N{WHITE SQUARE}"
_SHOWN_CHARACTERS: Final = 40


def prompt_frame(prompt: str, text: str) -> str | None:
    """Return a prompt with a square for the form's words wherever they stand; None if they stand nowhere.

    White space at the ends of the words, and JSON's way of writing them in a list of messages, make no difference.
    """
    words = text.strip()
    if words and words in prompt:
        return prompt.replace(words, _SLOT)
    escaped = json.dumps(words, ensure_ascii=False)[1:-1], json.dumps(words)[1:-1]
    return next((prompt.replace(each, _SLOT) for each in escaped if each and each in prompt), None)


def check_prompts(columns: Mapping[Column, FormColumn], parent_ids: Sequence[str], bank: FormBank | None) -> None:
    """Hold the prompts of each parent's forms against that of its original.

    Args:
        columns: Answers by form, the original among them.
        parent_ids: Parents to compare. A form without a score is not, for nothing is paired with it.
        bank: Where the words of each form stand; without it, the log's own are taken out of each prompt.

    Raises:
        InvalidRequestError: If a log holds no prompt, a prompt does not hold its form's words, two forms of a parent
            have the same words, or the rest differs.
    """
    texts = {} if bank is None else {name: form.text for parent in bank.parents for name, form in parent.forms()}
    original, *rewrites = sorted(columns.values(), key=lambda each: (str(each.column) != "original", each.column))
    for parent_id in parent_ids:
        if not _is_answered(original, parent_id):
            continue
        words, expected = _words_and_frame(original, parent_id, texts, has_bank=bank is not None)
        asked = {words: original}
        for form in rewrites:
            if _is_answered(form, parent_id):
                words, found = _words_and_frame(form, parent_id, texts, has_bank=bank is not None)
                if (first := asked.setdefault(words, form)) is not form:
                    raise InvalidRequestError(
                        f"log '{form.log.path}': form '{form.name(parent_id)}' has the very words of form "
                        f"{first.column} ('{first.log.path}'); pass the log of each form once"
                    )
                if found != expected:
                    raise _differing(form, parent_id, found, expected)


def _is_answered(form: FormColumn, parent_id: str) -> bool:
    """Return whether a form has a score; without one, nothing is paired with it."""
    answers = form.answers.get(parent_id, [])
    return bool(answers) and not any(answer.failure for answer in answers)


def _words_and_frame(
    form: FormColumn, parent_id: str, texts: Mapping[FormName, str], *, has_bank: bool
) -> tuple[str, str]:
    name = form.name(parent_id)
    first, *repeated = form.answers[parent_id]
    if has_bank and name not in texts:
        raise InvalidRequestError(
            f"log '{form.log.path}' answers form '{name}', which is not written in the bank; pass the bank that "
            "it was asked from"
        )
    words, frame = _split(form, name, first, texts.get(name, first.text))
    for answer in repeated:  # every epoch was asked, not only the first
        if (found := _split(form, name, answer, texts.get(name, answer.text))) != (words, frame):
            raise _differing(form, parent_id, found[1], frame, than=f"that of epoch {first.epoch}")
    return words, frame


def _split(form: FormColumn, name: FormName, answer: LoggedAnswer, text: str | None) -> tuple[str, str]:
    """Return the words of a form, and what its prompt holds beside them."""
    if answer.prompt is None or text is None:
        missing = "prompt" if answer.prompt is None else "text"
        rather = "name the field with the form's words (--text-key), or pass the bank (--bank)"
        mend = f"{rather}; or pass" if answer.prompt is not None else "pass"
        raise InvalidRequestError(
            f"log '{form.log.path}' holds no {missing} of form '{name}', so {PairingRule.PROMPT_TEMPLATE} cannot be "
            f"checked; {mend} --trust-prompts if you know that all forms were asked alike"
        )
    frame = prompt_frame(answer.prompt, text)
    if frame is None:
        raise InvalidRequestError(
            f"log '{form.log.path}': the prompt of form '{name}' does not hold its words {text.strip()[:40]!r}; check "
            "which log is which form, and which field is the parent's id (--key)"
        )
    return text.strip(), frame


def _differing(
    form: FormColumn, parent_id: str, found: str, expected: str, *, than: str = "the original's"
) -> InvalidRequestError:
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(found, expected, strict=False))
    start = sum(1 for _ in alike)
    begin = max(0, start - _SHOWN_CHARACTERS // 2)
    ours, theirs = (each[begin : begin + _SHOWN_CHARACTERS] for each in (found, expected))
    return InvalidRequestError(
        f"log '{form.log.path}': {PairingRule.PROMPT_TEMPLATE}: around its words, the prompt of form "
        f"'{form.name(parent_id)}' reads {ours!r} where {than} reads {theirs!r} (character {start}); ask all "
        "forms with one template and the same examples"
    )
