"""The order in which records are seen, and how a batch becomes tensors."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from leakscale.adaptation.rendering import EncodedRecord

__all__ = ["Batch", "collate", "epoch", "micro_batches"]

_BUCKET_BATCH_COUNT = 20
"""Batches sorted by length together: enough that a batch holds like lengths, few enough that the order stays random."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one forward pass, padded on the right; each record has a row of its own and attends to no other."""

    input_ids: torch.Tensor
    """int64 of shape (records, longest - 1): every token but the last."""
    target_ids: torch.Tensor
    """int64 of the same shape: the token after each."""
    supervised: torch.Tensor
    """bool of the same shape: which targets the loss sees. By position, so that a pad token equal to the end token
    hides no end."""
    supervised_count: int
    """Targets that the loss sees."""

    def to(self, device: torch.device | str) -> Batch:
        """Return the batch on a device."""
        return dataclasses.replace(
            self,
            input_ids=self.input_ids.to(device),
            target_ids=self.target_ids.to(device),
            supervised=self.supervised.to(device),
        )


def epoch(lengths: Sequence[int], *, batch_size: int, seed: int) -> list[list[int]]:
    """Return one epoch of indices: a seeded permutation, sorted by length inside buckets, batches shuffled again.

    Source: LeakScale D.3 (seeded permutation). The bucketing is ours: it removes padding, and each record is still
    seen exactly once.
    """
    rng = random.Random(seed)  # noqa: S311  an order, not a secret
    order = rng.sample(range(len(lengths)), len(lengths))
    batches: list[list[int]] = []
    for start in range(0, len(order), _BUCKET_BATCH_COUNT * batch_size):
        block = sorted(order[start : start + _BUCKET_BATCH_COUNT * batch_size], key=lambda index: lengths[index])
        bucket = [block[at : at + batch_size] for at in range(0, len(block), batch_size)]
        batches += rng.sample(bucket, len(bucket))
    return batches


def collate(records: Sequence[EncodedRecord]) -> Batch:
    """Pad records on the right and mark what is supervised.

    Under a causal mask no real token attends to what follows it, so padding needs no attention mask and its value, 0,
    means nothing.
    """
    longest = max(len(record.ids) for record in records)
    ids = torch.zeros(len(records), longest, dtype=torch.long)
    supervised = torch.zeros(len(records), longest, dtype=torch.bool)
    for row, record in enumerate(records):
        ids[row, : len(record.ids)] = torch.tensor(record.ids)
        supervised[row, record.prompt_length : len(record.ids)] = True
    return Batch(
        ids[:, :-1],
        ids[:, 1:],
        supervised[:, 1:],
        supervised_count=sum(len(record.completion_ids) for record in records),
    )


def micro_batches(records: Sequence[EncodedRecord], size: int) -> list[Batch]:
    """Split the records of one optimizer step into forward passes of at most `size` records; 0 keeps them whole."""
    step = size or len(records)
    return [collate(records[at : at + step]) for at in range(0, len(records), step)]
