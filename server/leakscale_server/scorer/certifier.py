"""Certify one family: build it, run it in two sandboxes, judge it, sign it.

    1. Build programs and fixtures from both seeds. Expected outputs are not built: they are what the correct program
       returns, and they never enter a sandbox.
    2. Run every candidate on every fixture in two lanes that differ in hash seed and row order. Stop early where the
       rest could change nothing: the first program runs alone, and what no pass can cure is not run twice.
    3. Apply the acceptance rule to both passes.
    4. When the fixtures could not tell two candidates apart, draw others, a bounded number of times.
    5. Sign what was proved, on which interpreter and under which limits.

Source: LeakScale 3.2 and C.1; DESIGN of certificates: a stranger with the seeds can prove each again.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.models import Domain, Ring
from leakscale_server.core.acceptance import (
    Accepted,
    Rejection,
    RejectionReason,
    Scoring,
    assess,
    find_failure,
    find_instability,
)
from leakscale_server.core.commitments import fixtures_commitment, public_digest, truth_leaf
from leakscale_server.core.construction import Construction, FamilySlot, construct
from leakscale_server.core.shapes import Shape
from leakscale_server.sandbox_pool import BackendIdentity, Job, Limits, SandboxPool
from leakscale_server.store.signing import Signer

__all__ = ["Certified", "Certifier", "FamilyRequest", "Rejected"]

_ATTEMPTS_MAX: Final = 8
_RETRIED: Final = frozenset(
    {RejectionReason.PERFECT_COUNT, RejectionReason.WEAK_ALTERNATIVE, RejectionReason.DEGENERATE}
)
"""Reasons that other fixtures can cure."""
_LIMITS: Final = Limits(wall_time_s_max=10.0, cpu_time_s_max=2)
"""Tighter than a sandbox's own: an honest program takes milliseconds for all fixtures, and authors wait for loops."""


@dataclass(frozen=True, slots=True)
class FamilyRequest:
    """A family to build and prove."""

    edition_id: str
    shape: Shape
    shape_digest: str
    """SHA-256 of the shape's file, hex."""
    slot: FamilySlot
    families_per_cell: int
    public_seed: bytes
    private_seed: bytes = dataclasses.field(repr=False)


@dataclass(frozen=True, slots=True)
class Certified:
    """A family that keeps the rule. Private, but for the certificate."""

    construction: Construction
    attempt: int
    accepted: Accepted
    payload: bytes
    payload_digest: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Rejected:
    """A family that breaks the rule."""

    family_id: str
    rejection: Rejection


class Certifier:
    """Runs families through the sandboxes. Safe to use from several threads."""

    def __init__(self, pool: SandboxPool, signer: Signer) -> None:
        self._pool = pool
        self._signer = signer
        self._environment = _environment(pool.identity)

    def certify(self, request: FamilyRequest, *, first_lane: int) -> Certified | Rejected:
        """Build, run and judge one family.

        Args:
            first_lane: Lane of the first pass; the next one, which differs from it, has the second.

        Raises:
            SandboxFault: If a sandbox failed after its retries. That is no verdict on the family.
        """
        attempt = 0
        while True:
            construction = build(request, attempt=attempt)
            verdict = self._judge(construction, first_lane=first_lane)
            if isinstance(verdict, Accepted):
                return self._sign(request, construction, attempt, verdict)
            attempt += 1
            if verdict.reason not in _RETRIED or attempt == _ATTEMPTS_MAX:
                return Rejected(construction.family_id, verdict)

    def _judge(self, construction: Construction, *, first_lane: int) -> Accepted | Rejection:
        form = construction.form(Ring.R0)
        job = Job(
            domain=form.public.domain.value,
            programs=form.programs,
            fixtures=form.fixtures,
            ordered=construction.ordered,
            limits=_LIMITS,
        )
        # Programs of a family differ in one value: where one runs into its limits, the others most likely do so too.
        head = self._pool.run(dataclasses.replace(job, programs=job.programs[:1]), lane=first_lane)
        fault = find_instability(head)
        if fault is not None:
            return fault
        tail = self._pool.run(dataclasses.replace(job, programs=job.programs[1:]), lane=first_lane)
        first = Scoring(head + tail, construction.truth)
        fault = find_instability(first.executions) or find_failure(first.executions)
        if fault is not None:
            return fault
        second = Scoring(self._pool.run(job, lane=(first_lane + 1) % self._pool.lane_count), construction.truth)
        return assess(first, second)

    def _sign(self, request: FamilyRequest, construction: Construction, attempt: int, accepted: Accepted) -> Certified:
        form = construction.form(Ring.R0)
        family = form.public
        body: dict[str, Any] = {
            "type": "leakscale-certificate",
            "v": 1,
            "edition": request.edition_id,
            "family": family.family_id,
            "domain": family.domain.value,
            "shape": family.shape_id,
            "shape_digest": request.shape_digest,
            "ring": family.ring.value,
            "public_digest": public_digest(family).hex(),
            "truth_commitment": truth_leaf(
                edition_id=request.edition_id, family=family, truth=construction.truth, nonce=construction.nonce
            ).hex(),
            "fixtures_commitment": fixtures_commitment(form.fixtures, nonce=construction.nonce).hex(),
            "fixture_count": len(form.fixtures),
            "rule": {"pass_count": 2, "perfect_count": 1, "alternative_failed_share_min": "1/4"},
            "environment": self._environment,
        }
        payload = canonical_json(body)
        return Certified(
            construction=construction,
            attempt=attempt,
            accepted=accepted,
            payload=payload,
            payload_digest=hashlib.sha256(payload).digest(),
            signature=self._signer.sign(payload),
        )


def build(request: FamilyRequest, *, attempt: int) -> Construction:
    """Build the family that a request asks for."""
    return construct(
        request.shape,
        request.slot,
        families_per_cell=request.families_per_cell,
        public_seed=request.public_seed,
        private_seed=request.private_seed,
        attempt=attempt,
    )


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
        "limits": dataclasses.asdict(_LIMITS),
        "domains": [domain.value for domain in Domain],
    }
