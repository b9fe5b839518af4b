"""Certify one family: prove it, and sign what was proved, on which interpreter and under which limits.

Source: DESIGN of certificates: a stranger with the seeds can prove each again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leakscale.commitments import condition_commitment, public_digest, truth_leaf
from leakscale.models import Domain, Ring
from leakscale.statements import Predicate, statement
from leakscale_server.core.building.construction import Construction, RingForm
from leakscale_server.core.commitments import fixtures_commitment
from leakscale_server.core.judging.acceptance import Accepted
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.sandbox_pool import BackendIdentity, SandboxPool
from leakscale_server.scorer.prover import PROOF_LIMITS, Build, FamilyRequest, Prover, build
from leakscale_server.store.signing import Signer

__all__ = ["Certified", "Certifier", "Rejected", "certificate_payload"]


@dataclass(frozen=True, slots=True)
class Certified:
    """A family that keeps the rule. Private, but for the certificate."""

    construction: Construction
    attempt: int
    accepted: Accepted
    payload: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Rejected:
    """A family that breaks the rule."""

    family_id: str
    rejection: Rejection


class Certifier:
    """Proves families and signs what holds. Safe to use from several threads."""

    def __init__(self, pool: SandboxPool, signer: Signer, *, build: Build = build) -> None:
        self._prover = Prover(pool, build=build)
        self._signer = signer
        self._pool = pool

    def certify(self, request: FamilyRequest, *, first_lane: int) -> Certified | Rejected:
        """Build, run, judge and sign one family.

        Args:
            first_lane: Lane of the first pass; the next one, which differs from it, has the second.

        Raises:
            SandboxFault: If a sandbox failed after its retries. That is no verdict on the family.
        """
        proof = self._prover.prove(request, first_lane=first_lane)
        if isinstance(proof.verdict, Rejection):
            return Rejected(proof.construction.family_id, proof.verdict)
        return self._sign(request, proof.construction, proof.attempt, proof.verdict)

    def _sign(self, request: FamilyRequest, construction: Construction, attempt: int, accepted: Accepted) -> Certified:
        payload = certificate_payload(request, construction, environment=_environment(self._pool.identity))
        return Certified(
            construction=construction,
            attempt=attempt,
            accepted=accepted,
            payload=payload,
            signature=self._signer.sign_statement(payload),
        )


def certificate_payload(request: FamilyRequest, construction: Construction, *, environment: Mapping[str, Any]) -> bytes:
    """Write what a certificate says of a family, which is public.

    Args:
        request: What was asked to be proved.
        construction: The family.
        environment: What the proof depends on besides the family.
    """
    family = construction.form(Ring.R0).public
    body: dict[str, Any] = {
        "edition": request.edition_id,
        "family": family.family_id,
        "domain": family.domain.value,
        "shape": family.shape_id,
        "shape_digest": request.shape_digest,
        "rings": {form.public.ring.value: _ring_body(form, construction.nonce) for form in construction.forms},
        "truth_commitment": truth_leaf(
            edition_id=request.edition_id,
            family_id=family.family_id,
            key=family.key,
            truth=construction.truth,
            nonce=construction.nonce,
        ).hex(),
        "condition_commitment": condition_commitment(request.slot.condition, nonce=construction.nonce).hex(),
        "fixture_count": request.shape.fixture_count,
        "rule": {"pass_count": 2, "perfect_count": 1, "alternative_failed_share_min": "1/4"},
        "environment": dict(environment),
    }
    return statement(
        Predicate.CERTIFICATE,
        subject=f"editions/{request.edition_id}/families/{family.family_id}",
        digest=public_digest(family),
        predicate=body,
    )


def _ring_body(form: RingForm, nonce: bytes) -> dict[str, str]:
    return {
        "public_digest": public_digest(form.public).hex(),
        "fixtures_commitment": fixtures_commitment(form.contents, nonce=nonce).hex(),
    }


def _environment(identity: BackendIdentity) -> dict[str, Any]:
    """What the proof depends on besides the family: interpreter, database, worker and limits."""
    return {
        "backend": identity.backend,
        **({"runtime": identity.runtime} if identity.runtime else {}),
        "image": identity.image_digest,
        "worker": identity.worker_digest,
        "python": identity.python_build,
        "sqlite": identity.sqlite_source_id,
        "sqlite_compile_options": list(identity.sqlite_compile_options),
        "canonical_version": identity.canonical_version,
        "limits": dataclasses.asdict(PROOF_LIMITS),
        "domains": [domain.value for domain in Domain],
    }
