"""The four mixtures of a validation study.

Source: CleanScore 5 (clean control, related-task control, exact and paraphrase exposure, all of one size).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from leakscale.audit.controls.leaks import assigned, leaked_records
from leakscale.audit.controls.mixtures import filler_records, mixture_digest, require_apart
from leakscale.audit.forms import FormBank, FormName, Parent
from leakscale.audit.registration.plan import AuditPlan
from leakscale.audit.validation.plan import Condition, ValidationPlan
from leakscale.audit.word_problems import write_problems
from leakscale.models import TrainingRecord, TrainingSource

__all__ = ["Mixtures", "write_mixtures"]

_EXPOSED = (Condition.EXACT, Condition.PARAPHRASE)


@dataclass(frozen=True, slots=True)
class Mixtures:
    """What each condition trains on."""

    exposed: tuple[str, ...]
    """Ids of the exposed parents, the same in both exposed conditions."""
    records: Mapping[Condition, tuple[TrainingRecord, ...]]

    def digests(self) -> dict[str, str]:
        """Return hex SHA-256 over each mixture."""
        return {str(condition): mixture_digest(records) for condition, records in self.records.items()}


def write_mixtures(bank: FormBank, plan: AuditPlan, study: ValidationPlan, *, folder: Path, work: Path) -> Mixtures:
    """Write the four mixtures, and see that nothing of the bank is in one but what it leaks.

    Args:
        bank: The locked bank.
        plan: Of the audit.
        study: What the mixtures are made of.
        folder: That of the study's file.
        work: Private folder for the mixtures as files.

    Raises:
        InvalidRequestError: As `leaked_records`, `filler_records` and `require_apart`.
    """
    subject, table = f"study '{study.name}'", study.mixture
    exposed = assigned(bank, study.exposure.of(Condition.EXACT))
    practice = _practice(plan, study)
    filler = filler_records(folder / table.recipe, table.record_count, subject=subject)
    mixed: dict[Condition, tuple[TrainingRecord, ...]] = {}
    for condition in Condition:
        names: tuple[FormName, ...] = ()
        records = () if condition is Condition.CLEAN else practice
        if condition in _EXPOSED:
            leaked = leaked_records(bank, plan, study.exposure.of(condition), exposed, subject=subject)
            records, names = (*leaked.records, *records), leaked.names
        mixed[condition] = (*records, *filler[: table.record_count - len(records)])
        require_apart(bank, mixed[condition], work / f"{condition}.jsonl", leaked=names, subject=subject)
    return Mixtures(exposed, mixed)


def _practice(plan: AuditPlan, study: ValidationPlan) -> tuple[TrainingRecord, ...]:
    """Write word problems of the same kind in wordings that neither the public nor the fresh forms have."""
    written = write_problems(study.mixture.practice_count, seed=study.bank.seed + 1, prefix="practice")
    in_deep_wording = [_only_deep(parent) for parent in written.parents]
    records = leaked_records(
        FormBank(tuple(in_deep_wording)),
        plan,
        study.exposure.of(Condition.EXACT),
        [parent.parent_id for parent in in_deep_wording],
        subject=f"practice of study '{study.name}'",
    ).records
    return tuple(
        replace(record, record_id=record.record_id.removeprefix("planted/"), source=TrainingSource.FILLER)
        for record in records
    )


def _only_deep(parent: Parent) -> Parent:
    form = parent.deep[0]
    assert form is not None  # noqa: S101 - word problems have one
    return replace(parent, original=form, fresh=(), deep=())
