"""Every record is seen once, and padding is invisible."""

from __future__ import annotations

from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st

from leakscale.adaptation.batching import collate, epoch
from leakscale.adaptation.rendering import EncodedRecord


@given(st.lists(st.integers(2, 90), min_size=1, max_size=400), st.integers(1, 33), st.integers(0, 5))
def test_epoch_holds_each_record_once_in_a_seeded_order(lengths: list[int], batch_size: int, seed: int) -> None:
    """A record seen twice or never would change the dose."""
    batches = epoch(lengths, batch_size=batch_size, seed=seed)

    assert Counter(index for batch in batches for index in batch) == Counter(range(len(lengths)))
    assert max(map(len, batches)) <= batch_size
    assert batches == epoch(lengths, batch_size=batch_size, seed=seed)


def test_order_changes_with_the_seed() -> None:
    """Otherwise five seeds would be one."""
    lengths = list(range(2, 60))

    assert epoch(lengths, batch_size=4, seed=0) != epoch(lengths, batch_size=4, seed=1)


def test_end_token_is_supervised_even_when_padding_has_its_id() -> None:
    """Models without a pad token pad with the end token; masks made by value then hide the end."""
    end = 0
    short, long = EncodedRecord("short", (5, 6, 7, end), 2), EncodedRecord("long", (5, 6, 7, 8, 9, end), 3)

    batch = collate([short, long])

    assert batch.target_ids[batch.supervised].tolist() == [7, end, 8, 9, end]
    assert batch.supervised.sum(dim=1).tolist() == [2, 3]
    assert batch.supervised_count == 5
    assert batch.input_ids.dtype == torch.long
