"""What a positive control leaks: which parents, which of their forms, as which training records.

Source: CleanScore 7.11 (a random half of the parents, mixed into unrelated records), 7.13 (form of an exposure record),
7.15 (a mixture of the same size in which nothing is planted).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from leakscale.audit.answering.asks import Ask, asks_of
from leakscale.audit.checks.corpus import check_corpus
from leakscale.audit.controls.plan import ControlPlan, ExposureKind, ExposureTable
from leakscale.audit.controls.readability import Leak, require_readable
from leakscale.audit.forms.models import Criterion, Form, FormBank, FormKind, FormName, Parent
from leakscale.audit.registration.plan import AuditPlan
from leakscale.background import background_records, load_recipe
from leakscale.digests import json_digest
from leakscale.errors import InvalidRequestError
from leakscale.models import Message, TrainingRecord, TrainingSource
from leakscale.whole_files import write_whole

__all__ = ["Planted", "assigned", "plant"]

_SLOT: Final = re.compile(r"\{(question|options|gold|option)\}")


@dataclass(frozen=True, slots=True)
class Planted:
    """The two mixtures of a control."""

    exposed: tuple[str, ...]
    """Ids of the exposed parents, in draw order."""
    names: tuple[FormName, ...]
    """The leaked forms."""
    mixture: tuple[TrainingRecord, ...]
    null: tuple[TrainingRecord, ...]
    """As many records, none of which leaks anything; empty where no null run is planned."""
    shows_other_prompt: bool
    """Whether a record shows another prompt than the scorer asks; what was learned may then not come up."""

    def digests(self) -> dict[str, str]:
        """Return hex SHA-256 over each mixture."""
        return {name: json_digest(_rows(records)).hex() for name, records in self.files().items()}

    def files(self) -> dict[str, tuple[TrainingRecord, ...]]:
        """Return the mixtures by the names of their files, without the ending."""
        return {"mixture": self.mixture} | ({"null": self.null} if self.null else {})


def plant(bank: FormBank, plan: AuditPlan, control: ControlPlan, *, folder: Path, work: Path) -> Planted:
    """Assign, write and check both mixtures, before anything is trained.

    Args:
        bank: The locked bank of the audit.
        plan: Of the audit: its prompt, and what its scorer reads.
        control: What is to be leaked.
        folder: Where the recipe lies.
        work: Private folder for the mixtures as files.

    Raises:
        InvalidRequestError: If the audit's scorer cannot read what is planted, the forms that are to be leaked do not
            exist, the recipe is too small, or a mixture holds a form of the bank that it must not.
    """
    chosen = set(assigned(bank, control.exposure))
    asks = {ask.name: ask for ask in asks_of(bank, plan) if not ask.is_rerun and ask.number == 0}
    leaks = [_leak(parent, asks, control) for parent in bank.parents if parent.parent_id in chosen]
    records = [_record(leak, plan, control.exposure) for leak in leaks]
    for leak, record in zip(leaks, records, strict=True):
        require_readable(record, leak, plan, control=control.name)
    planted = _mixtures(records, leaks, control, folder)
    _require_apart(bank, planted, work, control)
    return planted


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


def _leak(parent: Parent, asks: Mapping[FormName, Ask], control: ControlPlan) -> Leak:
    name, form = FormName(parent.parent_id, FormKind.ORIGINAL), parent.original
    if control.exposure.kind is ExposureKind.PARAPHRASE:
        name, form = _paraphrase(parent, control)
    return Leak(name, form, parent.criterion, asks[name])


def _paraphrase(parent: Parent, control: ControlPlan) -> tuple[FormName, Form]:
    number, forms = control.exposure.fresh, parent.fresh
    form = forms[number - 1] if number <= len(forms) else None
    if form is None or len(forms) < 2:
        raise InvalidRequestError(
            f"control '{control.name}': parent '{parent.parent_id}' has {len(forms)} fresh forms; leaking number "
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


def _mixtures(records: Sequence[TrainingRecord], leaks: Sequence[Leak], control: ControlPlan, folder: Path) -> Planted:
    path, count = folder / control.mixture.recipe, control.mixture.record_count
    if count <= len(records):
        raise InvalidRequestError(
            f"control '{control.name}': mixture.record_count {count} leaves no room beside the {len(records)} leaked "
            "records; a leak is mixed into something"
        )
    needed = count if control.training.null_run else count - len(records)
    unrelated = background_records(load_recipe(path), folder=path.parent)
    if len(unrelated) < needed:
        raise InvalidRequestError(
            f"control '{control.name}': recipe '{path.name}' writes {len(unrelated)} records, and {needed} are needed; "
            "raise its counts"
        )
    filler = tuple(replace(record, source=TrainingSource.FILLER) for record in unrelated[:needed])
    return Planted(
        exposed=tuple(leak.name.parent_id for leak in leaks),
        names=tuple(leak.name for leak in leaks),
        mixture=(*records, *filler[: count - len(records)]),
        null=filler if control.training.null_run else (),
        shows_other_prompt=any(
            record.prompt != leak.ask.prompt.turns for record, leak in zip(records, leaks, strict=True)
        ),
    )


def _require_apart(bank: FormBank, planted: Planted, work: Path, control: ControlPlan) -> None:
    """Refuse a mixture that holds a form of the bank which is not leaked on purpose."""
    for stem, records in planted.files().items():
        path = work / f"{stem}.jsonl"
        write_whole(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _rows(records)).encode())
        leaked = set(planted.names) if stem == "mixture" else set()
        strays = [finding for finding in check_corpus(bank, [path], with_originals=True) if finding.form not in leaked]
        if strays:
            raise InvalidRequestError(
                f"control '{control.name}': form '{strays[0].form}' stands in the {stem} and is not leaked on purpose; "
                "take it out of the recipe"
            )


def _rows(records: Sequence[TrainingRecord]) -> list[dict[str, object]]:
    return [
        {
            "id": record.record_id,
            "source": str(record.source),
            "prompt": [[turn.role, turn.content] for turn in record.prompt],
            "completion": record.completion,
            "is_chat": record.is_chat,
        }
        for record in records
    ]
