"""The files of an audit directory.

| path | what |
|---|---|
| `audit.toml` | the plan; free to edit until the lock |
| `frame.jsonl` | every parent item of the benchmark, without rewrites |
| `draw.json` | how the parents were drawn from it |
| `registration.json` | what was locked, signed |
| `ledger.jsonl` | draw, lock, amendments and what followed: signed, each entry bound to the one before |
| `scores/<variant>/<bank>/` | one table a model, state and kind, and how its run went; under `registered`, … |
| `analysis/`, `report.html` | numbers, and the report |
| `controls/<control>/` | a positive control: what was registered of it, and its numbers |
| `scores/<variant>/released.json` | of an audit that was fetched: the server's signed word on its scores |
| `private/bank.jsonl` | the drawn parents with their forms, in draw order; without golds where it was fetched |
| `private/control.jsonl` | the control bank |
| `private/review.jsonl` | decisions of the human reading; `review.html` and `review.csv` are made for it |
| `private/answers/<variant>/<bank>/` | what the models wrote: it quotes private forms |
| `private/readings/<variant>/<bank>/` | how probable each form was as a text |
| `private/controls/<control>/` | mixtures and adapters of a positive control |
| `private/key` | the key that signs |
| `private/nonce` | what hides the golds in the digests that the registration has of them |
| `in-use` | held by the process that works here |

Everything outside `private/` may be published with the audit; nothing inside it may, before the forms are retired.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from leakscale.audit.scores.models import ScoreKind
from leakscale.errors import ConflictError, NotFoundError
from leakscale.whole_files import held

__all__ = ["REGISTERED", "AuditDirectory", "BankRole", "creating_directory", "is_audit"]

REGISTERED: Final = "registered"
"""Variant of the settings that were locked; the others are amendments."""
_UNFINISHED: Final = ".unfinished"


class BankRole(StrEnum):
    """Which of the audit's two banks."""

    AUDIT = "audit"
    """Parents drawn from the benchmark."""
    CONTROL = "control"
    """Parents that were never public."""


@dataclass(frozen=True, slots=True)
class AuditDirectory:
    """Where the files of one audit lie. Names only: what is in them is the readers' to judge."""

    root: Path

    @classmethod
    def existing(cls, root: Path) -> AuditDirectory:
        """Return the directory of an audit that was drawn.

        Raises:
            NotFoundError: If there is none.
        """
        if not is_audit(root):
            raise NotFoundError(f"'{root}' is no audit directory; make one with `leakscale audit new` or `fetch`")
        return cls(root)

    @property
    def plan(self) -> Path:
        """The plan, `audit.toml`."""
        return self.root / "audit.toml"

    @property
    def frame(self) -> Path:
        """Every parent of the benchmark."""
        return self.root / "frame.jsonl"

    @property
    def draw(self) -> Path:
        """How the parents were drawn."""
        return self.root / "draw.json"

    @property
    def registration(self) -> Path:
        """The signed registration."""
        return self.root / "registration.json"

    @property
    def ledger(self) -> Path:
        """The signed chain of what was done."""
        return self.root / "ledger.jsonl"

    @property
    def analysis(self) -> Path:
        """Folder of the numbers."""
        return self.root / "analysis"

    def control_record(self, name: str) -> Path:
        """Return what was registered of a positive control before anything was trained."""
        return self.root / "controls" / name / "control.json"

    def control_numbers(self, name: str) -> Path:
        """Return the folder of a positive control's numbers."""
        return self.root / "controls" / name / "numbers"

    def control_work(self, name: str) -> Path:
        """Return the folder of a positive control's mixtures and adapters; a mixture quotes forms."""
        return self.private / "controls" / name

    @property
    def report(self) -> Path:
        """The report; its Markdown twin is `report.md`."""
        return self.root / "report.html"

    @property
    def private(self) -> Path:
        """Folder of everything that shows a private form."""
        return self.root / "private"

    @property
    def review_log(self) -> Path:
        """One decision a line."""
        return self.private / "review.jsonl"

    @property
    def review_packet(self) -> Path:
        """The forms, riskiest first, for people."""
        return self.private / "review.html"

    @property
    def review_sheet(self) -> Path:
        """The same order as a table to fill in."""
        return self.private / "review.csv"

    @property
    def key(self) -> Path:
        """The key that signs registration and ledger."""
        return self.private / "key"

    @property
    def nonce(self) -> Path:
        """The nonce of the audit's commitments, made at the lock."""
        return self.private / "nonce"

    def bank(self, role: BankRole) -> Path:
        """Return the file of a bank of forms."""
        return self.private / ("bank.jsonl" if role is BankRole.AUDIT else "control.jsonl")

    def answers(self, model_id: str, *, bank: BankRole, state: str = "base", variant: str = REGISTERED) -> Path:
        """Return the append-only log of what a model in one state answered."""
        return self.private / "answers" / variant / bank / f"{model_id}.{state}.jsonl"

    def readings(self, model_id: str, *, bank: BankRole, state: str = "base", variant: str = REGISTERED) -> Path:
        """Return the append-only log of how probable each form was to a model in one state, as a text."""
        return self.private / "readings" / variant / bank / f"{model_id}.{state}.jsonl"

    def scores(
        self,
        model_id: str,
        *,
        bank: BankRole,
        state: str = "base",
        kind: ScoreKind = ScoreKind.CORRECT,
        variant: str = REGISTERED,
    ) -> Path:
        """Return the table of scores of a model in one state."""
        return self.root / "scores" / variant / bank / f"{model_id}.{state}.{kind}.jsonl"

    def released(self, variant: str = REGISTERED) -> Path:
        """Return the server's signed word on the scores of a variant, where the audit was fetched."""
        return self.root / "scores" / variant / "released.json"

    def quality(self, model_id: str, *, bank: BankRole, state: str = "base", variant: str = REGISTERED) -> Path:
        """Return how the run of a model in one state went."""
        return self.root / "scores" / variant / bank / f"{model_id}.{state}.quality.json"

    def unread(self, model_id: str, *, bank: BankRole, state: str = "base", variant: str = REGISTERED) -> Path:
        """Return the record that a model in one state could not say how probable the forms are as texts."""
        return self.root / "scores" / variant / bank / f"{model_id}.{state}.unread.json"

    def asked(self) -> list[Path]:
        """Return the answers, readings and scores that exist, which no audit has before it is locked."""
        folders = self.private / "answers", self.private / "readings", self.root / "scores"
        return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the directory against a second process for as long as the block runs.

        Raises:
            ConflictError: If another process holds it.
        """
        with held(self.root / "in-use", subject=f"audit '{self.root}'", advice="wait for it"):
            yield


def is_audit(root: Path) -> bool:
    """Tell whether a folder is the directory of an audit, and was laid out to its end."""
    return AuditDirectory(root).draw.is_file() and not (root / _UNFINISHED).exists()


@contextmanager
def creating_directory(root: Path) -> Iterator[AuditDirectory]:
    """Make an audit directory, which counts as one only when the block ended; a broken attempt is begun again.

    Raises:
        ConflictError: If the folder holds something else, or an audit: a second draw would choose its sample.
    """
    marker = root / _UNFINISHED
    if root.exists() and not root.is_dir():
        raise ConflictError(f"'{root}' is a file, and an audit needs a folder; name another")
    if (root / "draw.json").exists() and not marker.exists():
        raise ConflictError(f"'{root}' is an audit already, and its sample is drawn; name another folder")
    if root.is_dir() and not marker.exists() and any(root.iterdir()):
        raise ConflictError(f"'{root}' holds other files; name an empty folder, or a new one")
    directory = AuditDirectory(root)
    root.mkdir(parents=True, exist_ok=True)
    marker.touch()  # before anything else: without it, what is in the folder is somebody else's
    directory.private.mkdir(exist_ok=True)
    with directory.held():
        directory.private.chmod(0o700)
        (directory.private / ".gitignore").write_text("*\n", encoding="utf-8")
        yield directory
        marker.unlink()
