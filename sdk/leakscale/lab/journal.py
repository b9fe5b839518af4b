"""Finished cells on disk, so that an interrupted laboratory goes on where it stopped."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import scipy

import leakscale
from leakscale.lab.cells import Row
from leakscale.reading import parse_json

__all__ = ["Journal", "code_fingerprint"]


def code_fingerprint() -> str:
    """Return a digest of the estimators, the laboratories and the numeric libraries.

    Cells that other code has measured are measured again.
    """
    root = Path(leakscale.__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*root.glob("stats/**/*.py"), *root.glob("lab/**/*.py")]):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    digest.update(f"{np.__version__} {scipy.__version__} {platform.python_version_tuple()[:2]}".encode())
    return digest.hexdigest()[:16]


class Journal:
    """An append-only file of rows beneath a header that says which run they belong to.

    One process writes, and holds a lock for as long. A line that a killed process left unfinished is cut off; its cell
    is measured again. A file whose header names another run is refused and stays as it is.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self._path, self._identity = path, dict(identity)
        self._file: BinaryIO | None = None
        self.rows: dict[str, Row] = {}
        """Rows by cell name: those of an earlier run of the same identity, and those added since."""

    def __enter__(self) -> Self:
        """Open, lock and read the file.

        Raises:
            ConflictError: If another process measures this run, or the file belongs to another run.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _locked(self._path)
        try:
            self.rows = self._read(self._file)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, row: Row) -> None:
        """Keep a row; it is on its way to the disk when this returns."""
        self.rows[row.cell] = row
        self._write(row.to_dict())

    def remove(self) -> None:
        """Delete the file, once its rows are elsewhere; to be called inside the `with` block, which holds the lock."""
        self._path.unlink(missing_ok=True)

    def _write(self, value: Mapping[str, Any]) -> None:
        if self._file is None:
            raise RuntimeError("a journal is written inside its `with` block")
        try:
            rest = json.dumps(value, allow_nan=False).encode() + b"\n"
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            # The system knows no name for an open file; whoever reads the complaint needs one.
            error.filename = str(self._path)
            raise

    def _read(self, file: BinaryIO) -> dict[str, Row]:
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        values = [value for line in whole.splitlines() if (value := _parsed(line)) is not None]
        if values and values[0] != self._identity:
            raise _conflict(f"'{self._path}' holds cells of another run; choose another --out, or delete it")
        # An unfinished last line would swallow the row after it.
        file.truncate(len(whole) if values else 0)
        file.seek(0, os.SEEK_END)
        if not values:
            self._write(self._identity)
        return {value["cell"]: Row(**value) for value in values[1:]}


def _locked(path: Path) -> BinaryIO:
    """Open a file, which need not exist, and lock it against other processes."""
    while True:
        file = path.open("a+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise _conflict(
                f"'{path}' is being written by another process; wait for it, or choose another --out"
            ) from None
        # Whoever held the lock before may have finished and deleted the file that was opened here.
        if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
            file.seek(0)
            return file
        file.close()


def _conflict(message: str) -> Exception:
    from leakscale.errors import ConflictError  # noqa: PLC0415 - loads gRPC, which no worker needs

    return ConflictError(message)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = parse_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
