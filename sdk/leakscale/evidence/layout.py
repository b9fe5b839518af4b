"""The files of a tree of evidence: five layers, and what describes them.

| path | what |
|---|---|
| `source/study.json` | what decides the numbers, with the SHA-256 of each shape |
| `source/plan.json` | the registered plan, byte for byte as the ledger names it |
| `source/shapes/` | the shape files, unless the edition is private and they are not public anyway |
| `source/certificates.jsonl` | one certificate a family |
| `source/server/` | what the server says: signed ledger, frozen edition, disclosure (`leakscale.verify.directory`) |
| `training/completion.json` | what the adapter came from: settings, digests, token counts, activity |
| `training/losses.jsonl` | loss of each optimizer step |
| `training/background/` | recipe of unrelated supervision, where the study names one, and its files |
| `banks/BANK.*` | plan, attempts, results, binding and receipt of each bank |
| `banks/answers.parquet` | all answers, one row a case |
| `banks/results.parquet` or `.jsonl` | results by family, where whoever made the study put them beside it |
| `analysis/` | every table as JSON, text, CSV and Parquet, `summary.json`, `provenance.json`, `basis.json` |
| `audits/` | `disclosure.json`, `seeds.json`, `verification.json` |
| `ro-crate-metadata.json` | the tree described as an RO-Crate 1.1 |
| `manifest.json`, `manifest.sha256` | SHA-256 of every other file; and that of the manifest |
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from leakscale.inference.binding import BankFiles
from leakscale.verify.directory import ServerDirectory

__all__ = ["EVIDENCE_FOLDER", "KEPT_FOLDER", "LAYERS", "EvidenceLayout", "file_name_of", "find_tree", "study_of"]

LAYERS: Final = ("source", "training", "banks", "analysis", "audits")
EVIDENCE_FOLDER: Final = "evidence"
"""Where the tree of a study lies, relative to its directory."""
KEPT_FOLDER: Final = "evidence.kept"
"""Where a study keeps, outside of its trees, the digest of each manifest and what opens its commitments."""
_PLAN: Final = ".plan.jsonl"


@dataclass(frozen=True, slots=True)
class EvidenceLayout:
    """Where the files of one tree lie."""

    root: Path

    @property
    def manifest(self) -> Path:
        """SHA-256 of every other file."""
        return self.root / "manifest.json"

    @property
    def manifest_digest(self) -> Path:
        """SHA-256 of the manifest, as `sha256sum` reads it."""
        return self.root / "manifest.sha256"

    @property
    def crate(self) -> Path:
        """Description for other programs."""
        return self.root / "ro-crate-metadata.json"

    @property
    def study(self) -> Path:
        """What decides the numbers."""
        return self.root / "source" / "study.json"

    @property
    def plan(self) -> Path:
        """The registered plan."""
        return self.root / "source" / "plan.json"

    @property
    def shapes(self) -> Path:
        """Folder of the shape files, by the names that the study gives them."""
        return self.root / "source" / "shapes"

    @property
    def certificates(self) -> Path:
        """One certificate a line."""
        return self.root / "source" / "certificates.jsonl"

    @property
    def server(self) -> ServerDirectory:
        """What the server says of itself."""
        return ServerDirectory(self.root / "source" / "server")

    @property
    def completion(self) -> Path:
        """What the adapter came from."""
        return self.root / "training" / "completion.json"

    @property
    def losses(self) -> Path:
        """Loss of each step."""
        return self.root / "training" / "losses.jsonl"

    @property
    def background(self) -> Path:
        """Folder of the recipe of unrelated supervision."""
        return self.root / "training" / "background"

    @property
    def banks(self) -> Path:
        """Folder of the banks."""
        return self.root / "banks"

    @property
    def answers(self) -> Path:
        """All answers as one table."""
        return self.banks / "answers.parquet"

    @property
    def analysis(self) -> Path:
        """Folder of the tables."""
        return self.root / "analysis"

    @property
    def basis(self) -> Path:
        """What the tables were computed from."""
        return self.analysis / "basis.json"

    @property
    def summary(self) -> Path:
        """The numbers of the study for programs."""
        return self.analysis / "summary.json"

    @property
    def provenance(self) -> Path:
        """Where they come from."""
        return self.analysis / "provenance.json"

    @property
    def disclosure(self) -> Path:
        """The released numbers, with the bytes that were signed."""
        return self.root / "audits" / "disclosure.json"

    @property
    def seeds(self) -> Path:
        """Every seed that went in."""
        return self.root / "audits" / "seeds.json"

    @property
    def verification(self) -> Path:
        """What was found when the tree was made."""
        return self.root / "audits" / "verification.json"

    def bank_ids(self) -> list[str]:
        """Return the ids of the banks that are there, sorted."""
        return sorted(path.name.removesuffix(_PLAN) for path in self.banks.glob(f"*{_PLAN}"))

    def bank(self, bank_id: str) -> BankFiles:
        """Return where the files of a bank lie."""
        return BankFiles.of(self.banks / bank_id)

    def receipt(self, bank_id: str) -> Path:
        """Return where the receipt of a bank lies."""
        return self.banks / f"{bank_id}.receipt.json"

    def results(self) -> Path | None:
        """Return where results by family lie, or None where there are none."""
        candidates = (self.banks / "results.parquet", self.banks / "results.jsonl")
        return next((path for path in candidates if path.is_file()), None)

    def relative(self, path: Path) -> str:
        """Name a file as messages and the manifest do."""
        return path.relative_to(self.root).as_posix()

    def files(self) -> list[str]:
        """Return the name of every file but the manifest and its digest, sorted."""
        own = {self.manifest, self.manifest_digest}
        found = (path for path in self.root.rglob("*") if (path.is_symlink() or not path.is_dir()) and path not in own)
        return sorted(map(self.relative, found))


def file_name_of(source: str) -> str:
    """Return under which name a file is kept that a study names, e.g. `sql/threshold.toml`; none leads out."""
    path = PurePosixPath(source)
    is_below = not path.is_absolute() and ".." not in path.parts and "\\" not in source
    return source if is_below else f"outside/{hashlib.sha256(source.encode()).hexdigest()[:16]}-{path.name}"


def find_tree(path: Path) -> Path | None:
    """Return the tree that a path names, itself or the one of a study directory; None where there is none."""
    for root in (path, path / EVIDENCE_FOLDER):
        if EvidenceLayout(root).manifest.exists() or EvidenceLayout(root).manifest_digest.exists():
            return root
    return None


def study_of(tree: Path) -> Path | None:
    """Return the study directory that a tree lies in, which keeps its digest; None where it lies alone."""
    study = tree.absolute().parent
    return study if (study / KEPT_FOLDER).is_dir() else None
