"""Untrained models of the architectures that studies use, around the shipped model's tokenizer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
)
from transformers.models.gemma4 import Gemma4ForCausalLM, Gemma4TextConfig

__all__ = ["ARCHITECTURES", "random_model"]

_SIZES: Final[dict[str, Any]] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
}
_SLIDING: Final[dict[str, Any]] = {
    "sliding_window": 16,  # shorter than any prompt
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
}


def _gemma4(vocabulary: int, ends: dict[str, Any]) -> PreTrainedModel:
    config = Gemma4TextConfig(
        vocab_size=vocabulary,
        vocab_size_per_layer_input=vocabulary,
        hidden_size_per_layer_input=8,
        num_kv_shared_layers=0,
        final_logit_softcapping=30.0,
        **_SIZES,
        **_SLIDING,
        **ends,
    )
    return Gemma4ForCausalLM(config)


_BUILDERS: Final[dict[str, Callable[[int, dict[str, Any]], PreTrainedModel]]] = {
    "qwen3": lambda vocabulary, ends: Qwen3ForCausalLM(Qwen3Config(vocab_size=vocabulary, **_SIZES, **ends)),
    "llama": lambda vocabulary, ends: LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, **_SIZES, **ends)),
    "gemma3": lambda vocabulary, ends: Gemma3ForCausalLM(
        Gemma3TextConfig(vocab_size=vocabulary, **_SIZES, **_SLIDING, **ends)
    ),
    "gemma4": _gemma4,
}
ARCHITECTURES: Final = tuple(_BUILDERS)


def random_model(architecture: str, tokenizer_of: Path, folder: Path) -> Path:
    """Save an untrained model with another model's tokenizer and chat template; the same weights each time."""
    settings = json.loads((tokenizer_of / "config.json").read_text())
    ends = {"eos_token_id": settings["eos_token_id"], "bos_token_id": None, "pad_token_id": settings["pad_token_id"]}
    torch.manual_seed(20_260_101)
    model = _BUILDERS[architecture](settings["vocab_size"], ends)
    for parameter in model.parameters():  # larger than a fresh model's, so that its distributions are not flat
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(tokenizer_of / name, folder / name)
    return folder
