"""From parents to leaked records: which parents, which of their forms, as what text.

Source: CleanScore 7.11 (a random half of the parents), 7.13 (form of an exposure record).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from leakscale.audit.answering.asks import Ask, asks_of
from leakscale.audit.controls.plan import ExposureKind, ExposureTable
from leakscale.audit.controls.readability import Leak, require_readable
from leakscale.audit.forms.models import Criterion, Form, FormBank, FormKind, FormName, Parent
from leakscale.audit.registration.plan import AuditPlan
from leakscale.errors import InvalidRequestError
from leakscale.models import Message, TrainingRecord, TrainingSource

__all__ = ["LeakedRecords", "assigned", "leaked_records"]

_SLOT: Final = re.compile(r"\{(question|options|gold|option)\}")


@dataclass(frozen=True, slots=True)
class LeakedRecords:
    """The records that leak something."""

    records: tuple[TrainingRecord, ...]
    names: tuple[FormName, ...]
    """The leaked form of each."""
    generated: tuple[tuple[TrainingRecord, Leak], ...]
    """Those whose answer the audit has generated, and does not choose among options, with what they leak."""
    shows_other_prompt: bool
    """Whether a record shows another prompt than the scorer asks; what was learned may then not come up."""


def assigned(bank: FormBank, exposure: ExposureTable) -> tuple[str, ...]:
    """Return the ids of the exposed parents; they depend on seed and ids alone.

    Raises:
        InvalidRequestError: If fewer than two parents would be exposed, or fewer than two untouched.
    """
    ids = [parent.parent_id for parent in bank.parents]
    count = round(exposure.share * len(ids))
    if not 2 <= count <= len(ids) - 2:
        raise InvalidRequestError(
            f"exposure.share {exposure.share:g} exposes {count} of {len(ids)} parents; both groups need at least 2"
        )
    chosen = set(sorted(ids, key=lambda each: _rank(each, exposure.seed))[:count])
    return tuple(each for each in ids if each in chosen)


def _rank(parent_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"leakscale-plant-v1/{seed}/{parent_id}".encode()).digest()


def leaked_records(
    bank: FormBank, plan: AuditPlan, exposure: ExposureTable, exposed: Collection[str], *, subject: str
) -> LeakedRecords:
    """Write the record of each exposed parent, in draw order, and put it to the audit's scorer.

    Args:
        bank: The audited bank.
        plan: Of the audit: its prompt, and what its scorer reads.
        exposure: Which form is leaked, as what text.
        exposed: Ids of the exposed parents.
        subject: What the leak is of, for messages, e.g. `control 'exact'`.

    Raises:
        InvalidRequestError: If a form that is to be leaked does not exist, or the scorer cannot read what is planted.
    """
    asks = {ask.name: ask for ask in asks_of(bank, plan) if not ask.is_rerun and ask.number == 0}
    chosen = [parent for parent in bank.parents if parent.parent_id in exposed]
    leaks = [_leak(parent, asks, exposure, subject) for parent in chosen]
    records = [_record(leak, plan, exposure) for leak in leaks]
    for leak, record in zip(leaks, records, strict=True):
        require_readable(record, leak, plan, subject=subject)
    return LeakedRecords(
        tuple(records),
        tuple(leak.name for leak in leaks),
        tuple((record, leak) for record, leak in zip(records, leaks, strict=True) if not leak.ask.options),
        any(record.prompt != leak.ask.prompt.turns for record, leak in zip(records, leaks, strict=True)),
    )


def _leak(parent: Parent, asks: Mapping[FormName, Ask], exposure: ExposureTable, subject: str) -> Leak:
    name, form = FormName(parent.parent_id, FormKind.ORIGINAL), parent.original
    if exposure.kind is ExposureKind.PARAPHRASE:
        name, form = _paraphrase(parent, exposure, subject)
    return Leak(name, form, parent.criterion, asks[name])


def _paraphrase(parent: Parent, exposure: ExposureTable, subject: str) -> tuple[FormName, Form]:
    number, forms = exposure.fresh, parent.fresh
    form = forms[number - 1] if number <= len(forms) else None
    if form is None or len(forms) < 2:
        raise InvalidRequestError(
            f"{subject}: parent '{parent.parent_id}' has {len(forms)} fresh forms; leaking number "
            f"{number} takes that one, and another that stays unseen"
        )
    return FormName(parent.parent_id, FormKind.FRESH, number), form


def _record(leak: Leak, plan: AuditPlan, exposure: ExposureTable) -> TrainingRecord:
    form = leak.form
    slots = {
        "question": form.text,
        "options": "\n".join(f"{option.label}. {option.text}" for option in form.options),
        "gold": form.gold,
        "option": next((option.text for option in form.options if option.label == form.gold), ""),
    }
    turns = (Message("user", _filled(exposure.prompt, slots)),) if exposure.prompt else leak.ask.prompt.turns
    completion = _filled(exposure.completion or _readable_completion(leak.criterion, plan), slots)
    return TrainingRecord(
        f"planted/{leak.name}", TrainingSource.PLANTED, turns, completion, is_chat=leak.ask.prompt.is_chat
    )


def _readable_completion(criterion: Criterion, plan: AuditPlan) -> str:
    if criterion is Criterion.CHOICE:
        return " {option}"
    if criterion is Criterion.NUMERIC and plan.prompt.answer_phrase:
        return f"{plan.prompt.answer_phrase} {{gold}}."
    return "{gold}"


def _filled(template: str, slots: dict[str, str]) -> str:
    """Fill the slots in one pass: what a question itself has in braces stays as it is."""
    return _SLOT.sub(lambda match: slots[match[1]], template)
