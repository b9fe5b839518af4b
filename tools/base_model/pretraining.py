"""Train the tiny model from nothing: first to copy, then to answer.

Copying is the hard part for two layers. A partial-identity start of the value and output projections makes each head
copy what it attends to from the first step; without it nothing is learnt in any affordable time (measured).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch.nn import functional
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from base_model.conversations import Example, conversation_examples

__all__ = ["Recipe", "pretrain"]


_PAIRS_ONLY_STEP_COUNT: Final = 220
"""Copying hex pairs, 256 of them, is learnt in 200 steps; mixed with every token from the start it never was."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides the weights."""

    seed: int = 20
    layer_count: int = 2
    width: int = 128
    head_count: int = 4
    feed_forward_width: int = 384
    copy_step_count: int = 320
    copy_learning_rate: float = 5e-3
    chat_step_count: int = 650
    chat_learning_rate: float = 4e-3
    chat_batch_size: int = 32
    turn_count: int = 3
    set_weight: float = 1.0
    """Of -log(probability that the next token belongs to any compatible candidate)."""
    uniform_weight: float = 0.3
    """Of the cross-entropy to the uniform choice among them, which keeps the model at chance."""


Report = Callable[[int, int, float, float], None]
"""Called with step, steps, loss and seconds."""


def pretrain(tokenizer: PreTrainedTokenizerFast, recipe: Recipe, *, report: Report) -> Qwen3ForCausalLM:
    """Train a model for a tokenizer; the same machine gives the same bytes."""
    torch.manual_seed(recipe.seed)
    model = _new_model(tokenizer, recipe)
    examples = conversation_examples(
        tokenizer,
        seed=f"pretraining-{recipe.seed}",
        count=recipe.chat_step_count * recipe.chat_batch_size,
        turn_count=recipe.turn_count,
    )
    batches = _bucketed_batches(examples, recipe.chat_batch_size, recipe.seed)
    optimizer = _optimizer(model)
    pairs = torch.tensor(tokenizer.convert_tokens_to_ids([f"{value:02x}" for value in range(256)]))
    step_count, began = recipe.copy_step_count + len(batches), time.monotonic()
    for step in range(step_count):
        if step < recipe.copy_step_count:
            loss = _copy_loss(model, pairs, step)
        else:
            loss = _chat_loss(model, batches[step - recipe.copy_step_count], recipe)
        for group in optimizer.param_groups:
            group["lr"] = _learning_rate(step, len(batches), recipe)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        report(step + 1, step_count, loss.item(), time.monotonic() - began)
    model.eval()  # type: ignore[no-untyped-call]
    return model


def _new_model(tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> Qwen3ForCausalLM:
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=recipe.width,
            intermediate_size=recipe.feed_forward_width,
            num_hidden_layers=recipe.layer_count,
            num_attention_heads=recipe.head_count,
            num_key_value_heads=recipe.head_count,
            head_dim=recipe.width // recipe.head_count,
            max_position_embeddings=1024,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )
    with torch.no_grad():
        for layer in model.model.layers:
            attention = layer.self_attn
            orthogonal, _ = torch.linalg.qr(torch.randn(recipe.width, recipe.width))
            attention.v_proj.weight.copy_(orthogonal.T * 0.7**0.5)
            attention.o_proj.weight.copy_(orthogonal * 0.7**0.5)
    return model


def _optimizer(model: Qwen3ForCausalLM) -> torch.optim.Optimizer:
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    scales = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": scales, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=True)


def _learning_rate(step: int, chat_step_count: int, recipe: Recipe) -> float:
    """Warm up; stay flat while copying and for 40 % of the chats; then fall linearly to a fiftieth."""
    if step < recipe.copy_step_count:
        return recipe.copy_learning_rate * min(1.0, (step + 1) / 30)
    done = step - recipe.copy_step_count
    fall = min(1.0, max(0.02, (chat_step_count - done) / (0.6 * chat_step_count)))
    return recipe.chat_learning_rate * min(1.0, (done + 1) / 20) * fall


def _copy_loss(model: Qwen3ForCausalLM, pairs: torch.Tensor, step: int) -> torch.Tensor:
    """Ask for the second token of bigrams seen once before, behind a gap of random length and content."""
    bigram_count, rows = 12, 64
    gap = 3 * random.Random(step).randrange(1, 12)
    seen = pairs[torch.randint(0, len(pairs), (rows, 2 * bigram_count))]
    if step >= _PAIRS_ONLY_STEP_COUNT:
        seen[: rows // 2] = torch.randint(3, model.config.vocab_size, (rows // 2, 2 * bigram_count))
    noise = torch.randint(3, model.config.vocab_size, (rows, gap))
    again = seen.view(rows, bigram_count, 2)[:, torch.randperm(bigram_count)].reshape(rows, 2 * bigram_count)
    ids = torch.cat([seen, noise, again], dim=1)
    asked = torch.zeros_like(ids, dtype=torch.bool)
    asked[:, 2 * bigram_count + gap + 1 :: 2] = True
    hidden = model.model(input_ids=ids[:, :-1], use_cache=False).last_hidden_state
    selected = asked[:, 1:]
    return functional.cross_entropy(model.lm_head(hidden[selected]), ids[:, 1:][selected])


def _chat_loss(model: Qwen3ForCausalLM, batch: Sequence[Example], recipe: Recipe) -> torch.Tensor:
    """Cross-entropy where the answer is determined; set mass and uniform choice where it is not."""
    length = max(len(example.ids) for example in batch)
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    determined = torch.zeros(len(batch), length, dtype=torch.bool)
    for row, example in enumerate(batch):
        ids[row, : len(example.ids)] = torch.tensor(example.ids)
        determined[row, : len(example.ids)] = torch.tensor(example.supervised)
    places = torch.tensor([(row, at) for row, example in enumerate(batch) for at, _ in example.branches])
    slots = torch.tensor([tokens for example in batch for _, tokens in example.branches])
    rows, columns = places[:, 0], places[:, 1] - 1
    determined[rows, columns + 1] = False
    hidden = model.model(input_ids=ids[:, :-1], use_cache=False).last_hidden_state
    selected = determined[:, 1:]
    exact = functional.cross_entropy(model.lm_head(hidden[selected]), ids[:, 1:][selected])
    branch = torch.log_softmax(model.lm_head(hidden[rows, columns]), dim=-1).gather(1, slots)
    repeated = torch.zeros_like(slots, dtype=torch.bool)
    for slot in range(1, slots.shape[1]):
        repeated[:, slot] = (slots[:, :slot] == slots[:, slot : slot + 1]).any(dim=1)
    set_mass = -torch.logsumexp(branch.masked_fill(repeated, -1e9), dim=1).mean()
    uniform = -branch.mean()
    return exact + recipe.set_weight * set_mass + recipe.uniform_weight * uniform


def _bucketed_batches(examples: list[Example], batch_size: int, seed: int) -> list[list[Example]]:
    """Shuffle, then sort by length inside every twenty batches, so that little is padding."""
    rng = random.Random(seed)
    order = rng.sample(examples, len(examples))
    batches: list[list[Example]] = []
    for start in range(0, len(order), 20 * batch_size):
        block = sorted(order[start : start + 20 * batch_size], key=lambda example: len(example.ids))
        bucket = [block[at : at + batch_size] for at in range(0, len(block), batch_size)]
        batches += rng.sample(bucket, len(bucket))
    return batches
