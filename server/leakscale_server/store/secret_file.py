"""Secrets that lie in a file of mode 0600, made on first use."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

__all__ = ["load_or_create"]


def load_or_create(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return what is in the file, or make it and write it there.

    The file appears whole or not at all: half a key, left by a full disk or a kill, would be believed for ever.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(make())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path.read_bytes()
