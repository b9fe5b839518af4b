"""Run a positive control: ask, leak, ask again, compare.

Every step keeps its work: answers in journals, training in checkpoints, what was entered in the ledger. So the same
command goes on after any interruption, and changes nothing when all is done.

Source: CleanScore 7.11 to 7.16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from leakscale.audit.answering.running import answer_audit
from leakscale.audit.controls.borrowing import require_gate
from leakscale.audit.controls.filing import ControlAnalysis, analyze_control
from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.planting import plant
from leakscale.audit.controls.registering import ControlRun, register_control, runs_of
from leakscale.audit.controls.training import (
    require_trainable,
    require_within_cap,
    train_run,
    training_settings,
)
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.origin import require_golds
from leakscale.audit.registration.verifying import locked_bank, locked_registration

__all__ = ["Watch", "run_control"]

Watch = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


def run_control(
    directory: AuditDirectory,
    control: ControlPlan,
    *,
    folder: Path,
    watch: Watch | None = None,
    note: Callable[[str], None] | None = None,
) -> tuple[ControlAnalysis, tuple[Path, ...]]:
    """Leak part of a locked audit into its model, audit it before and after, and compare.

    Args:
        directory: A locked audit.
        control: What is leaked, and how it is judged.
        folder: That of the control's file, in which its recipe is.
        watch: Called as the work goes on.
        note: Told in one line what a reader should know.

    Returns:
        The comparison, and its files.

    Raises:
        PreconditionError: If the audit is not locked or was fetched from a server, its model cannot be trained here, or
            answers are drawn at random.
        InvalidRequestError: If the audit's scorer cannot read what would be planted, or a mixture holds what it must
            not; nothing was trained then.
        UnderpoweredGateError: If the gate of a borrowed counterfactual cannot see its tolerance.
        ConflictError: If a control of that name was registered otherwise.
        ModelError: If the model cannot be used.
    """
    watch, note = watch or _unwatched, note or _unnoted
    with directory.held():
        require_golds(directory, "a positive control")
        registration = locked_registration(directory)
        model = require_trainable(registration, control.model, subject=f"control '{control.name}'")
        bank = locked_bank(directory, registration)
        planted = plant(bank, registration.plan, control, folder=folder, work=directory.control_work(control.name))
        require_within_cap(model, planted.generated, registration.plan, subject=f"control '{control.name}'")
        settings = training_settings(model, control.training, subject=f"control '{control.name}'")
        require_gate(bank, planted.exposed, control)
        register_control(directory, registration, control, planted)
    if planted.shows_other_prompt:
        note("note: records show another prompt than the scorer asks; what was learned may not come up there")
    _answer(directory, registration, control, None, watch)
    for run in runs_of(control):
        records = planted.null if run.is_null else planted.mixture
        adapter = directory.control_work(control.name) / "adapters" / run.state
        train_run(model, records, settings, run.seed, adapter, watch=partial(watch, f"train {run.label}"), note=note)
        _answer(directory, registration, control, (run, adapter), watch)
    return analyze_control(directory, control.name)


def _answer(
    directory: AuditDirectory,
    registration: Registration,
    control: ControlPlan,
    adapted: tuple[ControlRun, Path] | None,
    watch: Watch,
) -> None:
    """Ask both banks in one state; None is the base state."""
    label = adapted[0].label if adapted else "base"
    for role in BankRole if registration.control else (BankRole.AUDIT,):
        answer_audit(
            directory,
            control.model,
            role=role,
            state=adapted[0].state if adapted else "base",
            adapter=adapted[1] if adapted else None,
            progress=partial(watch, f"answer {label}, {role} bank"),
            reading_progress=partial(watch, f"read {label}, {role} bank"),
        )


def _unwatched(_stage: str, _done: int, _total: int) -> None:
    pass


def _unnoted(_line: str) -> None:
    pass
