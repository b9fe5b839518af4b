"""Open and lock an audit of word problems."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.forms import FormBank, bank_bytes, write_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.locking import lock_audit
from leakscale.audit.registration.opening import open_audit, read_draw
from leakscale.audit.word_problems.writing import write_problems
from leakscale.errors import ConflictError, NotFoundError

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
        ConflictError: If `root/audit` is another audit, or a bank's file holds something else.
        InvalidRequestError: If the plan is malformed, or does not fit.
    """
    benchmark = write_problems(frame_count, seed=seed)
    try:
        directory = AuditDirectory.existing(root / "audit")
        _require_drawn_from(benchmark, directory)
    except NotFoundError:
        frame, own = root / "benchmark.jsonl", root / "control.jsonl"
        _write_once(benchmark, frame)
        if control_count:
            _write_once(write_problems(control_count, seed=control_seed, prefix="own", apart_from=benchmark), own)
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


def _require_drawn_from(benchmark: FormBank, directory: AuditDirectory) -> None:
    """Refuse somebody else's audit, which a plan of ours would be written into."""
    frame = FormBank(tuple(replace(parent, fresh=(), deep=()) for parent in benchmark.parents))
    if read_draw(directory).frame_digest != frame.content_digest:
        raise ConflictError(f"'{directory.root}' is an audit of another benchmark; name another folder")


def _write_once(bank: FormBank, path: Path) -> None:
    """Write a bank where nothing lies, or the same bank does."""
    if path.exists() and (not path.is_file() or path.read_bytes() != bank_bytes(bank)):
        raise ConflictError(f"'{path}' holds something else, and nothing is overwritten; name another folder")
    write_bank(bank, path)
