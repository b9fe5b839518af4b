"""The scorer: the one holder of the vault.

It is asked to certify, to commit, to expose to a redeemed grant, to disclose an experiment whose banks are all sealed,
and about deposited audits (`audits`). Whether it may is the registry's to decide before; what is true is decided here.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from leakscale.commitments import truth_leaf
from leakscale.merkle import tree_hash
from leakscale.models import Condition, Opening
from leakscale.openings import openings_to_lines
from leakscale.sealing import SealedPiece, seal_pieces
from leakscale_server.core.edition_keys import EditionKey, id_of
from leakscale_server.core.shapes import Shape, parse_shape
from leakscale_server.errors import IntegrityFailure, SandboxUnusable
from leakscale_server.sandbox_pool import SandboxFault, SandboxPool
from leakscale_server.scorer.account import Book
from leakscale_server.scorer.audits.contract import AuditScoring
from leakscale_server.scorer.certifier import Certified, Certifier, Rejected
from leakscale_server.scorer.contract import (
    CorpusOrder,
    FamilyOrder,
    FamilyOutcome,
    RetirementOrder,
    SandboxFacts,
    SealedExperiment,
    SeedState,
    ShapeText,
    SignedPayload,
    TraceOrder,
)
from leakscale_server.scorer.corpus import assert_no_control, grant_records, padded_pieces
from leakscale_server.scorer.logged_retirement import require_logged
from leakscale_server.scorer.markers import found_in, markers_of
from leakscale_server.scorer.prover import Build, FamilyRequest, build
from leakscale_server.store.ledger import LoggedEntry
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Association, Vault

__all__ = ["Scorer"]

_PRIVATE_SEED_BYTES: Final = 32


class Scorer:
    """Certifies, commits, exposes and discloses; see `Scoring`. Safe to use from several threads.

    Args:
        vault: The private facts.
        signer: Signs certificates and disclosures.
        pool: Runs candidates.
        notice: See `SandboxFacts`.
        build: Builds the families that are proved.
        random: Draws so many random bytes; the seeds of private editions come from it.
    """

    def __init__(
        self,
        *,
        vault: Vault,
        signer: Signer,
        pool: SandboxPool,
        notice: str = "",
        build: Build = build,
        random: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self._vault = vault
        self._signer = signer
        self._pool = pool
        self._notice = notice
        self._certifier = Certifier(pool, signer, build=build)
        self._random = random
        self._book = Book(vault)
        self._numbers = itertools.count()

    @property
    def sandbox(self) -> SandboxFacts:
        """Tell what runs candidates."""
        identity = self._pool.identity
        return SandboxFacts(identity.backend, self._notice, identity.image_digest, self._pool.lane_count)

    @functools.cached_property
    def audits(self) -> AuditScoring:
        """What it does for deposited audits; see `AuditScoring`."""
        # Here: what reads and scores an audit takes a second to load, and a scorer that starts again is waited for.
        from leakscale_server.scorer.audits.scorer import AuditScorer  # noqa: PLC0415

        return AuditScorer(self._vault, self._signer)

    def fix_seed(self, edition_key: EditionKey, practice_seed: bytes) -> SeedState:
        """Fix the private seed of an edition, once; see `Scoring`."""
        stands = self._vault.fix_seed(edition_key, practice_seed or self._random(_PRIVATE_SEED_BYTES))
        is_same = not practice_seed or secrets.compare_digest(stands, practice_seed)
        if practice_seed and is_same:
            self._book.note_practice(edition_key)
        return SeedState.STANDS if is_same else SeedState.DIFFERS

    def certify(self, order: FamilyOrder) -> FamilyOutcome:
        """Prove one family; see `Scoring`."""
        try:
            outcome = self._certifier.certify(self._request(order), first_lane=self._next_lane())
        except SandboxFault as fault:
            raise SandboxUnusable(str(fault)) from fault
        if isinstance(outcome, Rejected):
            return FamilyOutcome(outcome.family_id, None, outcome.rejection)
        family_id = outcome.construction.family_id
        # Vault first: a certificate that is answered means that its association is safe.
        self._vault.add_association(order.edition_key, family_id, _association(outcome))
        return FamilyOutcome(family_id, SignedPayload(outcome.payload, outcome.signature), None)

    def commit(self, edition_key: EditionKey, family_ids: tuple[str, ...]) -> bytes:
        """Return the root over the commitments to the associations of these families; see `Scoring`."""
        associations = self._associations(edition_key, family_ids)
        return tree_hash(
            [
                truth_leaf(
                    edition_id=id_of(edition_key), family_id=name, key=each.key, truth=each.truth, nonce=each.nonce
                )
                for name, each in associations.items()
            ]
        )

    def retire(self, order: RetirementOrder) -> bytes:
        """End the use of an edition; see `Scoring`."""
        edition_id = id_of(order.edition_key)
        if self.commit(order.edition_key, order.family_ids) != order.commitment_root:
            raise IntegrityFailure(
                f"the vault does not open the commitment root of edition {edition_id!r}; restore registry and "
                "vault from one copy of the data folder",
                subject=f"editions/{edition_id}",
            )
        digest = hashlib.sha256(openings_to_lines(self._openings(order.edition_key))).digest()
        self._book.retire(order, openings_digest=digest)
        return digest

    def openings(self, edition_key: EditionKey, logged: LoggedEntry) -> tuple[Opening, ...]:
        """Return what the commitments of a retired edition hid; see `Scoring`."""
        edition_id, digest = id_of(edition_key), self._book.openings_digest(edition_key)
        require_logged(logged, edition_id=edition_id, openings_digest=digest, signer=self._signer)
        openings = self._openings(edition_key)
        if hashlib.sha256(openings_to_lines(openings)).digest() != digest:
            raise IntegrityFailure(
                f"the vault holds other associations than when edition {edition_id!r} was retired; restore the vault "
                "from a copy of the server's data folder",
                subject=f"editions/{edition_id}",
            )
        return openings

    def corpus(self, order: CorpusOrder) -> Iterator[SealedPiece]:
        """Write and seal the corpus of a redeemed grant; see `Scoring`."""
        associations = self._associations(order.edition_key, (family.family_id for family in order.families))
        by_condition = {
            condition: [each for each in order.families if associations[each.family_id].condition is condition]
            for condition in Condition
        }
        banked_keys = {each.key for each in associations.values()}
        shapes = [_parsed(shape) for shape in order.shapes]
        markers = markers_of(
            shapes, private_seed=self._seed(order.edition_key), grant_id=order.grant_id, banked_keys=banked_keys
        )
        records = grant_records(
            ((family, associations[family.family_id].truth) for family in by_condition[Condition.C2]),
            shapes,
            markers,
            preservation_count=order.preservation_count,
            public_seed=order.public_seed,
            banked_keys=banked_keys,
        )
        assert_no_control(records, by_condition[Condition.C0])
        pieces = padded_pieces(records, exposed=by_condition[Condition.C2])
        return seal_pieces(pieces, public_key=order.holder_key, subject=order.grant)

    def trace(self, order: TraceOrder) -> tuple[tuple[str, ...], ...]:
        """Look for the markers of grants; see `Scoring`."""
        banked_keys = {each.key for each in self._vault.associations(order.edition_key).values()}
        shapes, seed = [_parsed(shape) for shape in order.shapes], self._seed(order.edition_key)
        return tuple(
            found_in(order.text, markers_of(shapes, private_seed=seed, grant_id=grant_id, banked_keys=banked_keys))
            for grant_id in order.grant_ids
        )

    def disclose(self, experiment: SealedExperiment) -> SignedPayload:
        """Score, estimate and sign; see `Scoring`."""
        edition_id = experiment.head.edition_id
        associations = self._associations(experiment.head.edition_key, (cell.family_id for cell in experiment.families))
        for cell in experiment.families:
            if associations[cell.family_id].condition is not cell.condition:
                raise IntegrityFailure(
                    f"family {cell.family_id!r} is no {cell.condition} family of edition {edition_id!r} in the vault; "
                    "restore registry and vault from one copy of the data folder",
                    subject=f"editions/{edition_id}",
                )
        self._book.charge(experiment)
        # Here: the statistics take a second to load, and a scorer that starts again is waited for.
        from leakscale_server.scorer.analysis import analyze  # noqa: PLC0415

        payload = analyze(experiment, associations=associations)
        return SignedPayload(payload, self._signer.sign_statement(payload))

    def _request(self, order: FamilyOrder) -> FamilyRequest:
        return FamilyRequest(
            edition_id=id_of(order.edition_key),
            shape=_parsed(order.shape),
            shape_digest=hashlib.sha256(order.shape.toml.encode()).hexdigest(),
            slot=order.slot,
            families_per_cell=order.families_per_cell,
            public_seed=order.public_seed,
            private_seed=self._seed(order.edition_key),
        )

    def _next_lane(self) -> int:
        """Start neighbors on opposite lanes of a pair, so that both lanes are busy."""
        number = next(self._numbers)
        pairs = max(1, self._pool.lane_count // 2)
        return 2 * (number // 2 % pairs) + number % 2

    def _seed(self, edition_key: EditionKey) -> bytes:
        seed = self._vault.seed(edition_key)
        if seed is None:
            raise IntegrityFailure(
                f"edition {id_of(edition_key)!r} has no private seed; create it again with the same contents, or "
                "restore the vault from a copy of the server's data folder",
                subject=f"editions/{id_of(edition_key)}",
            )
        return seed

    def _openings(self, edition_key: EditionKey) -> tuple[Opening, ...]:
        """Return what every family of an edition was committed to, in the order of their ids."""
        return tuple(
            Opening(family_id=name, key=each.key, truth=each.truth, nonce=each.nonce, condition=each.condition)
            for name, each in sorted(self._vault.associations(edition_key).items())
        )

    def _associations(self, edition_key: EditionKey, family_ids: Iterable[str]) -> dict[str, Association]:
        known = self._vault.associations(edition_key)
        names = list(family_ids)
        lacking = next((name for name in names if name not in known), None)
        if lacking is not None:
            raise IntegrityFailure(
                f"the vault holds no association of family {lacking!r} of edition {id_of(edition_key)!r}; restore the "
                "vault from a copy of the server's data folder",
                subject=f"editions/{id_of(edition_key)}",
            )
        return {name: known[name] for name in names}


@functools.lru_cache(maxsize=1024)
def _parsed(shape: ShapeText) -> Shape:
    return parse_shape(shape.toml, source=shape.source)


def _association(outcome: Certified) -> Association:
    construction = outcome.construction
    one, two, three, four = (utility.passed_count for utility in outcome.accepted.utilities)
    return Association(
        key=construction.forms[0].public.key,
        condition=construction.slot.condition,
        truth=construction.truth,
        nonce=construction.nonce,
        fixture_count=outcome.accepted.utilities[0].fixture_count,
        passed_counts=(one, two, three, four),
        attempt=outcome.attempt,
    )
