"""Editions: drafts of shapes, certificates, and the immutable file they become."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from leakscale.digests import canonical_json
from leakscale.edition_files import Atom, EditionFacts
from leakscale.errors import IntegrityError
from leakscale.models import Condition, Domain, EditionKind, EditionPhase, Family, Ring, SignedStatement
from leakscale.statements import Predicate, envelope_bytes, statement
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.core.shapes import Shape, ShapeError, parse_shape
from leakscale_server.errors import (
    DigestConflict,
    EditionRetired,
    IntegrityFailure,
    InvalidRequest,
    NotFound,
    NotFrozen,
)
from leakscale_server.identity.bootstrap import BOOTSTRAP_PROJECT
from leakscale_server.registry.lifecycle import Lifecycle, Transition
from leakscale_server.registry.names import check_id
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.edition_file import Forms, FrozenFamily, file_digest, read_forms, write_edition_file
from leakscale_server.store.ledger import PUBLIC, Ledger
from leakscale_server.store.remembered import Remembered
from leakscale_server.store.signing import Signer

__all__ = ["Edition", "EditionDraft", "EditionRegistry", "SignedCertificate"]

_FAMILIES_PER_CELL: Final = (4, 8, 12, 16)
_SHAPES_MAX: Final = 256
_TOML_BYTES_MAX: Final = 256 * 1024
_SEED_BYTES: Final = (16, 64)


@dataclass(frozen=True, slots=True)
class EditionDraft:
    """What an author asks for."""

    edition_id: str
    kind: str
    """`practice` or `private`."""
    families_per_cell: int
    public_seed: bytes
    shapes: tuple[tuple[str, str], ...]
    """(name of the file, TOML text), in order."""
    project: str = BOOTSTRAP_PROJECT
    """Who owns it: approves its grants, traces them, sees its draft."""

    def digest(self) -> str:
        """Identify the request, so that the same one again is recognized; names of files are for messages only."""
        body = {
            "edition_id": self.edition_id,
            "kind": self.kind,
            "families_per_cell": self.families_per_cell,
            "public_seed": self.public_seed.hex(),
            "shapes": [toml for _, toml in self.shapes],
        }
        return hashlib.sha256(canonical_json(body)).hexdigest()


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition as the public sees it."""

    edition_id: str
    kind: str
    project: str
    families_per_cell: int
    shapes: tuple[Shape, ...]
    sources: tuple[tuple[str, str], ...]
    """(name of the file, TOML text) of each shape."""
    public_seed: bytes
    certified_count: int
    create_time: datetime
    freeze_time: datetime | None
    commitment_root: bytes
    certificates_digest: bytes
    file_digest: str
    """SHA-256 of the file of a frozen edition, hex; empty in a draft."""
    freeze_statement: SignedStatement | None
    """What the server signed of the file; a draft has none."""
    retirement_statement: SignedStatement | None
    """What the server signed of the openings; only a retired one has it."""
    transitions: tuple[Transition, ...]
    """Phases that it reached, in their order."""

    @property
    def is_frozen(self) -> bool:
        """Tell whether it can no longer change."""
        return self.freeze_time is not None

    @property
    def is_retired(self) -> bool:
        """Tell whether its truth is in the open."""
        return self.retirement_statement is not None

    @property
    def phase(self) -> EditionPhase:
        """Tell where it is in its life."""
        return self.transitions[-1].phase if self.transitions else EditionPhase.DRAFT

    @property
    def shape_ids(self) -> tuple[str, ...]:
        """Return the ids of its shapes, in order."""
        return tuple(shape.id for shape in self.shapes)

    @property
    def family_count(self) -> int:
        """Return how many families it will have."""
        return len(self.slots())

    def require_in_use(self) -> None:
        """Refuse to measure with it once its truth is in the open.

        Raises:
            EditionRetired: If it is retired.
        """
        if self.is_retired:
            raise EditionRetired(
                f"edition {self.edition_id!r} is retired, its truth is in the open; measure with another edition",
                subject=f"editions/{self.edition_id}",
            )

    def shape(self, shape_id: str) -> Shape:
        """Return one of its shapes.

        Raises:
            NotFound: If it has none of that id.
        """
        for shape in self.shapes:
            if shape.id == shape_id:
                return shape
        known = ", ".join(shape.id for shape in self.shapes)
        raise NotFound(
            f"edition {self.edition_id!r} has no shape {shape_id[:80]!r}; it has {known}", subject=shape_id[:80]
        )

    def atoms(self) -> tuple[Atom, ...]:
        """List the sets of families that cohorts are unions of."""
        return tuple(
            Atom(Domain(shape.domain), shape.id, condition, self.families_per_cell)
            for shape in self.shapes
            for condition in Condition
        )

    def slots(self) -> tuple[FamilySlot, ...]:
        """List every family it will have."""
        return tuple(
            FamilySlot(shape.id, condition, ordinal)
            for shape in self.shapes
            for condition in Condition
            for ordinal in range(self.families_per_cell)
        )


@dataclass(frozen=True, slots=True)
class SignedCertificate:
    """A certificate as stored."""

    slot: FamilySlot
    family_id: str
    payload: bytes
    payload_digest: bytes
    signature: bytes


class EditionRegistry:
    """Editions of one server."""

    def __init__(self, registry: InsertOnlyDatabase, ledger: Ledger, signer: Signer, *, editions_dir: Path) -> None:
        self._registry = registry
        self._ledger = ledger
        self._signer = signer
        self._editions_dir = editions_dir
        self.lifecycle = Lifecycle(registry)
        self._editions: Remembered[Edition] = Remembered(registry)
        self._paths: dict[str, Path] = {}
        """Of frozen editions: a path is made of its parts at every call otherwise."""

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
        _check_draft(draft)
        shapes = _parse_shapes(draft.shapes)
        with self._registry.transaction():
            stored = self._row(draft.edition_id)
            if stored is not None:
                if (stored["request_digest"], stored["project"]) != (draft.digest(), draft.project):
                    raise DigestConflict(
                        f"edition {draft.edition_id!r} exists with other contents; choose another id, "
                        "e.g. `leakscale certify --edition NEW`",
                        subject=draft.edition_id,
                    )
                return self.get(draft.edition_id)
            self._registry.add("editions", [_edition_row(draft)])
            self._registry.add(
                "shapes",
                [
                    {
                        "edition_id": draft.edition_id,
                        "position": position,
                        "shape_id": shape.id,
                        "source": source,
                        "toml": toml,
                    }
                    for position, (shape, (source, toml)) in enumerate(zip(shapes, draft.shapes, strict=True))
                ],
            )
            self._ledger.append(
                "edition-created",
                {"edition": draft.edition_id, "kind": draft.kind, "request": draft.digest()},
                project=draft.project,
            )
            self.lifecycle.reach(draft.edition_id, EditionPhase.DRAFT, principal=principal)
            edition = self.get(draft.edition_id)
            check(edition)
        return edition

    def get(self, edition_id: str) -> Edition:
        """Return an edition.

        Raises:
            NotFound: If there is none.
        """
        return self._editions.get(edition_id, lambda: self._read(edition_id))

    def _read(self, edition_id: str) -> Edition:
        row = self._row(edition_id)
        if row is None:
            raise _unknown(edition_id)
        freeze = self._registry.row("SELECT * FROM freezes WHERE edition_id = ?", (edition_id,))
        retirement = self._registry.row("SELECT * FROM retirements WHERE edition_id = ?", (edition_id,))
        rows = self._registry.rows(
            "SELECT source, toml FROM shapes WHERE edition_id = ? ORDER BY position", (edition_id,)
        )
        sources = tuple((each["source"], each["toml"]) for each in rows)
        return Edition(
            edition_id=edition_id,
            kind=row["kind"],
            project=row["project"],
            families_per_cell=row["families_per_cell"],
            shapes=_parse_shapes(sources),
            sources=sources,
            public_seed=row["public_seed"],
            certified_count=self._certified_count(edition_id),
            create_time=datetime.fromisoformat(row["create_time"]),
            freeze_time=datetime.fromisoformat(freeze["freeze_time"]) if freeze else None,
            commitment_root=freeze["commitment_root"] if freeze else b"",
            certificates_digest=freeze["certificates_digest"] if freeze else b"",
            file_digest=freeze["file_digest"] if freeze else "",
            freeze_statement=self._statement(freeze),
            retirement_statement=self._statement(retirement),
            transitions=self.lifecycle.of(edition_id),
        )

    def visible(self, edition_id: str, *, project: str) -> Edition:
        """Return an edition that a project may see: its own, or a frozen one.

        Raises:
            NotFound: If there is none; the same whether another project has a draft of that id.
        """
        edition = self.get(edition_id)
        if not (edition.is_frozen or edition.project == project):
            raise _unknown(edition_id)
        return edition

    def owned(self, edition_id: str, *, project: str) -> Edition:
        """Return an edition of a project.

        Raises:
            NotFound: If the project has none of that id.
        """
        edition = self.visible(edition_id, project=project)
        if edition.project != project:
            raise NotFound(f"edition {edition_id!r} is another project's; use a token of that", subject=edition_id)
        return edition

    def get_frozen(self, edition_id: str, *, project: str | None = None) -> Edition:
        """Return an edition that can no longer change.

        Args:
            edition_id: Its id.
            project: Who asks; drafts of others do not exist for it. None asks for the server itself.

        Raises:
            NotFound: If there is none that the project may see.
            NotFrozen: If it is a draft.
        """
        edition = self.get(edition_id) if project is None else self.visible(edition_id, project=project)
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
        query = (
            "SELECT edition_id, project, f.edition_id IS NOT NULL AS is_frozen FROM editions "
            "LEFT JOIN freezes AS f USING (edition_id) ORDER BY create_time DESC, edition_id"
        )
        rows = self._registry.rows(query)
        ids = [row["edition_id"] for row in rows if row["is_frozen"] or project in (None, row["project"])]
        if before and before not in ids:
            raise InvalidRequest(
                f"page_token {before[:80]!r} is none of this server's; pass the next_page_token of the page before",
                subject="page_token",
            )
        start = ids.index(before) + 1 if before else 0
        return ids[start : start + limit]

    def certificate(self, edition_id: str, slot: FamilySlot) -> SignedCertificate | None:
        """Return the certificate of a family, if it has one."""
        row = self._registry.row(
            "SELECT * FROM certificates WHERE edition_id = ? AND shape_id = ? AND condition = ? AND ordinal = ?",
            (edition_id, slot.shape_id, slot.condition.value, slot.ordinal),
        )
        return _certificate(row) if row else None

    def certificates(self, edition_id: str) -> list[SignedCertificate]:
        """Return all certificates of an edition in the order of family ids."""
        query = "SELECT * FROM certificates WHERE edition_id = ? ORDER BY family_id"
        return [_certificate(row) for row in self._registry.rows(query, (edition_id,))]

    def add_certificate(self, edition: Edition, certificate: SignedCertificate, *, principal: str) -> SignedCertificate:
        """Store a certificate and return the one that stands; the first one wins. The last one ends the certification.

        Args:
            edition: A draft.
            certificate: Of one of its families.
            principal: Who had it certified.
        """
        edition_id = edition.edition_id
        row: Row = {
            "edition_id": edition_id,
            "family_id": certificate.family_id,
            "shape_id": certificate.slot.shape_id,
            "condition": certificate.slot.condition.value,
            "ordinal": certificate.slot.ordinal,
            "payload": certificate.payload,
            "payload_digest": certificate.payload_digest,
            "signature": certificate.signature,
        }
        with self._registry.transaction():
            self._registry.add("certificates", [row])
            if self._certified_count(edition_id) == len(edition.slots()):
                self.lifecycle.reach(edition_id, EditionPhase.CERTIFIED, principal=principal)
        return self.certificate(edition_id, certificate.slot) or certificate

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
        """
        certificates = {each.family_id: each for each in self.certificates(edition.edition_id)}
        certified = [(rings, certificates[rings[0].family_id]) for rings in families]
        certificates_digest = hashlib.sha256(b"".join(each.payload_digest for _, each in certified)).digest()
        facts = EditionFacts(
            edition_id=edition.edition_id,
            kind=EditionKind(edition.kind),
            families_per_cell=edition.families_per_cell,
            family_count=len(families),
            commitment_root=commitment_root,
            certificates_digest=certificates_digest,
        )
        digest = write_edition_file(
            self.file_path(edition.edition_id),
            facts=facts,
            atoms=edition.atoms(),
            families=[FrozenFamily(rings, each.payload, each.signature) for rings, each in certified],
        )
        freeze_time = datetime.now(UTC).isoformat()
        payload = _freeze_statement(edition, facts, file_digest=digest, freeze_time=freeze_time)
        signature = self._signer.sign_statement(payload)
        envelope = envelope_bytes(payload, signature=signature, public_key=self._signer.public_key)
        with self._registry.transaction():
            row: Row = {
                "edition_id": edition.edition_id,
                "file_digest": digest,
                "commitment_root": commitment_root,
                "certificates_digest": certificates_digest,
                "freeze_time": freeze_time,
                "payload": payload,
                "signature": signature,
            }
            if self._registry.add("freezes", [row]):
                self.lifecycle.reach(edition.edition_id, EditionPhase.FROZEN, principal=principal)
                self._ledger.append(
                    "edition-frozen",
                    {
                        "edition": edition.edition_id,
                        "root": commitment_root.hex(),
                        "certificates": certificates_digest.hex(),
                        "file": digest,
                        "envelope": hashlib.sha256(envelope).hexdigest(),
                    },
                    project=PUBLIC,
                )
        return self.get(edition.edition_id)

    def families(
        self, edition_id: str, *, ring: Ring = Ring.R0, after: str = "", limit: int = 1_000_000
    ) -> Sequence[Family]:
        """Return public families of a frozen edition in one ring, in the order of their ids.

        Raises:
            NotFrozen: If it is a draft.
            IntegrityFailure: If the edition file is gone or not the one that was frozen.
        """
        return self._forms(edition_id, ring).page(after=after, limit=limit)

    def family(self, edition_id: str, family_id: str, *, ring: Ring) -> Family:
        """Return one public family of a frozen edition in one ring.

        Raises:
            NotFrozen: If the edition is a draft.
            NotFound: If it has no such family.
            IntegrityFailure: If the edition file is gone or not the one that was frozen.
        """
        family = self._forms(edition_id, ring).by_id.get(family_id)
        if family is None:
            raise NotFound(f"edition {edition_id!r} has no family {family_id[:80]!r}", subject=family_id[:80])
        return family

    def frozen_file(self, edition_id: str) -> Path:
        """Return where the file of a frozen edition lies.

        Raises:
            NotFrozen: If it is a draft.
            IntegrityFailure: If the file is gone or not the one that was frozen.
        """
        edition = self.get_frozen(edition_id)
        path = self._paths.get(edition_id) or self._paths.setdefault(edition_id, self.file_path(edition_id))
        if file_digest(path) != edition.file_digest:
            raise IntegrityFailure(
                f"the file of edition {edition_id!r} is missing or not the one that was frozen; restore it from a copy "
                "of the server's data folder",
                subject=f"editions/{edition_id}",
            )
        return path

    def _forms(self, edition_id: str, ring: Ring) -> Forms:
        try:
            return read_forms(self.frozen_file(edition_id), ring)
        except IntegrityError as error:
            raise IntegrityFailure(str(error), subject=f"editions/{edition_id}") from error

    def file_path(self, edition_id: str) -> Path:
        """Return where the file of a frozen edition lies."""
        return self._editions_dir / f"{edition_id}.sqlite"

    def _statement(self, row: Row | None) -> SignedStatement | None:
        return SignedStatement(row["payload"], row["signature"], self._signer.public_key) if row else None

    def _certified_count(self, edition_id: str) -> int:
        found = self._registry.row("SELECT count(*) AS n FROM certificates WHERE edition_id = ?", (edition_id,))
        return int(found["n"]) if found else 0

    def _row(self, edition_id: str) -> Row | None:
        return self._registry.row("SELECT * FROM editions WHERE edition_id = ?", (edition_id,))


def _unknown(edition_id: str) -> NotFound:
    return NotFound(f"edition {edition_id!r} does not exist on this server", subject=edition_id)


def _freeze_statement(edition: Edition, facts: EditionFacts, *, file_digest: str, freeze_time: str) -> bytes:
    return statement(
        Predicate.EDITION,
        subject=f"editions/{facts.edition_id}",
        digest=bytes.fromhex(file_digest),
        predicate={
            "kind": facts.kind.value,
            "families_per_cell": facts.families_per_cell,
            "family_count": facts.family_count,
            "commitment_root": facts.commitment_root.hex(),
            "certificates_digest": facts.certificates_digest.hex(),
            "create_time": edition.create_time.isoformat(),
            "freeze_time": freeze_time,
        },
    )


def _check_draft(draft: EditionDraft) -> None:
    check_id(draft.edition_id, field="edition_id")
    if draft.families_per_cell not in _FAMILIES_PER_CELL:
        raise InvalidRequest(
            f"families_per_cell {draft.families_per_cell} does not balance rank and position; use 4, 8, 12 or 16",
            subject="families_per_cell",
        )
    least, most = _SEED_BYTES
    if not least <= len(draft.public_seed) <= most:
        raise InvalidRequest(
            f"public_seed has {len(draft.public_seed)} bytes; use {least} to {most}", subject="public_seed"
        )
    if not 1 <= len(draft.shapes) <= _SHAPES_MAX:
        raise InvalidRequest(f"an edition has 1 to {_SHAPES_MAX} shapes, not {len(draft.shapes)}", subject="shapes")
    for source, toml in draft.shapes:
        if len(toml.encode()) > _TOML_BYTES_MAX:
            raise InvalidRequest(f"{source[:200]}: larger than {_TOML_BYTES_MAX} bytes", subject="shapes")


def _parse_shapes(sources: Sequence[tuple[str, str]]) -> tuple[Shape, ...]:
    shapes: list[Shape] = []
    for source, toml in sources:
        shape = _parse_shape(source, toml)
        if any(shape.id == other.id for other in shapes):
            raise InvalidRequest(f"{source}: shape {shape.id!r} is in the edition already", subject="shapes")
        shapes.append(shape)
    return tuple(shapes)


@functools.lru_cache(maxsize=1024)
def _parse_shape(source: str, toml: str) -> Shape:
    try:
        return parse_shape(toml, source=source)
    except ShapeError as error:
        raise InvalidRequest(str(error), subject="shapes") from error


def _edition_row(draft: EditionDraft) -> Row:
    return {
        "edition_id": draft.edition_id,
        "kind": draft.kind,
        "families_per_cell": draft.families_per_cell,
        "public_seed": draft.public_seed,
        "project": draft.project,
        "request_digest": draft.digest(),
        "create_time": datetime.now(UTC).isoformat(),
    }


def _certificate(row: Row) -> SignedCertificate:
    return SignedCertificate(
        slot=FamilySlot(row["shape_id"], Condition(row["condition"]), row["ordinal"]),
        family_id=row["family_id"],
        payload=row["payload"],
        payload_digest=row["payload_digest"],
        signature=row["signature"],
    )
