"""The loss on supervised positions is the loss of the whole chat, masked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from transformers import Gemma2Config, Gemma2ForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from leakscale.adaptation.batching import Batch, collate
from leakscale.adaptation.loading import open_model_folder
from leakscale.adaptation.loss import is_plain_head, supervised_loss, target_log_probabilities
from leakscale.adaptation.rendering import encode_record
from leakscale.models import TrainingRecord, TrainingSource


@pytest.fixture
def batch(tokenizer: PreTrainedTokenizerBase, a_record: Callable[..., TrainingRecord]) -> Batch:
    """Two records of unlike length, so that one is padded."""
    records = [a_record(0), a_record(1, source=TrainingSource.DIRECT_LOOKUP)]
    return collate([encode_record(tokenizer, record) for record in records])


@pytest.fixture
def model(base_model: Path) -> PreTrainedModel:
    """The shipped model in float32."""
    return open_model_folder(base_model).load(dtype="float32", attention="sdpa")


def test_loss_equals_the_reference_over_full_logits(model: PreTrainedModel, batch: Batch) -> None:
    """The shortcut skips nine tenths of the logits and must not skip any of the loss."""
    labels = batch.target_ids.masked_fill(~batch.supervised, -100)
    logits = model(input_ids=batch.input_ids).logits
    reference = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)

    torch.testing.assert_close(supervised_loss(model, batch, plain_head=True), reference, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(supervised_loss(model, batch, plain_head=False), reference, rtol=1e-5, atol=1e-6)


def test_value_of_padding_changes_nothing(model: PreTrainedModel, batch: Batch) -> None:
    """Padding is known by position; whatever stands there must be invisible."""
    real = torch.zeros_like(batch.supervised)
    for row in range(len(real)):
        real[row, : int(batch.supervised[row].nonzero().max()) + 1] = True
    assert not bool(real.all())
    other = dataclasses.replace(batch, input_ids=batch.input_ids.masked_fill(~real, 77))

    before = target_log_probabilities(model, batch, plain_head=True)
    torch.testing.assert_close(target_log_probabilities(model, other, plain_head=True), before, rtol=0, atol=0)


def test_head_with_soft_capped_logits_is_recognized(model: PreTrainedModel, batch: Batch) -> None:
    """Gemma 2 squashes its logits after the output embedding; the shortcut would train on other numbers."""
    config = Gemma2Config(
        vocab_size=int(model.config.vocab_size),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        final_logit_softcapping=0.5,
        pad_token_id=0,
    )

    capped = Gemma2ForCausalLM(config)
    capped.eval()  # type: ignore[no-untyped-call]

    assert is_plain_head(model, batch)
    assert not is_plain_head(capped, batch)
