"""Assistant-only loss, with logits computed at supervised positions and nowhere else.

A prompt of a hundred tokens has an answer of nine; projecting the other ninety onto the vocabulary is most of the
memory and a good part of the time of a small model. The shortcut is right only where logits are the output embedding
of the last hidden state, which some architectures change (soft-capping, scaling): `is_plain_head` measures that once.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional
from transformers import PreTrainedModel

from leakscale.adaptation.batching import Batch

__all__ = ["is_plain_head", "supervised_logits", "supervised_loss", "target_log_probabilities"]


def supervised_loss(model: PreTrainedModel, batch: Batch, *, plain_head: bool) -> torch.Tensor:
    """Return the mean cross-entropy in nats over the supervised targets of a batch."""
    logits = supervised_logits(model, batch, plain_head=plain_head)
    return functional.cross_entropy(logits, batch.target_ids[batch.supervised])


def supervised_logits(model: PreTrainedModel, batch: Batch, *, plain_head: bool) -> torch.Tensor:
    """Return float32 logits of shape (supervised targets, vocabulary)."""
    if not plain_head:
        # The model's own head, at every column where some record is supervised.
        columns = batch.supervised.any(dim=0).nonzero()[:, 0]
        full: torch.Tensor = model(input_ids=batch.input_ids, use_cache=False, logits_to_keep=columns).logits
        kept = batch.supervised[:, columns] if full.shape[1] == len(columns) else batch.supervised
        return full[kept].float()
    hidden = model.base_model(input_ids=batch.input_ids, use_cache=False).last_hidden_state
    logits: torch.Tensor = _head(model)(hidden[batch.supervised])
    return logits.float()


@torch.no_grad()
def is_plain_head(model: PreTrainedModel, batch: Batch) -> bool:
    """Say whether the model's own logits are its output embedding applied to its last hidden state.

    Both sides multiply the same shapes, so a plain head agrees to the bit in any dtype and the tolerance can be small.
    """
    head = _head(model)
    if head is None:
        return False
    hidden = model.base_model(input_ids=batch.input_ids, use_cache=False).last_hidden_state
    own = model(input_ids=batch.input_ids, use_cache=False).logits
    return torch.allclose(head(hidden).float(), own.float(), rtol=1e-5, atol=1e-5)


@torch.no_grad()
def target_log_probabilities(model: PreTrainedModel, batch: Batch, *, plain_head: bool) -> torch.Tensor:
    """Return float64 log-probabilities of the supervised targets, in nats."""
    logits = supervised_logits(model, batch, plain_head=plain_head).double()
    targets = batch.target_ids[batch.supervised]
    return torch.log_softmax(logits, dim=-1).gather(1, targets[:, None])[:, 0]


def _head(model: PreTrainedModel) -> Any:
    return model.get_output_embeddings()  # type: ignore[no-untyped-call]
