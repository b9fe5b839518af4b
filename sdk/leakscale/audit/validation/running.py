"""Run a validation study: lock an audit, then train, answer and score every mixture under every seed.

Source: CleanScore 5. The lock comes before the first run, and the study's record, with every seed, before it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from leakscale.audit.analysis.filing import entered_accuracies
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.controls.registering import register_record, registered_control
from leakscale.audit.controls.running import Watch
from leakscale.audit.controls.training import require_trainable, train_run, training_settings
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.standing import Standing, enter_numbers
from leakscale.audit.registration.verifying import locked_bank, locked_registration
from leakscale.audit.validation.contrasts import (
    Contrasts,
    RunNumbers,
    contrasts_of,
    run_numbers,
    validation_tables,
)
from leakscale.audit.validation.mixtures import Mixtures, write_mixtures
from leakscale.audit.validation.plan import Condition, ValidationPlan
from leakscale.audit.word_problems.opening import locked_problem_audit
from leakscale.tabled import Tabled
from leakscale.tables import Table

__all__ = ["ValidationAnalysis", "analyze_validation", "run_validation"]

_FORMAT: Final = "leakscale-audit-validation-v1"


@dataclass(frozen=True, slots=True)
class ValidationAnalysis(Tabled):
    """What a validation study found."""

    study: ValidationPlan
    runs: tuple[RunNumbers, ...]
    """Seed by seed, the four conditions of each."""
    contrasts: Contrasts
    tables: tuple[Table[Any], ...]
    facts: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return facts, runs, contrasts and tables as JSON-ready values."""
        contrasts = self.contrasts
        return {
            "format": _FORMAT,
            **self.facts,
            "is_confirmed": contrasts.is_confirmed,
            "runs": [asdict(run) | {"condition": str(run.condition)} for run in self.runs],
            "contrasts": {
                "exact": contrasts.exact.to_dict(),
                "paraphrase": contrasts.paraphrase.to_dict(),
                "unseen": contrasts.unseen.to_dict(),
            },
            "tables": {one.name: one.to_dict() for one in self.tables},
        }


def run_validation(
    study: ValidationPlan,
    *,
    folder: Path,
    root: Path,
    watch: Watch | None = None,
    note: Callable[[str], None] | None = None,
) -> tuple[ValidationAnalysis, tuple[Path, ...]]:
    """Train and audit every condition under every seed, and compare.

    Interrupted, the same call goes on; done, it changes nothing.

    Args:
        study: What is run.
        folder: That of the study's file.
        root: Where audit, adapters and numbers go.
        watch: Called as the work goes on.
        note: Told in one line what a Ctrl-C waits for.

    Raises:
        ConflictError: If another study of that name was begun there.
        InvalidRequestError: If plan, recipe and mixtures do not fit each other.
    """
    root.mkdir(parents=True, exist_ok=True)
    directory = locked_problem_audit(
        root,
        folder / study.plan,
        frame_count=study.bank.frame_count,
        parent_count=study.bank.parent_count,
        seed=study.bank.seed,
    )
    subject = f"study '{study.name}'"
    with directory.held():
        registration = locked_registration(directory)
        model = require_trainable(registration, registration.plan.models[0].id, subject=subject)
        mixtures = _mixtures(directory, registration, study, folder)
        settings = training_settings(model, study.training, subject=subject)
        register_record(
            directory,
            registration,
            study.name,
            {"study": study.to_json(), "exposed": list(mixtures.exposed), "mixtures": mixtures.digests()},
            facts={"seeds": list(study.training.seeds), "conditions": [str(each) for each in Condition]},
        )
    total = len(Condition) * len(study.training.seeds)
    for done, (condition, seed) in enumerate(_runs(study)):
        state, run = _state(condition, seed), f"run {done + 1} of {total}"
        stage, answered, read = (partial(watch or _unwatched, f"{verb}{run}") for verb in ("", "answer ", "read "))
        adapter = directory.control_work(study.name) / "adapters" / state
        train_run(model, mixtures.records[condition], settings, seed, adapter, watch=stage, note=note or _unnoted)
        answer_audit(directory, model.id, state=state, adapter=adapter, progress=answered, reading_progress=read)
    return analyze_validation(directory, study)


def analyze_validation(directory: AuditDirectory, study: ValidationPlan) -> tuple[ValidationAnalysis, tuple[Path, ...]]:
    """Compute the numbers of a study that was run, write them to `controls/NAME/numbers`, and enter them, once.

    Raises:
        NotFoundError: If no such study was registered, or a run of it has no scores yet.
        IntegrityError: If anything that was entered is missing or was changed.
        ConflictError: If other numbers lie there.
    """
    with directory.held():
        registration = locked_registration(directory)
        Standing(directory).require_whole()
        record = registered_control(directory, study.name)
        runs, digests = [], []
        for condition, seed in _runs(study):
            table = entered_accuracies(
                directory, registration.plan.models[0].id, role=BankRole.AUDIT, state=_state(condition, seed)
            )
            digests.append({"state": table.state, "digest": table.digest})
            runs.append(
                run_numbers(table, condition, seed, exposed=record["exposed"], leaked_fresh=study.exposure.fresh)
            )
        contrasts = contrasts_of(runs, alpha=study.alpha)
        tables = validation_tables(study, runs, contrasts)
        facts = {name: record[name] for name in ("audit", "registration_digest", "study", "exposed", "mixtures")}
        analysis = ValidationAnalysis(study, tuple(runs), contrasts, tables, facts | {"scores": digests})
        files = analysis.write(directory.control_numbers(study.name))
        enter_numbers(directory, files, facts={"control": study.name})
    return analysis, files


def _mixtures(directory: AuditDirectory, registration: Registration, study: ValidationPlan, folder: Path) -> Mixtures:
    bank, work = locked_bank(directory, registration), directory.control_work(study.name)
    return write_mixtures(bank, registration.plan, study, folder=folder, work=work)


def _runs(study: ValidationPlan) -> Iterator[tuple[Condition, int]]:
    """Yield every run, seed by seed, so that an unfinished study has whole seeds."""
    for seed in study.training.seeds:
        for condition in Condition:
            yield condition, seed


def _state(condition: Condition, seed: int) -> str:
    return f"{condition}-seed-{seed}"


def _unwatched(_stage: str, _done: int, _total: int) -> None:
    pass


def _unnoted(_line: str) -> None:
    pass
