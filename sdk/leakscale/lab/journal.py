"""Finished cells on disk, so that an interrupted laboratory goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TextIO

import numpy as np
import scipy

import leakscale
from leakscale.lab.cells import Row

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

    One process writes. A line that a killed process left unfinished is dropped; its cell is measured again.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self._path, self._identity = path, dict(identity)
        self._file: TextIO | None = None
        self.rows: dict[str, Row] = {}
        """Rows by cell name: those of an earlier run of the same identity, and those added since."""

    def __enter__(self) -> Self:
        self.rows = self._read()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Written anew, because an unfinished last line would swallow the row after it; and beside the old one, so that
        # a kill at this moment loses nothing.
        partial = self._path.with_name(f"{self._path.name}.partial")
        self._file = partial.open("w", encoding="utf-8")
        self._write(self._identity)
        for row in self.rows.values():
            self._write(row.to_dict())
        partial.replace(self._path)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, row: Row) -> None:
        """Keep a row; it is on its way to the disk when this returns."""
        self.rows[row.cell] = row
        self._write(row.to_dict())

    def remove(self) -> None:
        """Delete the file, once its rows are elsewhere."""
        self._path.unlink(missing_ok=True)

    def _write(self, value: Mapping[str, Any]) -> None:
        if self._file is None:
            raise RuntimeError("a journal is written inside its `with` block")
        self._file.write(json.dumps(value, allow_nan=False) + "\n")
        self._file.flush()

    def _read(self) -> dict[str, Row]:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return {}
        values = [value for line in lines if (value := _parsed(line)) is not None]
        if not values or values[0] != self._identity:
            return {}
        return {value["cell"]: Row(**value) for value in values[1:]}


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
