"""The analysis of a locked audit: its own scores, its own rules, its own place, an entry in its ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from leakscale.audit.analysis.analysis import AuditAnalysis, analyze_panel
from leakscale.audit.analysis.panel import AuditSettings, ModelScores, Panel
from leakscale.audit.directory import REGISTERED, AuditDirectory, BankRole
from leakscale.audit.forms import FormBank
from leakscale.audit.registration.amending import registration_of, scored_variant
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.opening import require_frame
from leakscale.audit.registration.released import require_released
from leakscale.audit.registration.standing import Standing, enter_numbers
from leakscale.audit.registration.verifying import locked_bank
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.audit.scoring.quality import AnswerQuality
from leakscale.errors import PreconditionError
from leakscale.reading import parse_json
from leakscale.stats import NearCopies, find_near_copies

__all__ = ["analyze_audit", "entered_accuracies", "entered_signals", "near_copies_of"]


def analyze_audit(
    directory: AuditDirectory,
    *,
    variant: str = REGISTERED,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[AuditAnalysis, tuple[Path, ...]]:
    """Compute the tables of a locked audit, write them to `analysis/VARIANT`, and enter them in the ledger, once.

    Every registered model must have its scores: leaving one out after the scores are known would choose the panel.

    Args:
        directory: A locked audit.
        variant: `registered`, or an amendment, e.g. `amendment-1`, which is reported beside and never instead.
        progress: Called with the tables that are done and their number.

    Returns:
        The analysis, and the files it was written to.

    Raises:
        PreconditionError: If the audit is not locked, or a registered model has no scores yet.
        NotFoundError: If there is no such amendment.
        IntegrityError: If anything that was entered, of whatever variant or control, is missing or was changed.
        ConflictError: If another analysis of the variant lies there.
    """
    with directory.held():
        registration, standing = registration_of(directory, variant), Standing(directory)
        scored = scored_variant(directory, registration)
        standing.require_whole()
        require_frame(directory, registration.draw)
        bank = locked_bank(directory, registration)
        tables = list(_entered_tables(directory, registration, BankRole.AUDIT, standing, scored))
        controls = list(_entered_tables(directory, registration, BankRole.CONTROL, standing, scored))
        if not tables:
            raise PreconditionError(
                f"variant '{variant}' of audit '{registration.name}' has no scores; run `leakscale audit answer "
                f"{directory.root} --variant {variant}`, or import its logs"
            )
        require_released(directory, scored)
        models = [_with_quality(directory, model, standing, scored) for model in Panel.of(tables, controls)]
        panel = Panel(tuple(models), near_copies_of(bank, registration))
        settings = AuditSettings(
            registration.design(), registration.plan.inference, seed=registration.plan.decoding.seed
        )
        analysis = analyze_panel(panel, settings, facts=_facts(directory, registration), progress=progress)
        return analysis, _file(directory, analysis, variant)


def near_copies_of(bank: FormBank, registration: Registration | None = None) -> NearCopies:
    """Compare the fresh forms of a bank with their originals, at the registered threshold, or at 0.80."""
    originals = [parent.original.text for parent in bank.parents]
    fresh = [[None if form is None else form.text for form in parent.fresh] for parent in bank.parents]
    if registration is None:
        return find_near_copies(originals, fresh)
    return find_near_copies(originals, fresh, threshold=registration.plan.checks.similarity_max)


def _entered_tables(
    directory: AuditDirectory, registration: Registration, role: BankRole, standing: Standing, scored: str
) -> Iterator[ScoreTable]:
    """Yield the tables of scores of one bank, each held against the ledger."""
    if role is BankRole.CONTROL and registration.control is None:
        return
    for model in registration.plan.models:
        for path in _score_files(directory, model.id, role, standing, scored):
            yield ScoreTable.from_jsonl(path)


def entered_accuracies(directory: AuditDirectory, model_id: str, *, role: BankRole, state: str) -> ScoreTable:
    """Return the registered accuracies of a model in one state, held against the ledger.

    Raises:
        NotFoundError: If there are none.
        IntegrityError: If they are not those that were entered.
    """
    path = directory.scores(model_id, bank=role, state=state)
    table = ScoreTable.from_jsonl(path)
    Standing(directory).require_entered(path)
    return table


def entered_signals(directory: AuditDirectory, model_id: str, *, state: str) -> dict[ScoreKind, ScoreTable]:
    """Return what detectors read of the audited forms under the registered settings, by kind; empty if nothing was.

    Raises:
        IntegrityError: If a table is not the one that was entered.
    """
    standing = Standing(directory)
    paths = {
        kind: directory.scores(model_id, bank=BankRole.AUDIT, state=state, kind=kind)
        for kind in ScoreKind
        if kind.is_signal
    }
    return {kind: ScoreTable.from_jsonl(path) for kind, path in paths.items() if _is_entered(path, standing)}


def _is_entered(path: Path, standing: Standing) -> bool:
    """Tell whether the ledger has a file, and refuse one that lies there without, or is missing although it has it."""
    if standing.entry(path) is None and not path.exists():
        return False
    standing.require_entered(path)
    return True


def _score_files(
    directory: AuditDirectory, model_id: str, role: BankRole, standing: Standing, scored: str
) -> list[Path]:
    """Return a model's files of scores: one kind of accuracy, and confidences where there are any."""
    files = {
        kind: directory.scores(model_id, bank=role, kind=kind, variant=scored)
        for kind in ScoreKind
        if role is BankRole.AUDIT or not kind.is_signal
    }
    found = {kind: path for kind, path in files.items() if _is_entered(path, standing)}
    accuracies = [kind for kind in found if not kind.is_signal]
    if len(accuracies) == 1 or (not found and scored != REGISTERED):
        return list(found.values())  # an amendment may ask some of the models again
    if accuracies:
        raise PreconditionError(
            f"model '{model_id}' has scores of two kinds on the {role} bank, {' and '.join(accuracies)}, and a ledger "
            "that has both says of neither that it was the registered one; register another audit"
        )
    raise PreconditionError(
        f"model '{model_id}' has no scores on the {role} bank ({scored}), and a panel is analyzed whole; "
        "answer the audit, or `leakscale audit import` its log"
    )


def _with_quality(directory: AuditDirectory, model: ModelScores, standing: Standing, scored: str) -> ModelScores:
    """Add how the run went, where the audit asked the model itself."""
    table = model.audit
    path = directory.quality(table.model, bank=BankRole.AUDIT, state=table.state, variant=scored)
    if not _is_entered(path, standing):
        return model
    return replace(model, quality=AnswerQuality.from_json(parse_json(path.read_bytes())))


def _facts(directory: AuditDirectory, registration: Registration) -> dict[str, Any]:
    return {
        "audit": registration.name,
        "variant": registration.variant,
        "assurance_level": registration.assurance_level,
        "is_retrospective": registration.is_retrospective,
        "registration_digest": hashlib.sha256(directory.registration.read_bytes()).hexdigest(),
    }


def _file(directory: AuditDirectory, analysis: AuditAnalysis, variant: str) -> tuple[Path, ...]:
    """Write the files and enter them; the same analysis again changes nothing."""
    files = analysis.write(directory.analysis / variant)
    enter_numbers(directory, files, facts={"variant": variant})
    return files
