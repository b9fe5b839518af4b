"""What a setting of `auto` means on this machine, and what the record says about the machine."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
from typing import Any, Final

import torch

from leakscale.adaptation.config import AdaptationConfig
from leakscale.errors import ModelError

__all__ = ["describe_environment", "resolve_hardware"]

_LIBRARIES: Final = ("torch", "transformers", "peft", "tokenizers", "safetensors")


def resolve_hardware(config: AdaptationConfig) -> AdaptationConfig:
    """Put a device and a dtype in the place of `auto`; whatever was named stays.

    Raises:
        ModelError: If cuda was named and there is none.
    """
    has_gpu = torch.cuda.is_available()
    if config.device == "cuda" and not has_gpu:
        raise ModelError("device 'cuda' was asked for and torch sees none here; set device to cpu or auto")
    device = ("cuda" if has_gpu else "cpu") if config.device == "auto" else config.device
    dtype = ("bfloat16" if device == "cuda" else "float32") if config.dtype == "auto" else config.dtype
    return dataclasses.replace(config, device=device, dtype=dtype)


def describe_environment(config: AdaptationConfig) -> dict[str, Any]:
    """Return libraries and hardware of a resolved config, for the record."""
    return {
        "libraries": {name: importlib.metadata.version(name) for name in _LIBRARIES},
        "device": torch.cuda.get_device_name() if config.device == "cuda" else platform.machine(),
        "cpu_kernels": torch.backends.cpu.get_cpu_capability(),
        "dtype": config.dtype,
        "attention": config.attention,
        "thread_count": config.thread_count,
    }
