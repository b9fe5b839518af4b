"""A whole audit with one command: a bank of our own, the model that ships, and a leak to be seen.

Every step is there once and whole, or done again, so an interrupted demo goes on, and a finished one prints itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.audit.analysis import AuditAnalysis, analyze_audit
from leakscale.audit.answering.running import answer_audit
from leakscale.audit.controls.filing import ControlAnalysis
from leakscale.audit.controls.plan import load_control
from leakscale.audit.controls.running import Watch, run_control
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import write_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.registration.verifying import locked_registration
from leakscale.audit.word_problems import write_problems
from leakscale.errors import NotFoundError
from leakscale.resources import studies_folder

__all__ = ["DemoSize", "Demonstrated", "run_audit_demo"]

_BENCHMARK_SEED: Final = 20_261_130
_CONTROL_SEED: Final = 20_261_201
_DRAW_SEED: Final = 1
_FILES: Final = ("audit.toml", "exact.toml", "filler.toml")


@dataclass(frozen=True, slots=True)
class DemoSize:
    """How many parents there are."""

    frame_count: int = 1000
    """Of the benchmark."""
    parent_count: int = 200
    """Audited."""
    control_count: int = 200
    """Of the control bank."""


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """What the demo found."""

    directory: AuditDirectory
    audit: AuditAnalysis
    """Of the model as it ships, which never saw the bank."""
    control: ControlAnalysis
    """Of the same model, once half of the public forms were leaked into it."""


def run_audit_demo(
    root: Path,
    *,
    size: DemoSize | None = None,
    watch: Watch | None = None,
    note: Callable[[str], None] | None = None,
) -> Demonstrated:
    """Write a bank, lock, answer, analyze, leak, and audit again.

    Args:
        root: Folder of the demo; made if it is not there. Its plans are used as they lie there, if they do.
        size: Parents of each bank; used when the audit is opened.
        watch: Called as the work goes on.
        note: Told in one line what a reader should know.

    Raises:
        ConflictError: If the folder holds something else, or another process works in it.
        IntegrityError: If something of an earlier run was changed.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        if not (root / name).exists():
            shutil.copyfile(studies_folder() / "audit-demo" / name, root / name)
    directory = _opened(root, size or DemoSize())
    if AuditLedger(directory).latest(EntryKind.LOCK) is None:
        shutil.copyfile(root / "audit.toml", directory.plan)
        lock_audit(directory)
    for model in locked_registration(directory).plan.models:
        for role in BankRole:
            answer_audit(directory, model.id, role=role, progress=_stage(watch, f"answer {model.id}, {role} bank"))
    audit, _ = analyze_audit(directory, progress=_stage(watch, "analyze"))
    control, _ = run_control(directory, load_control(root / "exact.toml"), folder=root, watch=watch, note=note)
    return Demonstrated(directory, audit, control)


def _opened(root: Path, size: DemoSize) -> AuditDirectory:
    try:
        return AuditDirectory.existing(root / "audit")
    except NotFoundError:
        frame, own = root / "benchmark.jsonl", root / "control.jsonl"
        benchmark = write_problems(size.frame_count, seed=_BENCHMARK_SEED)
        write_bank(benchmark, frame)
        write_bank(write_problems(size.control_count, seed=_CONTROL_SEED, prefix="own", apart_from=benchmark), own)
        directory, _ = open_audit(
            root / "audit", frame=frame, size=size.parent_count, seed=_DRAW_SEED, rewrites=frame, control=own
        )
        return directory


def _stage(watch: Watch | None, name: str) -> Callable[[int, int], None] | None:
    return None if watch is None else lambda done, total: watch(name, done, total)
