"""Put scores where they belong in an audit's directory, and enter them in its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.standing import Standing
from leakscale.audit.scores import ScoreTable
from leakscale.errors import ConflictError

__all__ = ["enter_file", "file_table"]


def file_table(directory: AuditDirectory, path: Path, table: ScoreTable, facts: Mapping[str, Any]) -> Path:
    """Write a table and enter it, once; return its path. Hold the directory meanwhile.

    Raises:
        ConflictError: If other scores lie there, or were entered.
    """
    Standing(directory).require_free(path, table.digest)
    if path.is_file() and ScoreTable.from_jsonl(path) != table:
        raise ConflictError(
            f"'{path}' holds other scores of {table.model} already; who may answer twice may keep the better run"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_jsonl(path)
    enter_file(directory, path, bytes.fromhex(table.digest), {**facts, "metric": table.metric})
    return path


def enter_file(directory: AuditDirectory, path: Path, digest: bytes, facts: Mapping[str, Any]) -> None:
    """Enter a file of scores in the ledger, once. Hold the directory meanwhile."""
    subject = path.relative_to(directory.root).as_posix()
    AuditLedger(directory).append_once(EntryKind.SCORES, subject=subject, digest=digest, facts=facts)
