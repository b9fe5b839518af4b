"""Identity of models, tokenizers and adapters: SHA-256 over what they compute with, not over their files.

The bytes of a safetensors file depend on key order and metadata, and those of `adapter_config.json` on the hash seed
of the process that wrote it. So tensors are hashed sorted by name, and settings as canonical JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import torch
from safetensors import safe_open
from transformers import PreTrainedTokenizerBase

from leakscale.errors import ModelError

__all__ = ["json_digest", "model_digest", "safetensors_digest", "tensors_digest", "text_digest", "tokenizer_digest"]

_VOLATILE_SETTINGS = frozenset({"_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures"})
"""Entries of a `config.json` that say who wrote it or how to load it, not what it computes."""


def text_digest(text: str) -> str:
    """Return the hex SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def json_digest(value: object) -> str:
    """Return the hex SHA-256 of a JSON value written with sorted keys and no spaces."""
    return text_digest(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False))


def tensors_digest(tensors: Iterable[tuple[str, torch.Tensor]]) -> str:
    """Hash tensors as `name|dtype|shape|` and raw bytes each. They must come sorted by name.

    An iterable, so that a model larger than memory can be hashed tensor by tensor.
    """
    state = hashlib.sha256()
    for name, tensor in tensors:
        flat = tensor.detach().cpu().contiguous()
        state.update(f"{name}|{flat.dtype}|{tuple(flat.shape)}|".encode())
        state.update(flat.reshape(-1).view(torch.uint8).numpy().tobytes())
    return state.hexdigest()


def safetensors_digest(files: Iterable[Path]) -> str:
    """Hash the tensors of one or more safetensors files, whatever the shards they are split into."""
    places = {}
    for file in files:
        with safe_open(file, framework="pt") as opened:
            places.update(dict.fromkeys(opened.keys(), file))

    def tensors() -> Iterable[tuple[str, torch.Tensor]]:
        for name in sorted(places):
            with safe_open(places[name], framework="pt") as opened:
                yield name, opened.get_tensor(name)

    return tensors_digest(tensors())


def model_digest(folder: Path) -> str:
    """Hash the weights as stored and the settings of a model folder, so that it is the same under any load dtype.

    Raises:
        ModelError: If the folder holds no safetensors weights.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ModelError(
            f"model folder '{folder}' holds no *.safetensors weights; save it with model.save_pretrained(folder)"
        )
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kept = {name: value for name, value in settings.items() if name not in _VOLATILE_SETTINGS}
    return json_digest({"tensors": safetensors_digest(files), "settings": kept})


def tokenizer_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Hash the vocabulary, merges and special tokens of a tokenizer."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    pipeline = json.loads(backend.to_str()) if backend is not None else tokenizer.get_vocab()
    return json_digest({"pipeline": pipeline, "special": [str(token) for token in tokenizer.all_special_tokens]})
