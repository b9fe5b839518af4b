"""A file of training state that carries the SHA-256 of its own bytes, so that damage is seen before it is trained on.

One line, `leakscale checkpoint 1 <SHA-256 in hex>`, then what torch saved. Digest and state are one file: a kill
between two files would make a sound checkpoint look damaged. It guards against damage, not against somebody who
writes a digest to match.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, cast

import torch

from leakscale.errors import IntegrityError

__all__ = ["load_state", "save_state"]

_MARK: Final = b"leakscale checkpoint 1 "
_DIGEST_LENGTH: Final = 64
_HEADER_LENGTH: Final = len(_MARK) + _DIGEST_LENGTH + 1
_ADVICE: Final = "delete it to train again from the first step"


class _Hashed:
    """Hash what torch writes on its way to the disk."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def save_state(state: dict[str, Any], path: Path) -> None:
    """Replace the file atomically; a crash leaves the old one or the new one.

    Raises:
        OSError: If it cannot be written; RuntimeError where torch says so. The old one stays, and no half file.
    """
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("wb") as file:
            file.write(_header("0" * _DIGEST_LENGTH))
            hashed = _Hashed(file)
            torch.save(state, cast("IO[bytes]", hashed))
            file.seek(0)
            file.write(_header(hashed.digest.hexdigest()))
            file.flush()
            os.fsync(file.fileno())
    except (OSError, RuntimeError):
        fresh.unlink(missing_ok=True)  # of a full disk, half a file would be the last straw
        raise
    fresh.replace(path)


def load_state(path: Path) -> dict[str, Any] | None:
    """Read the file; None when there is none.

    Raises:
        IntegrityError: If its bytes are not those that were written, or torch cannot read them.
        OSError: If it is there and the system does not let it be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    with file:
        header = file.read(_HEADER_LENGTH)
        found = hashlib.file_digest(file, "sha256").hexdigest()
        if not (header.startswith(_MARK) and len(header) == _HEADER_LENGTH):
            raise IntegrityError(f"checkpoint '{path}' does not begin with its SHA-256; {_ADVICE}")
        if header != _header(found):
            said = header[len(_MARK) : -1].decode("ascii", "backslashreplace")
            raise IntegrityError(f"checkpoint '{path}' has SHA-256 {found}, but {said} was written; {_ADVICE}")
        file.seek(_HEADER_LENGTH)
        try:
            state: dict[str, Any] = torch.load(file, weights_only=True, map_location="cpu")
        except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
            raise IntegrityError(
                f"checkpoint '{path}' is as it was written, but torch {torch.__version__} cannot read it; use the "
                f"version that wrote it, or {_ADVICE}"
            ) from error
    return state


def _header(digest: str) -> bytes:
    return _MARK + digest.encode("ascii") + b"\n"
