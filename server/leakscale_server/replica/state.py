"""What a replica serves: an exported directory that holds, and the next one once it lies there and holds too."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog

from leakscale.edition_files import open_edition_file
from leakscale.envelopes import statement_in
from leakscale.errors import IntegrityError, NotFoundError
from leakscale.models import EditionPhase, LedgerHead, Opening, Ring, SignedStatement
from leakscale.openings import opening_of_line
from leakscale.statements import Predicate, predicate_of, subject_of
from leakscale.verify import ServerDirectory, verify_directory
from leakscale.verify.directory import facts_of, read_entries, read_head
from leakscale_server.errors import IntegrityFailure, NotFound, NotRetired
from leakscale_server.registry.lifecycle import Transition
from leakscale_server.store.edition_file import Forms, SeenFile
from leakscale_server.store.ledger import Entry, Head, LedgerTree

__all__ = ["Replica", "ReplicaEdition", "ReplicaState"]

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ReplicaEdition:
    """A frozen edition, as its files say."""

    edition_id: str
    kind: str
    families_per_cell: int
    family_count: int
    shape_ids: tuple[str, ...]
    commitment_root: bytes
    certificates_digest: bytes
    transitions: tuple[Transition, ...]
    """Of its life, what is public: when it was drafted, frozen and retired."""
    freeze_statement: SignedStatement
    retirement_statement: SignedStatement | None
    path: Path
    file_digest: str
    """SHA-256 of the file, hex."""
    openings_path: Path

    @property
    def phase(self) -> EditionPhase:
        """Tell where it is in its life; whether it is exposed, a replica does not know."""
        return self.transitions[-1].phase

    @property
    def certified_count(self) -> int:
        """Tell how many families have their certificate: all."""
        return self.family_count

    @property
    def create_time(self) -> datetime:
        """Tell when its draft was made."""
        return self.transitions[0].time

    @property
    def freeze_time(self) -> datetime:
        """Tell when it was frozen."""
        return self.transitions[1].time

    def forms(self, ring: Ring) -> Forms:
        """Return every public family in one ring.

        Raises:
            IntegrityFailure: If the file is no more the one that held.
        """
        return self._checked().forms(ring)

    def checked_path(self) -> Path:
        """Return where its file lies.

        Raises:
            IntegrityFailure: If the file is no more the one that held.
        """
        return self._checked().path

    def _checked(self) -> SeenFile:
        file = SeenFile.at(self.path)
        if file.digest != self.file_digest:
            raise IntegrityFailure(
                f"the file of edition {self.edition_id!r} is missing or not the one that was frozen; export it again",
                subject=f"editions/{self.edition_id}",
            )
        return file

    def openings(self) -> list[Opening]:
        """Return what its commitments hid, in the order of family ids.

        Raises:
            NotRetired: If its truth is not in the open, as far as this replica knows.
            IntegrityFailure: If the file is no more the one that held.
        """
        if self.retirement_statement is None:
            raise NotRetired(
                f"edition {self.edition_id!r} is not retired, so its commitments stay closed",
                subject=f"editions/{self.edition_id}",
            )
        content = self.openings_path.read_bytes() if self.openings_path.exists() else b""
        if hashlib.sha256(content).digest() != subject_of(self.retirement_statement.payload)[1]:
            raise IntegrityFailure(
                f"the openings of edition {self.edition_id!r} are missing or not the stated ones; export them again",
                subject=f"editions/{self.edition_id}",
            )
        return [opening_of_line(line) for line in content.splitlines()]


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One export."""

    signed_head: LedgerHead
    all_entries: tuple[Entry, ...]
    editions: Mapping[str, ReplicaEdition]
    """By id, newest first."""

    def edition(self, edition_id: str) -> ReplicaEdition:
        """Return one edition.

        Raises:
            NotFound: If there is none.
        """
        if edition_id not in self.editions:
            raise NotFound(f"edition {edition_id!r} does not exist on this server", subject=edition_id)
        return self.editions[edition_id]


class Replica:
    """The newest export in a directory that holds. Safe to use from several threads."""

    def __init__(self, root: Path) -> None:
        self._directory = ServerDirectory(root)
        self._lock = threading.Lock()
        self._seen = self._stamp()
        self._state = _load(self._directory)

    @property
    def public_key(self) -> bytes:
        """Raw key of the server that it is a replica of."""
        return self._state.signed_head.public_key

    def state(self) -> ReplicaState:
        """Return what is served now. An export that does not hold is not taken; the one before is served on."""
        # One caller reads the new one; the others are served from the former meanwhile.
        if self._stamp() != self._seen and self._lock.acquire(blocking=False):
            try:
                self._seen = self._stamp()
                self._take()
            finally:
                self._lock.release()
        return self._state

    def head(self) -> Head:
        """Return the signed state of the ledger."""
        head = self.state().signed_head
        return Head(head.entry_count, head.root, head.signature)

    def entries(self, *, project: str, start: int, limit: int) -> list[Entry]:
        """Return entries from a position on, with the contents of the public ones; `project` makes no difference."""
        return list(self.state().all_entries[start : start + limit])

    def tree(self) -> LedgerTree:
        """Return the tree over all entries."""
        return LedgerTree([entry.leaf for entry in self.state().all_entries])

    def _take(self) -> None:
        try:
            found = _load(self._directory)
            if found.signed_head.public_key != self._state.signed_head.public_key:
                raise IntegrityError("it is another server's")
        except (IntegrityError, NotFoundError) as error:
            _log.warning("export not taken, the former is served on", fault=str(error))
            return
        self._state = found
        _log.info("export taken", entry_count=found.signed_head.entry_count)

    def _stamp(self) -> tuple[int, int, int]:
        try:
            status = self._directory.head.stat()
        except FileNotFoundError:
            return 0, 0, 0
        return status.st_ino, status.st_size, status.st_mtime_ns


def _load(directory: ServerDirectory) -> ReplicaState:
    try:
        head = read_head(directory.head)
    except (OSError, ValueError) as error:
        raise NotFoundError(
            f"'{directory.root}' holds no export of a server ({error}); write one with `leakscale ledger export`"
        ) from error
    for check in verify_directory(directory.root, public_key=head.public_key).checks:
        if not check.holds:
            raise IntegrityError(f"'{directory.root}' does not hold: {check.subject}: {check.claim}: {check.fault}")
    entries, contents = [], []
    for entry in read_entries(directory.ledger):
        facts = facts_of(entry)
        # Salted entries are those of the project that exported, and nobody else's business.
        is_public = bool(facts) and "salt" not in facts
        entries.append(Entry(entry.position, entry.leaf, entry.content if is_public else b""))
        contents.append(facts if is_public else {})
    retired = {facts["edition"] for facts in contents if facts.get("kind") == "edition-retired"}
    frozen = [str(facts["edition"]) for facts in contents if facts.get("kind") == "edition-frozen"]
    editions = {
        edition_id: _edition(directory, edition_id, is_retired=edition_id in retired, public_key=head.public_key)
        for edition_id in reversed(frozen)
    }
    return ReplicaState(head, tuple(entries), editions)


def _edition(directory: ServerDirectory, edition_id: str, *, is_retired: bool, public_key: bytes) -> ReplicaEdition:
    path = directory.edition(edition_id)
    with open_edition_file(path) as file:
        facts, atoms = file.facts(), file.atoms()
    freeze = statement_in(directory.edition_statement(edition_id).read_bytes(), public_key=public_key)
    said = predicate_of(freeze.payload, Predicate.EDITION)
    times = {EditionPhase.DRAFT: said["create_time"], EditionPhase.FROZEN: said["freeze_time"]}
    retirement = None
    if is_retired:
        retirement = statement_in(directory.retirement(edition_id).read_bytes(), public_key=public_key)
        times[EditionPhase.RETIRED] = predicate_of(retirement.payload, Predicate.RETIREMENT)["retire_time"]
    return ReplicaEdition(
        edition_id=edition_id,
        kind=facts.kind.value,
        families_per_cell=facts.families_per_cell,
        family_count=facts.family_count,
        shape_ids=tuple(dict.fromkeys(atom.shape_id for atom in atoms)),
        commitment_root=facts.commitment_root,
        certificates_digest=facts.certificates_digest,
        transitions=tuple(Transition(phase, datetime.fromisoformat(time), "") for phase, time in times.items()),
        freeze_statement=freeze,
        retirement_statement=retirement,
        path=path,
        file_digest=subject_of(freeze.payload)[1].hex(),
        openings_path=directory.openings(edition_id),
    )
