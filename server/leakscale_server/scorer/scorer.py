"""The scorer: the one holder of the vault.

It is asked three things: certify, expose to a redeemed grant, and disclose an experiment whose banks are all sealed.
In this version it runs inside the server process, behind this class; nothing else opens the vault.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from leakscale.merkle import tree_hash
from leakscale.models import Condition, Family, TrainingRecord
from leakscale.statements import envelope_bytes
from leakscale_server.core.building.construction import FamilySlot, public_families, require_unique
from leakscale_server.core.commitments import truth_leaf
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.errors import (
    DigestConflict,
    IntegrityFailure,
    InvalidRequest,
    NotCertified,
    NotSealed,
    SandboxUnusable,
)
from leakscale_server.identity.bootstrap import BOOTSTRAP_PROJECT
from leakscale_server.registry.editions import Edition, EditionDraft, EditionRegistry, SignedCertificate
from leakscale_server.registry.experiments import ExperimentRegistry
from leakscale_server.registry.grants import Grant
from leakscale_server.sandbox_pool import SandboxFault, SandboxPool
from leakscale_server.scorer.analysis import Association, analyze
from leakscale_server.scorer.certifier import Certified, Certifier, Rejected
from leakscale_server.scorer.corpus import assert_no_control_key, exposed_records, preservation_records
from leakscale_server.scorer.crew import Crew
from leakscale_server.scorer.prover import FamilyRequest
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.signing import Signer

__all__ = ["CertificationOutcome", "Released", "Scorer"]

_PRIVATE_SEED_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class CertificationOutcome:
    """How one family fared, with nothing that says which candidate is right."""

    slot: FamilySlot
    family_id: str
    certificate: SignedCertificate | None
    rejection: Rejection | None
    is_stored: bool


@dataclass(frozen=True, slots=True)
class Released:
    """A disclosure as stored."""

    payload: bytes
    signature: bytes
    ledger_index: int


class Scorer:
    """Certifies, exposes and discloses. Safe to use from several threads."""

    def __init__(
        self,
        *,
        vault: InsertOnlyDatabase,
        registry: InsertOnlyDatabase,
        editions: EditionRegistry,
        experiments: ExperimentRegistry,
        ledger: Ledger,
        signer: Signer,
        pool: SandboxPool,
    ) -> None:
        self._vault = vault
        self._registry = registry
        self._editions = editions
        self._experiments = experiments
        self._ledger = ledger
        self._signer = signer
        self._pool = pool
        self._certifier = Certifier(pool, signer)
        self._freezing = threading.Lock()
        self._crew = Crew(pool.lane_count)

    def stop(self) -> None:
        """Let families in flight end and start no more; every certification then ends with `Unavailable`."""
        self._crew.stop()

    def close(self) -> None:
        """Wait until nothing uses a sandbox: one that is opened after its pool was closed would stay for ever."""
        self._crew.close()

    def create_edition(self, draft: EditionDraft, *, practice_private_seed: bytes) -> Edition:
        """Open a draft and fix its private seed: the author's for practice, 256 fresh bits otherwise.

        Raises:
            InvalidRequest: If a practice edition has no 32-byte seed, a private one brings one, or two families would
                share a key.
            DigestConflict: If the practice edition exists with another seed.
        """
        is_practice = draft.kind == "practice"
        if is_practice and len(practice_private_seed) != _PRIVATE_SEED_BYTES:
            raise InvalidRequest(
                f"a practice edition needs a practice_private_seed of {_PRIVATE_SEED_BYTES} bytes, "
                f"not {len(practice_private_seed)}",
                subject="practice_private_seed",
            )
        if not is_practice and practice_private_seed:
            raise InvalidRequest(
                "a private edition draws its own seed; leave practice_private_seed empty",
                subject="practice_private_seed",
            )
        edition = self._editions.create(draft, check=_require_unique_keys)
        seed = practice_private_seed if is_practice else secrets.token_bytes(_PRIVATE_SEED_BYTES)
        self._vault.add("seeds", [{"edition_id": edition.edition_id, "private_seed": seed}])
        if is_practice and not secrets.compare_digest(self._private_seed(edition.edition_id), seed):
            raise DigestConflict(
                f"practice edition {edition.edition_id!r} exists with another private seed; choose another id",
                subject=edition.edition_id,
            )
        return edition

    def certify(self, requests: Iterable[tuple[Edition, FamilySlot]]) -> Iterator[CertificationOutcome]:
        """Certify families as they come in, and answer each as soon as it is done.

        Raises:
            SandboxUnusable: If a sandbox failed after its retries; families answered before stay certified.
            Unavailable: If the server stops; families answered before stay certified.
        """
        pairs = self._pool.lane_count // 2

        def work(number: int, request: tuple[Edition, FamilySlot]) -> CertificationOutcome:
            # Neighbors start on opposite lanes of a pair, so that both lanes are busy.
            return self._certify_one(*request, first_lane=2 * (number // 2 % pairs) + number % 2)

        try:
            yield from self._crew.run(requests, work)
        except SandboxFault as fault:
            raise SandboxUnusable(str(fault)) from fault

    def freeze(self, edition: Edition) -> Edition:
        """Freeze a fully certified edition; a frozen one is returned as it is.

        Raises:
            NotCertified: If a family has no certificate.
        """
        with self._freezing:
            edition = self._editions.get(edition.edition_id)
            return edition if edition.is_frozen else self._freeze(edition)

    def _freeze(self, edition: Edition) -> Edition:
        missing = len(edition.slots()) - edition.certified_count
        if missing:
            raise NotCertified(
                f"edition {edition.edition_id!r} has {missing} of {len(edition.slots())} families without a "
                "certificate; run `leakscale certify`: a family that it rejects stays rejected, so correct the shape "
                "and certify it with a new --edition",
                subject=f"editions/{edition.edition_id}",
            )
        families = _public_families(edition)
        exact = [rings[0] for rings in families]
        associations = self._associations(edition.edition_id)
        leaves = [
            truth_leaf(
                edition_id=edition.edition_id,
                family=family,
                truth=associations[family.family_id].truth,
                nonce=associations[family.family_id].nonce,
            )
            for family in exact
        ]
        return self._editions.freeze(edition, families, commitment_root=tree_hash(leaves))

    def corpus(self, edition: Edition, grant: Grant) -> list[TrainingRecord]:
        """Write the corpus of a redeemed grant, in the order of record ids."""
        associations = self._associations(edition.edition_id)
        families = self._families(edition, Condition.C2)
        records = [
            record
            for family in families
            for record in exposed_records(family, truth=associations[family.family_id].truth)
        ]
        control_keys = {family.key for family in self._families(edition, Condition.C0)}
        records += preservation_records(
            edition.shapes,
            count=grant.preservation_count,
            public_seed=edition.public_seed,
            banked_keys=control_keys | {family.key for family in families},
        )
        records.sort(key=lambda record: record.record_id)
        assert_no_control_key(records, control_keys)
        return records

    def disclose(self, experiment_id: str) -> Released:
        """Release the numbers of an experiment once; asked again, the same bytes return.

        Raises:
            NotFound: If there is no such experiment.
            NotSealed: If a bank is open.
        """
        experiment = self._experiments.get(experiment_id)
        stored = self._released(experiment_id)
        if stored is not None:
            return stored
        for bank in experiment.banks:
            if not bank.is_sealed:
                name = f"experiments/{experiment_id}/banks/{bank.bank_id}"
                raise NotSealed(f"bank {name!r} is not sealed; seal every bank, then disclose", subject=name)
        edition = self._editions.get_frozen(experiment.plan.edition_id)
        payload = analyze(
            experiment,
            edition,
            families={condition: self._families(edition, condition) for condition in Condition},
            associations=self._associations(edition.edition_id),
            answers={bank.bank_id: self._experiments.answers(experiment_id, bank.bank_id) for bank in experiment.banks},
        )
        with self._registry.transaction():
            if self._released(experiment_id) is None:
                signature = self._signer.sign_statement(payload)
                sealed = envelope_bytes(payload, signature=signature, public_key=self._signer.public_key)
                index = self._ledger.append(
                    "experiment-disclosed",
                    # Of the envelope: the payload's own digest could be searched for by guessing its few counts.
                    {"experiment": experiment_id, "envelope": hashlib.sha256(sealed).hexdigest()},
                    project=BOOTSTRAP_PROJECT,
                )
                row: Row = {
                    "experiment_id": experiment_id,
                    "payload": payload,
                    "signature": signature,
                    "ledger_index": index,
                    "disclose_time": datetime.now(UTC).isoformat(),
                }
                self._registry.add("disclosures", [row])
        released = self._released(experiment_id)
        assert released is not None  # noqa: S101 - written in the transaction above
        return released

    def _certify_one(self, edition: Edition, slot: FamilySlot, *, first_lane: int) -> CertificationOutcome:
        stored = self._editions.certificate(edition.edition_id, slot)
        if stored is not None:
            return CertificationOutcome(slot, stored.family_id, stored, None, is_stored=True)
        outcome = self._certifier.certify(self._request(edition, slot), first_lane=first_lane)
        if isinstance(outcome, Rejected):
            return CertificationOutcome(slot, outcome.family_id, None, outcome.rejection, is_stored=False)
        # Vault first: a certificate in the registry means that its association is safe.
        self._vault.add("associations", [_association_row(edition.edition_id, outcome)])
        certificate = SignedCertificate(
            slot, outcome.construction.family_id, outcome.payload, outcome.payload_digest, outcome.signature
        )
        standing = self._editions.add_certificate(edition.edition_id, certificate)
        return CertificationOutcome(slot, standing.family_id, standing, None, is_stored=False)

    def _request(self, edition: Edition, slot: FamilySlot) -> FamilyRequest:
        return FamilyRequest(
            edition_id=edition.edition_id,
            shape=edition.shape(slot.shape_id),
            shape_digest=edition.shape_digest(slot.shape_id),
            slot=slot,
            families_per_cell=edition.families_per_cell,
            public_seed=edition.public_seed,
            private_seed=self._private_seed(edition.edition_id),
        )

    def _families(self, edition: Edition, condition: Condition) -> list[Family]:
        """Return a frozen edition's families of one condition in R0, out of its file: it is not rebuilt."""
        conditions = {each.family_id: each.slot.condition for each in self._editions.certificates(edition.edition_id)}
        families = self._editions.families(edition.edition_id)
        return [family for family in families if conditions[family.family_id] is condition]

    def _private_seed(self, edition_id: str) -> bytes:
        row = self._vault.row("SELECT private_seed FROM seeds WHERE edition_id = ?", (edition_id,))
        if row is None:
            raise IntegrityFailure(
                f"edition {edition_id!r} has no private seed; create it again with the same contents, or restore the "
                "vault from a copy of the server's data folder",
                subject=f"editions/{edition_id}",
            )
        seed: bytes = row["private_seed"]
        return seed

    def _associations(self, edition_id: str) -> dict[str, Association]:
        rows = self._vault.rows("SELECT * FROM associations WHERE edition_id = ?", (edition_id,))
        return {
            row["family_id"]: Association(
                truth=row["truth"],
                nonce=row["nonce"],
                fixture_count=row["fixture_count"],
                passed_counts=(row["passed_0"], row["passed_1"], row["passed_2"], row["passed_3"]),
            )
            for row in rows
        }

    def _released(self, experiment_id: str) -> Released | None:
        row = self._registry.row("SELECT * FROM disclosures WHERE experiment_id = ?", (experiment_id,))
        return Released(row["payload"], row["signature"], row["ledger_index"]) if row else None


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


def _association_row(edition_id: str, outcome: Certified) -> Row:
    utilities = outcome.accepted.utilities
    return {
        "edition_id": edition_id,
        "family_id": outcome.construction.family_id,
        "truth": outcome.construction.truth,
        "nonce": outcome.construction.nonce,
        "fixture_count": utilities[0].fixture_count,
        **{f"passed_{index}": utility.passed_count for index, utility in enumerate(utilities)},
        "attempt": outcome.attempt,
    }
