"""Frozen editions on disk: the file, the statement about it, and the entry in the ledger that binds both."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from leakscale.edition_files import EditionFacts
from leakscale.errors import IntegrityError
from leakscale.models import EditionKind, EditionPhase, Family, Ring
from leakscale.statements import Predicate, envelope_bytes, statement
from leakscale_server.core.edition_keys import EditionKey
from leakscale_server.errors import IntegrityFailure
from leakscale_server.registry.edition import Edition, SignedCertificate
from leakscale_server.registry.lifecycle import Lifecycle
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.edition_file import FORMS_KEPT_MAX, Forms, FrozenFamily, SeenFile, write_edition_file
from leakscale_server.store.ledger import PUBLIC, Ledger
from leakscale_server.store.signing import Signer

__all__ = ["CertifiedFamily", "FrozenFiles"]

CertifiedFamily = tuple[tuple[Family, Family, Family], SignedCertificate]
"""R0, R1 and R2 of a family, and its certificate."""


class FrozenFiles:
    """The files of the frozen editions of a server, in one folder."""

    def __init__(
        self, registry: InsertOnlyDatabase, ledger: Ledger, signer: Signer, lifecycle: Lifecycle, *, folder: Path
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._signer = signer
        self._lifecycle = lifecycle
        self._folder = folder
        self._paths: dict[str, Path] = {}
        """A path is made of its parts at every call otherwise."""
        self._forms: dict[tuple[str, Ring], Forms] = {}
        """What was read of files that were checked."""

    def freeze(
        self, edition: Edition, families: Sequence[CertifiedFamily], *, commitment_root: bytes, principal: str
    ) -> None:
        """Write the file of an edition, state and log it. The first record stays."""
        facts = _facts(edition, families, commitment_root)
        digest = write_edition_file(
            self.path(edition.edition_id),
            facts=facts,
            atoms=edition.atoms(),
            families=[FrozenFamily(rings, each.payload, each.signature) for rings, each in families],
        )
        with self._registry.transaction():
            if self._row(edition.key) is None:
                time = self._lifecycle.reach(edition.key, EditionPhase.FROZEN, principal=principal)
                payload = _statement(edition, facts, file_digest=digest, freeze_time=time)
                self._record(edition.key, facts, payload, file_digest=digest)

    def checked(self, edition: Edition) -> SeenFile:
        """Return the file of a frozen edition as it lies there now.

        Raises:
            IntegrityFailure: If the file is gone or not the one that was frozen.
        """
        file = SeenFile.at(self.path(edition.edition_id))
        if file.digest != edition.file_digest:
            raise IntegrityFailure(
                f"the file of edition {edition.edition_id!r} is missing or not the one that was frozen; restore it "
                "from a copy of the server's data folder",
                subject=f"editions/{edition.edition_id}",
            )
        return file

    def forms(self, edition: Edition, ring: Ring) -> Forms:
        """Return every public family of a frozen edition in one ring.

        Raises:
            IntegrityFailure: As `checked`.
        """
        key = (edition.edition_id, ring)
        known = self._forms.get(key)
        if known is not None and known.hold():
            return known
        try:
            forms = self.checked(edition).forms(ring)
        except IntegrityError as error:
            raise IntegrityFailure(str(error), subject=f"editions/{edition.edition_id}") from error
        if len(self._forms) >= FORMS_KEPT_MAX:
            self._forms.clear()
        self._forms[key] = forms
        return forms

    def path(self, edition_id: str) -> Path:
        """Return where the file of a frozen edition has to lie."""
        known = self._paths.get(edition_id)
        return known or self._paths.setdefault(edition_id, self._folder / f"{edition_id}.sqlite")

    def _record(self, key: EditionKey, facts: EditionFacts, payload: bytes, *, file_digest: str) -> None:
        signature = self._signer.sign_statement(payload)
        envelope = envelope_bytes(payload, signature=signature, public_key=self._signer.public_key)
        row: Row = {
            "edition_id": key,
            "file_digest": file_digest,
            "commitment_root": facts.commitment_root,
            "certificates_digest": facts.certificates_digest,
            "payload": payload,
            "signature": signature,
        }
        self._registry.add("freezes", [row])
        self._ledger.append(
            "edition-frozen",
            {
                "edition": facts.edition_id,
                "root": facts.commitment_root.hex(),
                "certificates": facts.certificates_digest.hex(),
                "file": file_digest,
                "envelope": hashlib.sha256(envelope).hexdigest(),
            },
            project=PUBLIC,
        )

    def _row(self, key: EditionKey) -> Row | None:
        return self._registry.row("SELECT file_digest FROM freezes WHERE edition_id = ?", (key,))


def _facts(edition: Edition, families: Sequence[CertifiedFamily], commitment_root: bytes) -> EditionFacts:
    return EditionFacts(
        edition_id=edition.edition_id,
        kind=EditionKind(edition.kind),
        families_per_cell=edition.families_per_cell,
        family_count=len(families),
        commitment_root=commitment_root,
        certificates_digest=hashlib.sha256(b"".join(each.payload_digest for _, each in families)).digest(),
    )


def _statement(edition: Edition, facts: EditionFacts, *, file_digest: str, freeze_time: datetime) -> bytes:
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
            "freeze_time": freeze_time.isoformat(),
        },
    )
