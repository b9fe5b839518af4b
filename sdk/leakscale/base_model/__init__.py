"""The tiny language model that ships with the package, so that the whole measurement runs offline in a minute.

It was trained from random numbers to copy a candidate into a JSON answer and knows no key: see `MANIFEST.json` beside
the weights for script, seed and digests, and `make base-model` to rebuild it.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

__all__ = ["base_model_folder", "named_model"]

_NAME: Final = "tiny"


def base_model_folder() -> Path:
    """Return the model folder; the package is never imported from a zip, so it is a real one."""
    return Path(str(files(__name__))) / "tiny-qwen3"


def named_model(source: str | Path) -> str | Path:
    """Return the shipped model's folder for `tiny`, any other source as it is: a plan names no path of a machine."""
    return base_model_folder() if source == _NAME else source
