"""Open a Hugging Face model by id or folder, and refuse early what could only fail later."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from huggingface_hub import snapshot_download
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from leakscale.adaptation.identity import model_digest, text_digest, tokenizer_digest
from leakscale.errors import ModelError, NotFoundError

__all__ = ["ModelFolder", "open_model_folder", "quiet_libraries", "use_threads"]

_DTYPES: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16}
_SAMPLE: Final = 'Policy key: K-7f3a91c2 {"choice":35}'
_NEEDED_FILES: Final = ["*.json", "*.jinja", "*.safetensors", "*.model", "*.txt"]


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model on disk with its tokenizer open and its identity known."""

    path: Path
    tokenizer: PreTrainedTokenizerBase
    model_digest: str
    tokenizer_digest: str
    template_digest: str

    def load(self, *, dtype: str, attention: str, device: str = "cpu") -> PreTrainedModel:
        """Load the weights in a dtype onto a device, ready for evaluation.

        Raises:
            ModelError: If the dtype is not one we know, or transformers cannot build the model.
        """
        if dtype not in _DTYPES:
            raise ModelError(f"dtype '{dtype}' is not one of {sorted(_DTYPES)}; choose one of them")
        try:
            with quiet_libraries():
                model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
                    self.path, dtype=_DTYPES[dtype], attn_implementation=attention, local_files_only=True
                )
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"model folder '{self.path}' cannot be loaded: {_first_line(error)}") from error
        model.to(device)  # type: ignore[arg-type]
        model.eval()  # type: ignore[no-untyped-call]
        return model


def open_model_folder(model: str | Path) -> ModelFolder:
    """Find a model by local folder or Hugging Face id, open its tokenizer and hash it.

    Raises:
        NotFoundError: If it is neither a folder nor an id that can be fetched.
        ModelError: If the folder lacks weights, a tokenizer, a chat template or an end-of-turn token.
    """
    path = _local_folder(model)
    if not (path / "config.json").is_file():
        raise ModelError(f"model folder '{path}' has no config.json; give the folder that save_pretrained wrote")
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, KeyError, json.JSONDecodeError) as error:
        raise ModelError(f"model folder '{path}' has no usable tokenizer: {_first_line(error)}") from error
    sample = tokenizer.encode(_SAMPLE, add_special_tokens=False)
    if str(tokenizer.decode(sample)).strip() != _SAMPLE:  # transformers makes an empty tokenizer of missing files
        raise ModelError(f"model folder '{path}' has no usable tokenizer: it cannot spell {_SAMPLE!r}")
    if not isinstance(tokenizer.chat_template, str):
        raise ModelError(
            f"model folder '{path}' has no chat template; use an instruct model, or put the template it was trained "
            "with into chat_template.jinja there"
        )
    return ModelFolder(
        path=path,
        tokenizer=tokenizer,
        model_digest=model_digest(path),
        tokenizer_digest=tokenizer_digest(tokenizer),
        template_digest=text_digest(tokenizer.chat_template),
    )


def check_model(model: str | Path) -> None:
    """See that a model can be adapted and asked; for whoever has work to do before.

    Raises:
        NotFoundError: If it is neither a folder nor an id that can be fetched.
        ModelError: If the folder lacks weights, a tokenizer, a chat template or an end-of-turn token.
    """
    open_model_folder(model)


def use_threads(count: int) -> None:
    """Pin the threads and the kernels, so that a second run on this machine makes the same bits.

    Does not guard against another CPU model or another torch: their kernels may round otherwise.
    """
    torch.set_num_threads(count)
    torch.use_deterministic_algorithms(True, warn_only=True)


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep transformers and peft from writing bars and deprecation notes of their own between our lines."""
    had_bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if had_bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _local_folder(model: str | Path) -> Path:
    """Return the folder itself, or the one that the Hugging Face cache has or fetches for an id."""
    if Path(model).is_dir():
        return Path(model)
    if isinstance(model, Path) or model.startswith((".", "/", "~")) or model.count("/") > 1:
        raise NotFoundError(f"model folder '{model}' does not exist; give a folder or a Hugging Face id")
    try:
        return Path(snapshot_download(model, allow_patterns=_NEEDED_FILES))
    except Exception as error:  # the hub raises a dozen unrelated classes; to the user all mean the same
        raise NotFoundError(
            f"model '{model}' is neither a local folder nor a Hugging Face id that can be fetched: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
