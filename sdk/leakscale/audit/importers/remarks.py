"""What an audit has to say of a log that the log itself does not: whose it is, and who else has it.

A log names its model in words of its own, so names that do not fit are told and not refused. The same answers under two
models are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from leakscale.audit.importers.building import Imported
from leakscale.audit.importers.models import Selection
from leakscale.audit.registration.entries import EntryKind, LedgerEntry
from leakscale.audit.registration.fields import ModelTable
from leakscale.audit.registration.standing import Standing
from leakscale.audit.scores import ScoreKind
from leakscale.errors import ConflictError

__all__ = ["remarks_on", "require_own_log", "require_registered_files", "require_registered_reading"]


def remarks_on(imported: Imported, model: ModelTable, subject: str, standing: Standing) -> tuple[str, ...]:
    """Return what a reader of the scores should know of the log's model, a sentence each.

    Args:
        imported: The import.
        model: As registered.
        subject: Of the entry that the import gets. What was entered after it is not looked at, so that the same import
            says the same.
        standing: What the ledger has.
    """
    return tuple(_remarks(imported, model, subject, standing))


def require_registered_reading(model: ModelTable, selection: Selection, kind: ScoreKind) -> None:
    """Refuse to read a log otherwise than the plan says; detectors' signals are not in it.

    Raises:
        ConflictError: Naming the field, and what is registered.
    """
    log = model.log
    if log is None or kind.is_signal:
        return
    asked = {
        "metric": selection.metric,
        "filter": selection.filter,
        "kind": str(kind),
        "key": selection.key,
        "form_key": selection.form_key,
        "text_key": selection.text_key,
    }
    for name, value in asked.items():
        if value != getattr(log, name):
            raise ConflictError(
                f"model '{model.id}': its log is registered to be read by {name} {getattr(log, name)!r}, not "
                f"{value!r}; import it as registered, or log an amendment"
            )


def require_registered_files(imported: Imported, model: ModelTable) -> None:
    """Refuse files that are not those whose digests were registered, where any were.

    Raises:
        ConflictError: Naming the file.
    """
    registered = model.log.sha256 if model.log is not None else ()
    for source in imported.table.sources if registered else ():
        if source.sha256 not in registered:
            raise ConflictError(
                f"model '{model.id}': file '{source.name}' (SHA-256 {source.sha256[:12]}) is none of the registered "
                "ones; import those"
            )


def require_own_log(imported: Imported, model_id: str, standing: Standing) -> None:
    """Refuse answers that were imported as another model's, from the same file by the same metric.

    Raises:
        ConflictError: Naming that model.
    """
    ours = {source.sha256 for source in imported.table.sources}
    for entry in _imports_of_others(model_id, standing, before=""):
        theirs = {source["sha256"] for source in entry.facts["sources"]}
        if ours & theirs and entry.facts["metric"] == imported.table.metric:
            raise ConflictError(
                f"model '{model_id}': its log is that of '{entry.subject}' (entry {entry.number} of the ledger); two "
                "models do not have one log, pass this one's own"
            )


def _remarks(imported: Imported, model: ModelTable, subject: str, standing: Standing) -> Iterator[str]:
    logged = imported.logged_model
    if model.log is None and not imported.table.kind.is_signal:
        yield f"how the log is read ({imported.table.metric}, {imported.table.kind}) was chosen at the import"
    if not logged:
        yield f"the log names no model; that it is {model.source!r} is the importer's word"
        return
    if not _fits(logged, model):
        yield f"the log is of {logged!r}, and '{model.id}' is registered as {model.source!r} ({model.revision})"
    for entry in _imports_of_others(model.id, standing, before=subject):
        if entry.facts["logged_model"] == logged:
            yield f"the log of '{_model_of(entry)}' names the same model"


def _fits(logged: str, model: ModelTable) -> bool:
    """Tell whether a name in a log is that of the registration, or holds it, or is held by it."""
    name = logged.casefold()
    return any(each.casefold() in name or name in each.casefold() for each in (model.source, model.id))


def _imports_of_others(model_id: str, standing: Standing, *, before: str) -> Iterator[LedgerEntry]:
    for entry in standing.of(EntryKind.SCORES):
        if entry.subject == before:
            return
        if entry.facts.get("made_by") == "import" and _model_of(entry) != model_id:
            yield entry


def _model_of(entry: LedgerEntry) -> str:
    return PurePosixPath(entry.subject).name.split(".")[0]
