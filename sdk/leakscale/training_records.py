"""Training records as the bytes that travel sealed: a JSON array, read back strictly; and the digest of a corpus."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leakscale.errors import IntegrityError
from leakscale.models import Domain, Message, TrainingRecord, TrainingSource
from leakscale.reading import parse_json

__all__ = [
    "corpus_digest",
    "families_by_domain",
    "record_from_row",
    "record_to_row",
    "records_from_bytes",
    "records_to_bytes",
]


def record_to_row(record: TrainingRecord) -> dict[str, Any]:
    """Return a record as JSON has it."""
    return {
        "record_id": record.record_id,
        "source": record.source.value,
        "prompt": [[turn.role, turn.content] for turn in record.prompt],
        "completion": record.completion,
    }


def record_from_row(row: Mapping[str, Any]) -> TrainingRecord:
    """Read what `record_to_row` returned.

    Raises:
        KeyError, TypeError, ValueError: If it is something else.
    """
    return TrainingRecord(
        row["record_id"],
        TrainingSource(row["source"]),
        tuple(Message(role, text) for role, text in row["prompt"]),
        row["completion"],
    )


def records_to_bytes(records: Sequence[TrainingRecord]) -> bytes:
    """Write records, in their order."""
    return json.dumps([record_to_row(each) for each in records], ensure_ascii=False, separators=(",", ":")).encode()


def records_from_bytes(content: bytes) -> list[TrainingRecord]:
    """Read what `records_to_bytes` wrote.

    Raises:
        IntegrityError: If it is something else.
    """
    try:
        return [record_from_row(row) for row in parse_json(content)]
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"a piece of a corpus holds no records ({type(error).__name__}); redeem the grant again"
        ) from error


def corpus_digest(records: Iterable[TrainingRecord]) -> str:
    """Return the hex SHA-256 of a corpus, whatever the order of its records: what an adapter's identity names."""
    rows = [
        [
            record.record_id,
            record.source,
            [[turn.role, turn.content] for turn in record.prompt],
            record.completion,
            *(() if record.is_chat else ("text",)),
        ]
        for record in sorted(records, key=lambda record: record.record_id)
    ]
    text = json.dumps(rows, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def families_by_domain(families: Iterable[tuple[Domain, str]]) -> dict[str, str]:
    """Return for each domain the SHA-256 over the ids of its families, sorted; a ring more or less changes nothing.

    Args:
        families: Domain and id of every family, in any order, each as often as one likes.
    """
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for domain, family_id in families:
        ids[domain.value].add(family_id)
    return {name: hashlib.sha256("\n".join(sorted(own)).encode()).hexdigest() for name, own in sorted(ids.items())}
