"""Identity of models, tokenizers and adapters: SHA-256 over what they compute with, not over their files.

The bytes of a safetensors file depend on key order and metadata, and those of `adapter_config.json` on the hash seed
of the process that wrote it. So tensors are hashed sorted by name, and settings as canonical JSON.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import PreTrainedTokenizerBase

from leakscale.errors import ModelError
from leakscale.reading import parse_json, parse_object

__all__ = [
    "adapter_digest",
    "adapter_settings",
    "is_lora_b",
    "json_digest",
    "lora_digests",
    "model_digest",
    "safetensors_digest",
    "tensors_digest",
    "text_digest",
    "tokenizer_digest",
]

_VOLATILE_SETTINGS = frozenset({"_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures"})
"""Entries of a `config.json` that say who wrote it or how to load it, not what it computes."""
_VOLATILE_ADAPTER_SETTINGS = frozenset(
    {"base_model_name_or_path", "revision", "peft_version", "inference_mode", "auto_mapping", "init_lora_weights"}
)
"""The same of an `adapter_config.json`."""


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
    return tensors_digest(_stored_tensors(files))


def model_digest(folder: Path) -> str:
    """Hash the weights as stored and the settings of a model folder, so that it is the same under any load dtype.

    Raises:
        ModelError: If the folder holds no safetensors weights, or settings that cannot be read.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ModelError(
            f"model folder '{folder}' holds no *.safetensors weights; save it with model.save_pretrained(folder)"
        )
    try:
        settings = parse_object((folder / "config.json").read_bytes())
    except ValueError as error:
        raise ModelError(
            f"model folder '{folder}' has a damaged config.json ({error}); save it with model.save_pretrained(folder)"
        ) from error
    kept = {name: value for name, value in settings.items() if name not in _VOLATILE_SETTINGS}
    return json_digest({"tensors": safetensors_digest(files), "settings": kept})


def adapter_digest(folder: Path) -> str:
    """Hash the tensors of an adapter folder with the settings that say how they act: alpha, rank, target modules.

    Raises:
        ModelError: If the folder holds no adapter.
    """
    return json_digest(
        {"tensors": safetensors_digest(_adapter_files(folder)), "settings": adapter_settings(folder)},
    )


def adapter_settings(folder: Path) -> dict[str, Any]:
    """Read peft's settings without what says who wrote them; lists that it writes out of sets come sorted.

    Raises:
        ModelError: If the folder holds none.
    """
    try:
        stored = parse_object((folder / "adapter_config.json").read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(
            f"folder '{folder}' has no readable adapter_config.json; give the folder that `leakscale adapt` wrote"
        ) from error
    return {
        name: sorted(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value
        for name, value in stored.items()
        if name not in _VOLATILE_ADAPTER_SETTINGS
    }


def lora_digests(folder: Path) -> tuple[str, str]:
    """Return the digests of an adapter's lora_B tensors, and of all its others."""
    tensors = list(_stored_tensors(_adapter_files(folder)))
    scaled = [pair for pair in tensors if is_lora_b(pair[0])]
    return tensors_digest(scaled), tensors_digest([pair for pair in tensors if not is_lora_b(pair[0])])


def is_lora_b(name: str) -> bool:
    """Tell whether a stored tensor is a second factor, the one that strength multiplies."""
    return ".lora_B." in name or ".lora_embedding_B" in name


def tokenizer_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Hash the vocabulary, merges and special tokens of a tokenizer."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    pipeline = parse_json(backend.to_str()) if backend is not None else tokenizer.get_vocab()
    return json_digest({"pipeline": pipeline, "special": [str(token) for token in tokenizer.all_special_tokens]})


def _stored_tensors(files: Iterable[Path]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors of safetensors files sorted by name, one in memory at a time.

    Raises:
        ModelError: If a file is not whole.
    """
    with contextlib.ExitStack() as stack:
        places = {}
        for file in files:
            try:
                opened = stack.enter_context(safe_open(file, framework="pt"))
            except SafetensorError as error:
                raise ModelError(f"'{file}' is no whole safetensors file ({error}); copy it again") from error
            places.update(dict.fromkeys(opened.keys(), opened))
        for name in sorted(places):
            yield name, places[name].get_tensor(name)


def _adapter_files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("adapter_model*.safetensors"))
    if not files:
        raise ModelError(
            f"folder '{folder}' holds no adapter_model.safetensors; give the folder that `leakscale adapt` wrote"
        )
    return files
