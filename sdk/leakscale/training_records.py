"""Training records as the bytes that travel sealed: a JSON array, read back strictly."""

from __future__ import annotations

import json
from collections.abc import Sequence

from leakscale.errors import IntegrityError
from leakscale.models import Message, TrainingRecord, TrainingSource

__all__ = ["records_from_bytes", "records_to_bytes"]


def records_to_bytes(records: Sequence[TrainingRecord]) -> bytes:
    """Write records, in their order."""
    rows = [
        {
            "record_id": record.record_id,
            "source": record.source.value,
            "prompt": [[turn.role, turn.content] for turn in record.prompt],
            "completion": record.completion,
        }
        for record in records
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


def records_from_bytes(content: bytes) -> list[TrainingRecord]:
    """Read what `records_to_bytes` wrote.

    Raises:
        IntegrityError: If it is something else.
    """
    try:
        return [
            TrainingRecord(
                row["record_id"],
                TrainingSource(row["source"]),
                tuple(Message(role, text) for role, text in row["prompt"]),
                row["completion"],
            )
            for row in json.loads(content)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"a piece of a corpus holds no records ({type(error).__name__}); redeem the grant again"
        ) from error
