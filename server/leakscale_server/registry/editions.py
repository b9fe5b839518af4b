"""Editions of a server: drafts, their certificates, and what is known of them once they are frozen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from leakscale.models import EditionPhase, Family, Ring, SignedStatement
from leakscale_server.core.edition_keys import EditionKey, id_of
from leakscale_server.errors import DigestConflict, InvalidRequest, NotFound, NotFrozen, ScopeMissing
from leakscale_server.registry.certificates import Certificates
from leakscale_server.registry.edition import Edition, EditionDraft, SignedCertificate, check_draft, parse_shapes
from leakscale_server.registry.edition_index import EditionIndex
from leakscale_server.registry.frozen_files import FrozenFiles
from leakscale_server.registry.lifecycle import Lifecycle
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.edition_file import Forms
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.remembered import Remembered
from leakscale_server.store.signing import Signer

__all__ = ["Edition", "EditionDraft", "EditionRegistry", "SignedCertificate"]


class EditionRegistry:
    """Editions of one server.

    Args:
        registry: Where they are kept.
        ledger: Where each step is entered.
        signer: Signs what is stated of frozen ones.
        editions_dir: Where their files lie.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        ledger: Ledger,
        signer: Signer,
        *,
        editions_dir: Path,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._signer = signer
        self._now = now
        self.lifecycle = Lifecycle(registry, now=now)
        self.certificates = Certificates(registry)
        self._editions: Remembered[Edition] = Remembered(registry)
        self._index = EditionIndex(registry)
        self._files = FrozenFiles(registry, ledger, signer, self.lifecycle, folder=editions_dir)

    def create(self, draft: EditionDraft, *, principal: str, check: Callable[[Edition], None]) -> Edition:
        """Open a draft; the same request again returns the same draft.

        Args:
            draft: What an author asks for.
            principal: Who the author is.
            check: Refuses a new draft for what its families would be; nothing is kept of it then.

        Raises:
            InvalidRequest: If an id, a seed, a count or a shape breaks a rule; the message names file, line and field.
            DigestConflict: If the id was used with other contents.
        """
        check_draft(draft)
        shapes = parse_shapes(draft.shapes)
        with self._registry.transaction():
            own = self._index.own(draft.edition_id, project=draft.project)
            if self._index.frozen(draft.edition_id) not in (None, own):
                raise _taken(draft.edition_id)
            if own is not None:
                if self._row(own)["request_digest"] != draft.digest():
                    raise _taken(draft.edition_id)
                return self._read(own)
            key = self._index.free(draft.edition_id, project=draft.project)
            self._registry.add("editions", [_edition_row(draft, key=key, now=self._now())])
            self._registry.add(
                "shapes",
                [
                    {"edition_id": key, "position": position, "shape_id": shape.id, "source": source, "toml": toml}
                    for position, (shape, (source, toml)) in enumerate(zip(shapes, draft.shapes, strict=True))
                ],
            )
            self._ledger.append(
                "edition-created",
                {"edition": draft.edition_id, "kind": draft.kind, "request": draft.digest()},
                project=draft.project,
            )
            self.lifecycle.reach(key, EditionPhase.DRAFT, principal=principal)
            edition = self._read(key)
            check(edition)
        return edition

    def get(self, edition_id: str, *, project: str | None = None) -> Edition:
        """Return the edition that an id stands for: the frozen one, or the draft of a project.

        Args:
            edition_id: Its id.
            project: Who asks. None asks for the server itself, to which it stands for the first draft.

        Raises:
            NotFound: If there is none; the same whether another project has a draft of that id.
        """
        return self._editions.get((edition_id, project), lambda: self._read(self._key(edition_id, project)))

    def again(self, edition: Edition) -> Edition:
        """Return an edition as it is now."""
        return self._read(edition.key)

    def _key(self, edition_id: str, project: str | None) -> EditionKey:
        index = self._index
        drafted = index.first(edition_id) if project is None else index.own(edition_id, project=project)
        key = index.frozen(edition_id) or drafted
        if key is None:
            raise NotFound(f"edition {edition_id!r} does not exist on this server", subject=edition_id)
        return key

    def _read(self, key: EditionKey) -> Edition:
        row = self._row(key)
        freeze = self._registry.row("SELECT * FROM freezes WHERE edition_id = ?", (key,))
        # Of the frozen edition with an id; a draft may have the same one.
        retired = self._registry.row("SELECT * FROM retirements WHERE edition_id = ?", (id_of(key),))
        rows = self._registry.rows("SELECT source, toml FROM shapes WHERE edition_id = ? ORDER BY position", (key,))
        sources = tuple((each["source"], each["toml"]) for each in rows)
        transitions = self.lifecycle.of(key)
        return Edition(
            key=key,
            kind=row["kind"],
            project=row["project"],
            families_per_cell=row["families_per_cell"],
            shapes=parse_shapes(sources),
            sources=sources,
            public_seed=row["public_seed"],
            certified_count=self.certificates.count(key),
            create_time=datetime.fromisoformat(row["create_time"]),
            freeze_time=next((each.time for each in transitions if each.phase is EditionPhase.FROZEN), None),
            commitment_root=freeze["commitment_root"] if freeze else b"",
            certificates_digest=freeze["certificates_digest"] if freeze else b"",
            file_digest=freeze["file_digest"] if freeze else "",
            freeze_statement=self._statement(freeze),
            retirement_statement=self._statement(retired if freeze else None),
            transitions=transitions,
        )

    def owned(self, edition_id: str, *, project: str) -> Edition:
        """Return an edition of a project.

        Raises:
            NotFound: If there is none that the project may see.
            ScopeMissing: If it is frozen, which everybody may see, and another project's.
            DigestConflict: If the project has a draft of that id, and another's was frozen.
        """
        edition = self.get(edition_id, project=project)
        if edition.project == project:
            return edition
        if self._index.own(edition_id, project=project) is not None:
            raise _taken(edition_id)
        raise ScopeMissing(f"edition {edition_id!r} is another project's; use a token of that", subject=edition_id)

    def get_frozen(self, edition_id: str, *, project: str | None = None) -> Edition:
        """Return an edition that can no longer change.

        Args:
            edition_id: Its id.
            project: Who asks; drafts of others do not exist for it. None asks for the server itself.

        Raises:
            NotFound: If there is none that the project may see.
            NotFrozen: If it is a draft.
        """
        edition = self.get(edition_id, project=project)
        if not edition.is_frozen:
            is_whole = edition.certified_count == len(edition.slots())
            first = "" if is_whole else "certify the others, then "
            raise NotFrozen(
                f"edition {edition_id!r} is a draft with {edition.certified_count} of {len(edition.slots())} families "
                f"certified; {first}run `leakscale edition freeze {edition_id}`",
                subject=f"editions/{edition_id}",
            )
        return edition

    def list_ids(self, *, before: str, limit: int, project: str | None = None) -> list[str]:
        """List ids of editions, newest first, those after the page that ended with `before`.

        Args:
            before: Last id of the page before.
            limit: How many at most.
            project: List its drafts and frozen editions only; None lists all.

        Raises:
            InvalidRequest: If no page ended so.
        """
        ids = self._index.visible(project=project)
        if before and before not in ids:
            raise InvalidRequest(
                f"page_token {before[:80]!r} is none of this server's; pass the next_page_token of the page before",
                subject="page_token",
            )
        start = ids.index(before) + 1 if before else 0
        return ids[start : start + limit]

    def add_certificate(self, edition: Edition, certificate: SignedCertificate, *, principal: str) -> SignedCertificate:
        """Store a certificate and return the one that stands; the first one wins. The last one ends the certification.

        Args:
            edition: A draft.
            certificate: Of one of its families.
            principal: Who had it certified.
        """
        with self._registry.transaction():
            self.certificates.add(edition, certificate)
            if self.certificates.count(edition.key) == len(edition.slots()):
                self.lifecycle.reach(edition.key, EditionPhase.CERTIFIED, principal=principal)
        return self.certificates.find(edition, certificate.slot) or certificate

    def freeze(
        self,
        edition: Edition,
        families: Sequence[tuple[Family, Family, Family]],
        *,
        commitment_root: bytes,
        principal: str,
    ) -> Edition:
        """Write the edition file and record it.

        Args:
            edition: A draft of which every family is certified.
            families: R0, R1 and R2 of each, from the scorer, in the order of their ids.
            commitment_root: Merkle root over the commitments to the associations, in the same order.
            principal: Who freezes it.

        Raises:
            DigestConflict: If another project's edition of that id is frozen.
        """
        if self._index.frozen(edition.edition_id) not in (None, edition.key):
            raise _taken(edition.edition_id)
        certificates = {each.family_id: each for each in self.certificates.of(edition)}
        certified = [(rings, certificates[rings[0].family_id]) for rings in families]
        self._files.freeze(edition, certified, commitment_root=commitment_root, principal=principal)
        return self.again(edition)

    def families(
        self, edition_id: str, *, ring: Ring = Ring.R0, after: str = "", limit: int = 1_000_000
    ) -> Sequence[Family]:
        """Return public families of a frozen edition in one ring, in the order of their ids.

        Raises:
            NotFrozen: If it is a draft.
            IntegrityFailure: If the edition file is gone or not the one that was frozen.
        """
        return self.forms(edition_id, ring).page(after=after, limit=limit)

    def forms(self, edition_id: str, ring: Ring, *, project: str | None = None) -> Forms:
        """Return every public family of a frozen edition in one ring, the same to everybody.

        Raises:
            NotFound: If there is no edition that the project may see; see `get_frozen`.
            NotFrozen: If it is a draft.
            IntegrityFailure: If the edition file is gone or not the one that was frozen.
        """
        return self._files.forms(self.get_frozen(edition_id, project=project), ring)

    def frozen_file(self, edition_id: str) -> Path:
        """Return where the file of a frozen edition lies.

        Raises:
            NotFrozen: If it is a draft.
            IntegrityFailure: If the file is gone or not the one that was frozen.
        """
        return self._files.checked(self.get_frozen(edition_id)).path

    def file_path(self, edition_id: str) -> Path:
        """Return where the file of a frozen edition lies."""
        return self._files.path(edition_id)

    def _statement(self, row: Row | None) -> SignedStatement | None:
        return SignedStatement(row["payload"], row["signature"], self._signer.public_key) if row else None

    def _row(self, key: EditionKey) -> Row:
        (row,) = self._registry.rows("SELECT * FROM editions WHERE edition_id = ?", (key,))
        return row


def _taken(edition_id: str) -> DigestConflict:
    """Return what a project gets for an id that is its own, or frozen, and stands for something else."""
    return DigestConflict(
        f"edition {edition_id!r} exists with other contents; choose another id, e.g. `leakscale certify --edition NEW`",
        subject=edition_id,
    )


def _edition_row(draft: EditionDraft, *, key: EditionKey, now: datetime) -> Row:
    return {
        "edition_id": key,
        "kind": draft.kind,
        "families_per_cell": draft.families_per_cell,
        "public_seed": draft.public_seed,
        "project": draft.project,
        "request_digest": draft.digest(),
        "create_time": now.isoformat(),
    }
