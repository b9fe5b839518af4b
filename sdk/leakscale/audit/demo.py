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
from leakscale.audit.registration.verifying import locked_registration
from leakscale.audit.report import read_audit_findings, write_audit_report
from leakscale.audit.word_problems.opening import locked_problem_audit
from leakscale.resources import studies_folder

__all__ = ["DemoSize", "Demonstrated", "run_audit_demo"]

_BENCHMARK_SEED: Final = 20_261_130
_CONTROL_SEED: Final = 20_261_201
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
    report: Path
    """One HTML file; its Markdown twin lies beside it."""


def run_audit_demo(
    root: Path,
    *,
    size: DemoSize | None = None,
    watch: Watch | None = None,
    note: Callable[[str], None] | None = None,
) -> Demonstrated:
    """Write a bank, lock, answer, analyze, leak, audit again, and report.

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
    size = size or DemoSize()
    directory = locked_problem_audit(
        root,
        root / "audit.toml",
        frame_count=size.frame_count,
        parent_count=size.parent_count,
        seed=_BENCHMARK_SEED,
        control_count=size.control_count,
        control_seed=_CONTROL_SEED,
    )
    for model in locked_registration(directory).plan.models:
        for role in BankRole:
            answer_audit(
                directory,
                model.id,
                role=role,
                progress=_stage(watch, f"answer {model.id}, {role} bank"),
                reading_progress=_stage(watch, f"read {model.id}, {role} bank"),
            )
    audit, _ = analyze_audit(directory, progress=_stage(watch, "analyze"))
    control, _ = run_control(directory, load_control(root / "exact.toml"), folder=root, watch=watch, note=note)
    report, _ = write_audit_report(read_audit_findings(directory))
    return Demonstrated(directory, audit, control, report)


def _stage(watch: Watch | None, name: str) -> Callable[[int, int], None] | None:
    return None if watch is None else lambda done, total: watch(name, done, total)
