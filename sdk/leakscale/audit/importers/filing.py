"""An import into a locked audit: its own bank, its own place, an entry in its ledger."""

from __future__ import annotations

from pathlib import Path

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.importers.building import Imported, ImportOptions, import_scores
from leakscale.audit.importers.columns import LogPaths
from leakscale.audit.importers.models import Selection
from leakscale.audit.importers.saving import save_import
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.audit.scores import ScoreKind
from leakscale.errors import NotFoundError, PreconditionError

__all__ = ["import_into_audit"]


def import_into_audit(
    directory: AuditDirectory,
    model_id: str,
    paths: LogPaths,
    selection: Selection,
    *,
    role: BankRole = BankRole.AUDIT,
    kind: ScoreKind = ScoreKind.CORRECT,
    state: str = "base",
    options: ImportOptions | None = None,
) -> tuple[Imported, Path]:
    """Import the logs of a registered model and enter them in the ledger, once.

    Args:
        directory: A locked audit.
        model_id: As the registration names the model; its engine is `log`.
        paths: Which file holds which form.
        selection: Which number is the score, which field the id.
        role: Which of the audit's banks was asked.
        kind: Range of the scores.
        state: State of the model.
        options: What may be overlooked; bound by the ledger with the scores.

    Returns:
        The import, and the file of its scores.

    Raises:
        PreconditionError: If the audit is not locked, or the model is one that the audit asks itself.
        NotFoundError: If the model is not registered, or a file does not exist.
        IntegrityError: If anything was changed after the lock.
        InvalidRequestError: As `import_scores`.
        ConflictError: If other scores of that model were imported before.
    """
    with directory.held():
        registration = locked_registration(directory)
        _require_log_engine(registration, model_id)
        bank = locked_bank(directory, registration, role)
        imported = import_scores(paths, selection, bank=bank, kind=kind, model=model_id, state=state, options=options)
        path = directory.scores(model_id, bank=role, state=state, kind=kind)
        save_import(imported, path)
        _enter(directory, imported, path)
    return imported, path


def _require_log_engine(registration: Registration, model_id: str) -> None:
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


def _enter(directory: AuditDirectory, imported: Imported, path: Path) -> None:
    """Enter scores in the ledger, once."""
    table, subject = imported.table, path.relative_to(directory.root).as_posix()
    facts = {
        "made_by": "import",
        "logged_model": imported.logged_model,
        "metric": table.metric,
        "sources": [{"name": source.name, "sha256": source.sha256} for source in table.sources],
        "allowed": [each.name for each in imported.allowed],
        "missing_count": sum(1 for _ in table.missing()),
        "are_prompts_trusted": imported.are_prompts_trusted,
    }
    AuditLedger(directory).append_once(
        EntryKind.SCORES, subject=subject, digest=bytes.fromhex(table.digest), facts=facts
    )
