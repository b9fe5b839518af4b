"""What a model is asked: every form of a bank under the registered prompt, in one order.

Source: CleanScore 7.1.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.forms.models import Criterion, Form, FormBank, FormName
from leakscale.audit.registration.fields import PromptTable
from leakscale.audit.registration.plan import AuditPlan
from leakscale.inference.forms import FormPrompt

__all__ = ["Ask", "asks_of"]

_QUESTION: Final = "{question}"


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a model."""

    name: FormName
    prompt: FormPrompt
    options: tuple[str, ...]
    """What may come next, with the space before it; empty where the answer is generated."""
    number: int = 0
    """Which of the form's answers, from 0."""
    is_rerun: bool = False
    """Asked again to see whether the same question gets the same answer; never scored."""

    @property
    def key(self) -> tuple[str, int, bool]:
        """What tells this question from every other of the run."""
        return str(self.name), self.number, self.is_rerun

    def is_answered_by(self, answer: FormAnswer) -> bool:
        """Tell whether an answer is of the kind that is asked for: a text, or a score of every option."""
        return bool(self.options) is (answer.generated is None) and len(answer.options) == len(self.options)

    def seed(self, root: int) -> bytes:
        """Return the 32 bytes from which this answer is drawn; a rerun's are those of the first time."""
        identity = "\x1f".join(("leakscale-form-v1", str(root), str(self.name), str(self.number)))
        return hashlib.sha256(identity.encode()).digest()


def asks_of(bank: FormBank, plan: AuditPlan) -> Iterator[Ask]:
    """Yield every question: the forms of each parent in draw order, then those that are asked twice.

    Which forms are asked twice depends on the registered seed alone.
    """
    first = [
        ask
        for parent in bank.parents
        for name, form in parent.forms()
        for ask in _asks(name, form, parent.criterion, plan)
    ]
    yield from first
    count = math.ceil(plan.scoring.rerun_share * len(first))
    if count:
        rng = np.random.Generator(np.random.PCG64(plan.decoding.seed))
        for index in sorted(rng.choice(len(first), size=count, replace=False).tolist()):
            yield replace(first[index], is_rerun=True)


def _asks(name: FormName, form: Form, criterion: Criterion, plan: AuditPlan) -> Iterator[Ask]:
    if criterion is Criterion.CHOICE:
        yield Ask(name, _choice_prompt(form, plan.prompt), tuple(f" {option.text}" for option in form.options))
        return
    prompt = _prompt(form, plan.prompt)
    for number in range(plan.decoding.answer_count):
        yield Ask(name, prompt, (), number)


def _prompt(form: Form, table: PromptTable) -> FormPrompt:
    question = "\n\n".join((*table.few_shot, table.template.replace(_QUESTION, form.text)))
    if table.uses_chat_template:
        return FormPrompt.of_chat(question, system=table.system)
    return FormPrompt.of_text("\n\n".join(filter(None, (table.system, question))))


def _choice_prompt(form: Form, table: PromptTable) -> FormPrompt:
    """Return the plain text that each option continues; a chat template would end the turn before it."""
    question = table.choice_template.replace(_QUESTION, form.text)
    return FormPrompt.of_text("\n\n".join(filter(None, (table.system, *table.few_shot, question))))
