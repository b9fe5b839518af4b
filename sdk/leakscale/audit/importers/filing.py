"""An import into a locked audit: its own bank, its own place, an entry in its ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from leakscale.audit.directory import REGISTERED, AuditDirectory, BankRole
from leakscale.audit.importers.building import Imported, ImportOptions, import_scores
from leakscale.audit.importers.columns import LogPaths
from leakscale.audit.importers.models import Selection
from leakscale.audit.importers.remarks import (
    remarks_on,
    require_own_log,
    require_registered_files,
    require_registered_reading,
)
from leakscale.audit.importers.saving import save_import
from leakscale.audit.registration.amending import registration_of, require_asked_anew
from leakscale.audit.registration.fields import ModelTable
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.origin import require_golds
from leakscale.audit.registration.standing import Standing, digests_of
from leakscale.audit.registration.verifying import locked_bank
from leakscale.audit.scores import ScoreKind
from leakscale.errors import ConflictError, NotFoundError, PreconditionError

__all__ = ["import_into_audit"]


def import_into_audit(
    directory: AuditDirectory,
    model_id: str,
    paths: LogPaths,
    selection: Selection,
    *,
    role: BankRole = BankRole.AUDIT,
    kind: ScoreKind = ScoreKind.CORRECT,
    variant: str = REGISTERED,
    options: ImportOptions | None = None,
) -> tuple[Imported, Path]:
    """Import the logs of a registered model, in the state `base`, and enter them in the ledger, once.

    Args:
        directory: A locked audit.
        model_id: As the registration names the model; its engine is `log`.
        paths: Which file holds which form.
        selection: Which number is the score, which field the id.
        role: Which of the audit's banks was asked.
        kind: Range of the scores.
        variant: `registered`, or an amendment whose answers the logs hold.
        options: What may be overlooked; bound by the ledger with the scores.

    Returns:
        The import, and the file of its scores.

    Raises:
        PreconditionError: If the audit is not locked, was fetched from a server, or asks the model itself.
        NotFoundError: If the model is not registered, or a file does not exist.
        IntegrityError: If anything was changed after the lock.
        InvalidRequestError: As `import_scores`.
        ConflictError: If other scores of that model were imported before, or accuracies of another kind, or the same
            with other things overlooked, or the same log as another model's, or it is read otherwise than registered.
    """
    with directory.held():
        require_golds(directory, "an import")
        registration, standing = registration_of(directory, variant), Standing(directory)
        require_asked_anew(directory, registration)
        model = _log_model(registration, model_id)
        _require_one_kind(directory, standing, model_id, kind, variant)
        require_registered_reading(model, selection, kind)
        bank = locked_bank(directory, registration, role)
        imported = import_scores(paths, selection, bank=bank, kind=kind, model=model_id, options=options)
        path = directory.scores(model_id, bank=role, kind=kind, variant=variant)
        require_registered_files(imported, model)
        require_own_log(imported, model_id, standing)
        subject = path.relative_to(directory.root).as_posix()
        imported = replace(imported, remarks=remarks_on(imported, model, subject, standing))
        standing.require_free(path, imported.table.digest)
        _require_same_notes(standing, imported, path)
        record = save_import(imported, path)
        _enter(directory, imported, path, record)
    return imported, path


def _log_model(registration: Registration, model_id: str) -> ModelTable:
    """Return a registered model, and refuse one that the audit asks itself."""
    models = {model.id: model for model in registration.plan.models}
    if model_id not in models:
        raise NotFoundError(
            f"model '{model_id}' is not registered in audit '{registration.name}', only {', '.join(models)}; name one"
        )
    if not models[model_id].is_asked_already:
        raise PreconditionError(
            f"model '{model_id}' is registered with engine '{models[model_id].engine}', so the audit asks it itself; "
            "run `leakscale audit answer`, or register it with engine 'log' in an audit of its own"
        )
    return models[model_id]


def _require_one_kind(
    directory: AuditDirectory, standing: Standing, model_id: str, kind: ScoreKind, variant: str
) -> None:
    """Refuse a second kind of accuracy, on either bank: whoever may import both may keep the better one."""
    others = [] if kind.is_signal else [each for each in ScoreKind if each is not kind and not each.is_signal]
    for role in BankRole:
        for other in others:
            entry = standing.entry(directory.scores(model_id, bank=role, kind=other, variant=variant))
            if entry is not None:
                raise ConflictError(
                    f"model '{model_id}': the ledger has entered '{entry.subject}' (entry {entry.number}), and a model "
                    f"has one kind of accuracy, not '{other}' and '{kind}'; analyze what was imported first"
                )


def _require_same_notes(standing: Standing, imported: Imported, path: Path) -> None:
    """Refuse to say something else of an import that was entered already."""
    entry = standing.entry(path)
    if entry is not None and entry.facts["notes"] != imported.notes():
        raise ConflictError(
            f"'{path}' was imported with other notes (entry {entry.number} of the ledger), and what was said of it "
            "then stands; import it as then, or leave it as it is"
        )


def _enter(directory: AuditDirectory, imported: Imported, path: Path, record: Path) -> None:
    """Enter scores in the ledger, once, with what was overlooked."""
    table, subject = imported.table, path.relative_to(directory.root).as_posix()
    facts = {
        "made_by": "import",
        "logged_model": imported.logged_model,
        "metric": table.metric,
        "sources": [{"name": source.name, "sha256": source.sha256} for source in table.sources],
        "allowed": [each.name for each in imported.allowed],
        "missing_count": sum(1 for _ in table.missing()),
        "are_prompts_trusted": imported.are_prompts_trusted,
        "notes": imported.notes(),
        **digests_of([record]),
    }
    AuditLedger(directory).append_once(
        EntryKind.SCORES, subject=subject, digest=bytes.fromhex(table.digest), facts=facts
    )
