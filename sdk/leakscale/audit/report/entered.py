"""What a report has to tell although it has no number: read from the ledger, so nothing is left out by its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.registering import registered_control, runs_of
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amending import registration_of
from leakscale.audit.registration.ledger import EntryKind, LedgerEntry
from leakscale.audit.registration.models import Amendment
from leakscale.audit.registration.standing import Standing

__all__ = ["ImportedLog", "OpenControl", "amendment_words", "imported_logs", "open_controls", "was_run"]


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """A log that was imported, and what its import overlooked."""

    file: str
    """Of the scores, in the audit's folder."""
    logged_model: str
    """What the log calls the model; empty where it names none."""
    metric: str
    notes: tuple[str, ...]

    @property
    def words(self) -> str:
        """Metric and notes as one line."""
        return f"{self.metric}; {'; '.join(self.notes) or 'nothing was overlooked'}"


@dataclass(frozen=True, slots=True)
class OpenControl:
    """A control or study that was registered, and of which this report shows no numbers."""

    name: str
    registered_at: str
    words: str
    """Why there are none."""


def imported_logs(standing: Standing) -> tuple[ImportedLog, ...]:
    """Return every import, in the order of the ledger, with what it said when it was entered."""
    return tuple(
        ImportedLog(entry.subject, entry.facts["logged_model"], entry.facts["metric"], tuple(entry.facts["notes"]))
        for entry in standing.of(EntryKind.SCORES)
        if entry.facts.get("made_by") == "import"
    )


def was_run(directory: AuditDirectory, standing: Standing, name: str) -> bool:
    """Tell whether every state of a positive control was scored, so that its numbers are there or can be made.

    Raises:
        IntegrityError: If its record was changed.
    """
    return not _why_open(directory, standing, name)


def open_controls(directory: AuditDirectory, standing: Standing) -> Iterator[OpenControl]:
    """Yield what was registered and was not run to its end, and studies, whose tables are not a report's.

    Raises:
        IntegrityError: If a record was changed.
    """
    for entry in standing.of(EntryKind.CONTROL):
        name = entry.facts["control"]
        if words := _why_open(directory, standing, name):
            yield OpenControl(name, entry.at, words)


def amendment_words(standing: Standing, amendment: Amendment) -> str:
    """Say what became of an amendment, by the ledger."""
    if _of_variant(standing.of(EntryKind.ANALYSIS), amendment):
        return "answered, and its numbers are shown beside"
    if all(field.startswith("inference.") for field in amendment.changes):
        return "of the inference alone, and it was not analyzed"
    asked = _of_variant(standing.of(EntryKind.SCORES), amendment)
    return f"{len(asked)} files of its scores are entered, and it was not analyzed" if asked else "never answered"


def _why_open(directory: AuditDirectory, standing: Standing, name: str) -> str:
    """Return why a report has no numbers of a control; nothing where it can have them."""
    record = registered_control(directory, name)
    if "control" not in record:
        return f"a validation study, whose tables are in controls/{name}/numbers once it is finished"
    control = ControlPlan.model_validate(record["control"])
    states = ["base", *(run.state for run in runs_of(control))]
    roles = [BankRole.AUDIT] if registration_of(directory).control is None else list(BankRole)
    missing = [
        state
        for state in states
        if any(standing.entry(directory.scores(control.model, bank=role, state=state)) is None for role in roles)
    ]
    return f"not finished: of its {len(states)} states, {', '.join(missing)} have no scores" if missing else ""


def _of_variant(entries: tuple[LedgerEntry, ...], amendment: Amendment) -> list[LedgerEntry]:
    return [entry for entry in entries if PurePosixPath(entry.subject).parts[1] == amendment.variant]
