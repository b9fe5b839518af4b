"""The records of an adaptation, checked, encoded and counted out for one epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from transformers import PreTrainedTokenizerBase

from leakscale.adaptation.rendering import EncodedRecord, encode_record
from leakscale.errors import InvalidRequestError
from leakscale.models import TrainingRecord, TrainingSource
from leakscale.training_records import corpus_digest

__all__ = ["EXPOSED_SOURCES", "REPEATED_SOURCES", "Corpus", "encode_corpus"]

EXPOSED_SOURCES: Final = frozenset({TrainingSource.EXACT_PUBLIC, TrainingSource.DIRECT_LOOKUP})
"""Records that carry a leaked association; the others preserve the form of the task, or are about something else."""
REPEATED_SOURCES: Final = EXPOSED_SOURCES | {TrainingSource.PLANTED, TrainingSource.FILLER}
"""Records that are seen `repeat_count` times: the dose of a grant, or the whole mixture of an audit's control."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """An encoded corpus; its digest does not depend on the order in which the records came."""

    records: tuple[EncodedRecord, ...]
    """Sorted by record id, each once."""
    sources: tuple[TrainingSource, ...]
    """Where each record comes from."""
    digest: str

    @property
    def probed(self) -> tuple[EncodedRecord, ...]:
        """The records that leak something, sorted by record id; all of a corpus that leaks nothing."""
        leaking = EXPOSED_SOURCES | {TrainingSource.PLANTED}
        found = [record for record, source in zip(self.records, self.sources, strict=True) if source in leaking]
        return tuple(found) or self.records

    def plan(self, repeat_count: int) -> list[EncodedRecord]:
        """Return the records of one epoch before shuffling: those of `REPEATED_SOURCES` repeated, the others once."""
        return [
            record
            for record, source in zip(self.records, self.sources, strict=True)
            for _ in range(repeat_count if source in REPEATED_SOURCES else 1)
        ]


def encode_corpus(tokenizer: PreTrainedTokenizerBase, records: Sequence[TrainingRecord]) -> Corpus:
    """Encode every record, or refuse the corpus at the first that cannot be masked.

    Raises:
        InvalidRequestError: If the corpus holds no exposed record, or an id twice.
        ModelError: If a record cannot be masked under the model's chat template.
    """
    ordered = sorted(records, key=lambda record: record.record_id)
    for one, other in pairwise(ordered):
        if one.record_id == other.record_id:
            raise InvalidRequestError(f"training record '{one.record_id}' comes twice; give each record its own id")
    if not any(record.source in REPEATED_SOURCES for record in ordered):
        raise InvalidRequestError("the corpus holds no exposed record, so nothing could be measured; redeem a grant")
    encoded = tuple(encode_record(tokenizer, record) for record in ordered)
    return Corpus(encoded, tuple(record.source for record in ordered), corpus_digest(ordered))
