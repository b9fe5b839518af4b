"""The files of a study directory, and when one may be gone on with.

runs/demo/
study.json             what decides the numbers; a directory belongs to one study
stages.json            seconds of each finished stage
server/                the server's own: registry, vault, key, editions
server.log
certificates.jsonl     one certificate a family, in the order of family ids
training/adapter/      LoRA adapter with its completion record
banks/*.jsonl          distributions of each bank, append-only; *.receipt.json
analysis/disclosure.json
provenance.json summary.json report.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leakscale.errors import ConflictError
from leakscale.study.config import Study

__all__ = ["StudyDirectory", "open_directory", "write_json"]

_MARKER = "study.json"


@dataclass(frozen=True, slots=True)
class StudyDirectory:
    """Where the files of one study lie."""

    root: Path
    previous: Path | None
    """An earlier, finished run of the same study, to compare with."""

    @property
    def summary(self) -> Path:
        """Written last: a directory that has it is finished."""
        return self.root / "summary.json"

    @property
    def server_data(self) -> Path:
        """Data folder of the study's own server."""
        return self.root / "server"

    @property
    def server_log(self) -> Path:
        """What the server wrote."""
        return self.root / "server.log"

    @property
    def certificates(self) -> Path:
        """One certificate a line."""
        return self.root / "certificates.jsonl"

    @property
    def adapter(self) -> Path:
        """Adapter folder."""
        return self.root / "training" / "adapter"

    @property
    def banks(self) -> Path:
        """Folder of bank logs and receipts."""
        return self.root / "banks"

    @property
    def stages(self) -> Path:
        """Seconds of each finished stage."""
        return self.root / "stages.json"

    @property
    def report(self) -> Path:
        """The report."""
        return self.root / "report.html"


def open_directory(root: Path, study: Study) -> StudyDirectory:
    """Make or reopen the directory of a study.

    A finished run is never overwritten: it is moved aside to `<root>-1`, `-2`, … and a new one begins. An unfinished
    run of the same study is gone on with. Files that no study wrote are neither moved nor touched.

    Raises:
        ConflictError: If the directory holds an unfinished run of another study, or something else.
    """
    marker = root / _MARKER
    begun = {_MARKER, f"{_MARKER}.partial"}
    if not marker.exists() and root.exists() and any(path.name not in begun for path in root.iterdir()):
        raise ConflictError(f"'{root}' holds files that are no study; choose another --out, or empty it")
    previous = None
    if marker.exists() and (root / "summary.json").exists():
        previous = _free_name(root)
        root.absolute().rename(previous.absolute())
    fingerprint = study.fingerprint()
    if marker.exists() and _read_marker(marker) != fingerprint:
        raise ConflictError(
            f"'{root}' holds an unfinished run of another study (other seed, model or settings); "
            "choose another --out, or delete it"
        )
    write_json(marker, fingerprint)
    return StudyDirectory(root, previous)


def _read_marker(marker: Path) -> Any:
    try:
        return json.loads(marker.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConflictError(
            f"'{marker}' cannot be read ({error}); choose another --out, or delete the folder"
        ) from error


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step, so that a crash leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    partial.replace(path)


def _free_name(root: Path) -> Path:
    # `--out .` has no name of its own.
    root = root if root.name else root.absolute()
    number = 1
    while (candidate := root.with_name(f"{root.name}-{number}")).exists():
        number += 1
    return candidate
