"""An import on disk: the table of scores, and beside it what was overlooked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leakscale.audit.importers.building import Imported
from leakscale.audit.scores import ScoreTable
from leakscale.errors import ConflictError
from leakscale.whole_files import write_whole

__all__ = ["import_record", "notes_path", "save_import"]


def save_import(imported: Imported, path: Path) -> Path:
    """Write the scores to `path` and the record of the import beside them.

    Returns:
        The file of the record.

    Raises:
        ConflictError: If other scores are there. Whoever may import twice may keep the better one.
    """
    if path.exists() and ScoreTable.from_jsonl(path) != imported.table:
        raise ConflictError(
            f"'{path}' holds other scores of {imported.table.model} already; import those logs again, or name another "
            "file (--out)"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    record = notes_path(path)
    # The record first: scores without it would look as if nothing had been overlooked.
    write_whole(record, (json.dumps(import_record(imported), indent=2, ensure_ascii=False) + "\n").encode())
    imported.table.to_jsonl(path)
    return record


def notes_path(path: Path) -> Path:
    """Return the file of the record that belongs to a file of scores."""
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.import.json")


def import_record(imported: Imported) -> dict[str, Any]:
    """Return what a reader has to know about an import, as plain JSON values."""
    table = imported.table
    return {
        "model": table.model,
        "logged_model": imported.logged_model,
        "state": table.state,
        "kind": str(table.kind),
        "metric": table.metric,
        "parent_count": len(table.parent_ids),
        "fresh_count": table.fresh_count,
        "deep_count": table.deep_count,
        "missing_count": sum(1 for _ in table.missing()),
        "unused_count": imported.unused_count,
        "truncated": dict(imported.truncated),
        "writers": list(imported.writers),
        "sources": [{"name": source.name, "sha256": source.sha256} for source in table.sources],
        "allowed": [
            {"rule": str(each.rule), "name": each.name, "found": each.found, "expected": each.expected}
            for each in imported.allowed
        ],
        "are_prompts_trusted": imported.are_prompts_trusted,
        "bank_digest": table.bank_digest,
        "digest": table.digest,
        "notes": imported.notes(),
    }
