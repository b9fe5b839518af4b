"""What an audit's ledger has entered, by file, and whether it is there unchanged.

The ledger is the law: which scores, numbers and controls an audit has is read from it and never from what happens to
lie in a folder, for a file that nobody wants to show any more is deleted easily.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from leakscale.audit.directory import AuditDirectory
from leakscale.audit.registration.ledger import AuditLedger, EntryKind, LedgerEntry
from leakscale.audit.registration.order import analysis_before
from leakscale.audit.scores.table import ScoreTable
from leakscale.errors import ConflictError, IntegrityError, LeakScaleError

__all__ = ["Standing", "digests_of", "enter_numbers"]

_FILED: Final = frozenset({EntryKind.SCORES, EntryKind.ANALYSIS, EntryKind.CONTROL})
"""Kinds whose subject is a file; draw and registration are held by those who read them."""
_BESIDE: Final = "files"
"""Fact of an entry: digests of further files in its subject's folder, by name."""


class Standing:
    """What the ledger of one directory has entered.

    Raises:
        NotFoundError: If there is no ledger.
        IntegrityError: If the ledger was changed, or breaks the order in which things may be entered.
    """

    def __init__(self, directory: AuditDirectory) -> None:
        self._root = directory.root
        self._entries = {entry.subject: entry for entry in AuditLedger(directory).entries()}

    def entry(self, path: Path) -> LedgerEntry | None:
        """Return the entry about a file of the directory, or None."""
        return self._entries.get(path.relative_to(self._root).as_posix())

    def of(self, kind: EntryKind) -> tuple[LedgerEntry, ...]:
        """Return the entries of a kind, in order."""
        return tuple(entry for entry in self._entries.values() if entry.kind is kind)

    def files(self) -> Iterator[tuple[Path, LedgerEntry]]:
        """Yield every file that an entry binds, and that entry."""
        for entry in self._entries.values():
            if entry.kind in _FILED:
                path = self._root / entry.subject
                yield path, entry
                yield from ((path.parent / name, entry) for name in _beside(entry))

    def require_whole(self) -> None:
        """Refuse a directory in which a file that was entered is missing or another one.

        Raises:
            IntegrityError: Naming the first.
        """
        for path, entry in self.files():
            self._require(path, entry)

    def require_entered(self, path: Path) -> LedgerEntry:
        """Return the entry about a file that lies there.

        Raises:
            IntegrityError: If nobody entered it, or it is another one.
        """
        entry = self.entry(path)
        if entry is None:
            raise IntegrityError(
                f"'{path}' is in no entry of the ledger; answer or import again, which enters what was made, or remove "
                "it"
            )
        self._require(path, entry)
        return entry

    def require_free(self, path: Path, digest: str) -> None:
        """Refuse to write a file where the ledger has entered another one; the same one may be written again.

        Args:
            path: Where it belongs.
            digest: Hex, of what is to be written, as the ledger holds it.

        Raises:
            ConflictError: If the ledger has entered another one, or an analysis without it.
            IntegrityError: If what lies there is not what was entered.
        """
        entry = self.entry(path)
        if entry is None:
            self._require_unanalyzed(path)
            return
        if entry.digest != digest:
            raise ConflictError(
                f"'{path}': the ledger has entered another one (entry {entry.number}, digest {entry.digest[:12]}, this "
                f"is {digest[:12]}), and who may do it twice may keep the better; restore that one from a copy"
            )
        if path.exists():
            self._require(path, entry)

    def _require_unanalyzed(self, path: Path) -> None:
        analysis = self._entries.get(analysis_before(path.relative_to(self._root).as_posix()))
        if analysis is not None:
            raise ConflictError(
                f"'{path}' would be entered after the analysis of its variant ('{analysis.subject}', entry "
                f"{analysis.number}), which is made once, of all scores; log an amendment and analyze beside it"
            )

    def _require(self, path: Path, entry: LedgerEntry) -> None:
        named = f"entry {entry.number} of the ledger names it"
        if not path.is_file():
            raise IntegrityError(f"'{path}' is missing, and {named}; restore it from a copy")
        beside = _beside(entry)
        wanted = entry.digest if path == self._root / entry.subject else beside[path.name]
        if _digest(path) != wanted:
            raise IntegrityError(
                f"'{path}' is not the one that the ledger names (entry {entry.number}, digest {wanted[:12]}); restore "
                "it from a copy"
            )


def digests_of(paths: Iterable[Path]) -> dict[str, dict[str, str]]:
    """Return the fact by which an entry binds further files in the folder of its subject."""
    return {_BESIDE: {path.name: _bytes_digest(path) for path in paths}}


def enter_numbers(directory: AuditDirectory, files: Sequence[Path], *, facts: Mapping[str, Any]) -> None:
    """Enter an analysis, once: its first file as the subject, the others beside it. Hold the directory meanwhile.

    Raises:
        ConflictError: If the ledger has entered another one there.
    """
    subject, *others = files
    AuditLedger(directory).append_once(
        EntryKind.ANALYSIS,
        subject=subject.relative_to(directory.root).as_posix(),
        digest=bytes.fromhex(_bytes_digest(subject)),
        facts={**facts, **digests_of(others)},
    )


def _beside(entry: LedgerEntry) -> Mapping[str, str]:
    found: Mapping[str, str] = entry.facts.get(_BESIDE, {})
    return found


def _digest(path: Path) -> str:
    """Return the digest by which the ledger knows a file: a table's own, or that of the bytes."""
    if path.suffix != ".jsonl":
        return _bytes_digest(path)
    try:
        return ScoreTable.from_jsonl(path).digest
    except LeakScaleError:
        return "changed"


def _bytes_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
