"""An edition from draft to frozen."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from leakscale.models import Family
from leakscale_server.core.building.families import FamilySlot, public_families, require_unique
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.crew import Crew
from leakscale_server.errors import DigestConflict, InvalidRequest, NotCertified
from leakscale_server.registry.editions import Edition, EditionDraft, EditionRegistry, SignedCertificate
from leakscale_server.scorer.contract import FamilyOrder, Scoring, SeedState, ShapeText

__all__ = ["CertificationOutcome", "EditionStages"]

_PRIVATE_SEED_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class CertificationOutcome:
    """How one family fared, with nothing that says which candidate is right."""

    slot: FamilySlot
    family_id: str
    certificate: SignedCertificate | None
    rejection: Rejection | None
    is_stored: bool


class EditionStages:
    """Creates, certifies and freezes editions. Safe to use from several threads."""

    def __init__(self, editions: EditionRegistry, scorer: Scoring) -> None:
        self._editions = editions
        self._scorer = scorer
        self._freezing = threading.Lock()
        self._crew = Crew(scorer.sandbox.lane_count)

    def stop(self) -> None:
        """Let families in flight end and start no more; every certification then ends with `Unavailable`."""
        self._crew.stop()

    def close(self) -> None:
        """Wait until nothing uses a sandbox: one that is opened after its pool was closed would stay for ever."""
        self._crew.close()

    def create(self, draft: EditionDraft, *, practice_private_seed: bytes, principal: str) -> Edition:
        """Open a draft and fix its private seed: the author's for practice, 256 fresh bits otherwise.

        Raises:
            InvalidRequest: If a practice edition has no 32-byte seed, a private one brings one, or two families would
                share a key.
            DigestConflict: If the practice edition exists with another seed.
        """
        _check_seed(draft, practice_private_seed)
        edition = self._editions.create(draft, principal=principal, check=_require_unique_keys)
        if self._scorer.fix_seed(edition.key, practice_private_seed) is SeedState.DIFFERS:
            raise DigestConflict(
                f"practice edition {edition.edition_id!r} exists with another private seed; choose another id",
                subject=edition.edition_id,
            )
        return edition

    def certify(
        self, requests: Iterable[tuple[Edition, FamilySlot]], *, principal: str
    ) -> Iterator[CertificationOutcome]:
        """Certify families as they come in, and answer each as soon as it is done.

        Raises:
            SandboxUnusable: If a sandbox failed after its retries; families answered before stay certified.
            Unavailable: If server or scorer stops; families answered before stay certified.
        """
        return self._crew.run(requests, lambda _, request: self._certify_one(*request, principal=principal))

    def freeze(self, edition: Edition, *, principal: str) -> Edition:
        """Freeze a fully certified edition; a frozen one is returned as it is.

        Raises:
            NotCertified: If a family has no certificate.
        """
        with self._freezing:
            edition = self._editions.again(edition)
            return edition if edition.is_frozen else self._freeze(edition, principal=principal)

    def _freeze(self, edition: Edition, *, principal: str) -> Edition:
        missing = len(edition.slots()) - edition.certified_count
        if missing:
            raise NotCertified(
                f"edition {edition.edition_id!r} has {missing} of {len(edition.slots())} families without a "
                "certificate; run `leakscale certify`: a family that it rejects stays rejected, so correct the shape "
                "and certify it with a new --edition",
                subject=f"editions/{edition.edition_id}",
            )
        families = _public_families(edition)
        root = self._scorer.commit(edition.key, tuple(rings[0].family_id for rings in families))
        return self._editions.freeze(edition, families, commitment_root=root, principal=principal)

    def _certify_one(self, edition: Edition, slot: FamilySlot, *, principal: str) -> CertificationOutcome:
        stored = self._editions.certificates.find(edition, slot)
        if stored is not None:
            return CertificationOutcome(slot, stored.family_id, stored, None, is_stored=True)
        outcome = self._scorer.certify(_order(edition, slot))
        if outcome.certificate is None:
            return CertificationOutcome(slot, outcome.family_id, None, outcome.rejection, is_stored=False)
        payload, signature = outcome.certificate.payload, outcome.certificate.signature
        certificate = SignedCertificate(slot, outcome.family_id, payload, hashlib.sha256(payload).digest(), signature)
        standing = self._editions.add_certificate(edition, certificate, principal=principal)
        return CertificationOutcome(slot, standing.family_id, standing, None, is_stored=False)


def _check_seed(draft: EditionDraft, seed: bytes) -> None:
    is_practice = draft.kind == "practice"
    if is_practice and len(seed) != _PRIVATE_SEED_BYTES:
        raise InvalidRequest(
            f"a practice edition needs a practice_private_seed of {_PRIVATE_SEED_BYTES} bytes, not {len(seed)}",
            subject="practice_private_seed",
        )
    if not is_practice and seed:
        raise InvalidRequest(
            "a private edition draws its own seed; leave practice_private_seed empty",
            subject="practice_private_seed",
        )


def _order(edition: Edition, slot: FamilySlot) -> FamilyOrder:
    position = [shape.id for shape in edition.shapes].index(slot.shape_id)
    return FamilyOrder(
        edition_key=edition.key,
        shape=ShapeText(*edition.sources[position]),
        slot=slot,
        families_per_cell=edition.families_per_cell,
        public_seed=edition.public_seed,
    )


def _public_families(edition: Edition) -> list[tuple[Family, Family, Family]]:
    """Build the public part of every family that an edition will have, in each ring, in the order of their ids."""
    families = (
        public_families(
            edition.shape(slot.shape_id),
            slot,
            families_per_cell=edition.families_per_cell,
            public_seed=edition.public_seed,
        )
        for slot in edition.slots()
    )
    return sorted(families, key=lambda rings: rings[0].family_id)


def _require_unique_keys(edition: Edition) -> None:
    try:
        require_unique(rings[0] for rings in _public_families(edition))
    except ValueError as error:
        raise InvalidRequest(f"public_seed: {error}", subject="public_seed") from error
