"""Open and lock an audit of word problems."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.forms import write_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.opening import open_audit
from leakscale.audit.word_problems.writing import write_problems
from leakscale.errors import NotFoundError

__all__ = ["locked_problem_audit"]

_DRAW_SEED: Final = 1


def locked_problem_audit(
    root: Path,
    plan: Path,
    *,
    frame_count: int,
    parent_count: int,
    seed: int,
    control_count: int = 0,
    control_seed: int = 0,
) -> AuditDirectory:
    """Return the locked audit `root/audit`; what an interrupted call left is gone on with.

    Args:
        root: Folder that exists; the banks are written beside the audit.
        plan: Of the audit, `audit.toml`.
        frame_count: Parents of the benchmark.
        parent_count: Of them, audited.
        seed: Of the benchmark's problems.
        control_count: Parents of the control bank; 0: there is none.
        control_seed: Of its problems.

    Raises:
        ConflictError: If `root/audit` holds something else.
        InvalidRequestError: If the plan is malformed, or does not fit.
    """
    try:
        directory = AuditDirectory.existing(root / "audit")
    except NotFoundError:
        frame, own = root / "benchmark.jsonl", root / "control.jsonl"
        benchmark = write_problems(frame_count, seed=seed)
        write_bank(benchmark, frame)
        if control_count:
            write_bank(write_problems(control_count, seed=control_seed, prefix="own", apart_from=benchmark), own)
        directory, _ = open_audit(
            root / "audit",
            frame=frame,
            size=parent_count,
            seed=_DRAW_SEED,
            rewrites=frame,
            control=own if control_count else None,
        )
    if AuditLedger(directory).latest(EntryKind.LOCK) is None:
        shutil.copyfile(plan, directory.plan)
        lock_audit(directory)
    return directory
