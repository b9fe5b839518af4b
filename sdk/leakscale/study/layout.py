"""The files of a study directory, and when one may be gone on with.

| path | what |
|---|---|
| `study.json` | what decides the numbers; a directory belongs to one study |
| `lock` | held by the process that works here |
| `stages.json` | seconds of each finished stage |
| `server/`, `server.log` | the server's own: registry, vault, key, editions |
| `certificates.jsonl` | one certificate a family, in the order of family ids |
| `holder.key` | what the exposure grant's corpus is sealed to |
| `shapes/`, `background/` | the shape files and the background recipe that the study names |
| `training/adapter/` | LoRA adapter with its completion record |
| `banks/` | each bank: frozen plan, attempts, results, their binding, receipt |
| `analysis/disclosure.json` | the released numbers |
| `provenance.json`, `report.html` | where they come from, for people |
| `evidence/`, `evidence.kept/` | the tree that anybody can check, read-only; its digest and what it commits to |
| `summary.json` | written last: a directory that has it is finished |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leakscale.errors import ConflictError, IntegrityError
from leakscale.evidence.layout import EVIDENCE_FOLDER, file_name_of
from leakscale.models import ShapeFile
from leakscale.reading import fault_of, parse_json
from leakscale.study.config import Study
from leakscale.whole_files import held, write_whole

__all__ = ["StudyDirectory", "open_directory", "write_json", "write_text"]

_MARKER = "study.json"
_LOCK = "lock"


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
    def holder_key(self) -> Path:
        """Private key that the exposure grant is redeemed with."""
        return self.root / "holder.key"

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
    def evidence(self) -> Path:
        """Tree of evidence."""
        return self.root / EVIDENCE_FOLDER

    @property
    def report(self) -> Path:
        """The report."""
        return self.root / "report.html"


@contextmanager
def open_directory(root: Path, study: Study, shapes: Sequence[ShapeFile]) -> Iterator[StudyDirectory]:
    """Make or reopen the directory of a study, and hold it against a second process for as long as the block runs.

    A finished run is never overwritten: it is moved aside to `<root>-1`, `-2`, … and a new one begins. An unfinished
    run of the same study is gone on with. Files that no study wrote are neither moved nor touched.

    Raises:
        ConflictError: If the directory is in use, or holds an unfinished run of another study, or something else.
    """
    # `--out .` has no name of its own, and after it is moved aside `.` is the old one.
    root = root if root.name else root.absolute()
    _check_own(root)
    root.mkdir(parents=True, exist_ok=True)
    with _held(root):
        previous = None
        if (root / _MARKER).exists() and (root / "summary.json").exists():
            previous = _free_name(root)
            root.absolute().rename(previous.absolute())
    root.mkdir(parents=True, exist_ok=True)
    with _held(root):
        previous = _claim(root, study, shapes, previous)
        for shape in shapes:
            write_text(root / "shapes" / file_name_of(shape.source), shape.toml)
        yield StudyDirectory(root, previous)


def _check_own(root: Path) -> None:
    begun = {_MARKER, f"{_MARKER}.partial", _LOCK}
    for folder in (root, *root.parents):
        if folder.exists() and not folder.is_dir():
            raise ConflictError(f"'{folder}' is a file, and a study needs a folder there; choose another --out")
    if not (root / _MARKER).exists() and root.exists() and any(path.name not in begun for path in root.iterdir()):
        raise ConflictError(f"'{root}' holds files that are no study; choose another --out, or empty it")


def _held(root: Path) -> AbstractContextManager[None]:
    return held(root / _LOCK, subject=f"'{root}'", advice="wait for it, or choose another --out")


def _claim(root: Path, study: Study, shapes: Sequence[ShapeFile], previous: Path | None) -> Path | None:
    """Write whose directory this is, or check it; return the finished run that its result is to be compared with."""
    marker = root / _MARKER
    wanted = study.fingerprint()
    wanted["shapes"] = {shape.source: hashlib.sha256(shape.toml.encode()).hexdigest() for shape in shapes}
    if not marker.exists():
        write_json(marker, {"study": wanted, "previous": str(previous) if previous else None})
        return previous
    found, earlier = _read_marker(marker)
    differing = _differences(found, wanted)
    if differing:
        raise ConflictError(
            f"'{root}' holds an unfinished run of another study (other {', '.join(differing)}); "
            "choose another --out, or delete it"
        )
    return Path(earlier) if earlier else None


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    names = [name for name in wanted if name != "shapes" and found.get(name) != wanted[name]]
    shapes = found.get("shapes", {})
    return names + [f"shape {source}" for source, digest in wanted["shapes"].items() if shapes.get(source) != digest]


def _read_marker(marker: Path) -> tuple[dict[str, Any], str | None]:
    try:
        content = parse_json(marker.read_text(encoding="utf-8"))
        return dict(content["study"]), content["previous"]
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"'{marker}' cannot be read ({fault_of(error)}); choose another --out, or delete the folder"
        ) from error


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file in one step; see `write_text`."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step; see `leakscale.whole_files.write_whole`."""
    write_whole(path, text.encode())


def _free_name(root: Path) -> Path:
    number = 1
    while (candidate := root.with_name(f"{root.name}-{number}")).exists():
        number += 1
    return candidate
