"""The ledger of a corpus: how many records and tokens each source brings into the one epoch.

Tokens are those of the model's own tokenizer after its own chat template. The target answer is counted apart from the
supervised suffix, which also holds the template's end of turn.

Source: LeakScale D.2 (token counts by source).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from leakscale.adaptation.corpus import REPEATED_SOURCES, Corpus
from leakscale.adaptation.rendering import EncodedRecord, special_ids
from leakscale.models import TrainingSource

__all__ = ["CorpusLedger", "SourceLedger", "corpus_ledger"]


@dataclass(frozen=True, slots=True)
class SourceLedger:
    """What one source brings; token counts are over its physical records, each counted once."""

    source: TrainingSource
    record_count: int
    """Physical records."""
    repeat_count: int
    """Times each is seen in the epoch."""
    prompt_token_count: int
    answer_token_count: int
    """Tokens of the target answers alone."""
    supervised_token_count: int
    """Tokens that the loss sees: the answers with the template's end of turn."""

    @property
    def epoch_record_count(self) -> int:
        """Records of the epoch, repeats counted."""
        return self.record_count * self.repeat_count

    @property
    def epoch_token_count(self) -> int:
        """Tokens of the epoch, repeats counted, padding not."""
        return (self.prompt_token_count + self.supervised_token_count) * self.repeat_count

    @property
    def epoch_supervised_token_count(self) -> int:
        """Tokens that the loss sees in the epoch, repeats counted."""
        return self.supervised_token_count * self.repeat_count

    def scaled_to(self, record_count: int, *, repeat_count: int) -> SourceLedger:
        """Project the ledger to another number of records of the same mean lengths, for planning; rounded up."""

        def project(count: int) -> int:
            return -(-count * record_count // self.record_count) if self.record_count else 0

        return SourceLedger(
            self.source,
            record_count,
            repeat_count,
            project(self.prompt_token_count),
            project(self.answer_token_count),
            project(self.supervised_token_count),
        )


@dataclass(frozen=True, slots=True)
class CorpusLedger:
    """All sources of a corpus, in the order of their names."""

    sources: tuple[SourceLedger, ...]

    @property
    def record_count(self) -> int:
        """Physical records."""
        return sum(each.record_count for each in self.sources)

    @property
    def epoch_record_count(self) -> int:
        """Records of the epoch, repeats counted."""
        return sum(each.epoch_record_count for each in self.sources)

    @property
    def epoch_token_count(self) -> int:
        """Tokens of the epoch, repeats counted, padding not."""
        return sum(each.epoch_token_count for each in self.sources)

    @property
    def epoch_supervised_token_count(self) -> int:
        """Tokens that the loss sees in the epoch, repeats counted."""
        return sum(each.epoch_supervised_token_count for each in self.sources)

    def to_json(self) -> dict[str, Any]:
        """Return each source's counts by its name."""
        rows = (asdict(each) for each in self.sources)
        return {str(row.pop("source")): row for row in rows}


def corpus_ledger(tokenizer: PreTrainedTokenizerBase, corpus: Corpus, *, repeat_count: int) -> CorpusLedger:
    """Count the records and tokens of an encoded corpus by source."""
    special = special_ids(tokenizer)
    found = sorted(set(corpus.sources))
    return CorpusLedger(
        tuple(
            _source_ledger(
                source,
                (record for record, its in zip(corpus.records, corpus.sources, strict=True) if its is source),
                repeat_count if source in REPEATED_SOURCES else 1,
                special,
            )
            for source in found
        )
    )


def _source_ledger(
    source: TrainingSource, records: Iterable[EncodedRecord], repeat_count: int, special: frozenset[int]
) -> SourceLedger:
    count = prompt = answer = supervised = 0
    for record in records:
        count += 1
        prompt += record.prompt_length
        supervised += len(record.completion_ids)
        answer += sum(token not in special for token in record.completion_ids)
    return SourceLedger(source, count, repeat_count, prompt, answer, supervised)
