"""Certify one family: build it, run it in two sandboxes, judge it, sign it.

    1. Build programs and fixtures of the three rings from both seeds. Expected outputs are not built: they are what the
       correct program returns, and they never enter a sandbox.
    2. Run every candidate on every fixture in two lanes that differ in hash seed and row order. R0 and R1 share their
       fixtures and so a job; R2 has one of its own. Stop early where the rest could change nothing: what no pass can
       cure is not run twice, and of a shape that has not ended well yet, one program runs alone first.
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
from leakscale_server.core.acceptance import Accepted, Scoring, assess
from leakscale_server.core.commitments import fixtures_commitment, public_digest, truth_leaf
from leakscale_server.core.construction import Construction, FamilySlot, RingForm, construct
from leakscale_server.core.faults import find_failure, find_instability
from leakscale_server.core.rejections import Rejection, RejectionReason
from leakscale_server.core.shapes import Shape
from leakscale_server.sandbox_pool import BackendIdentity, Job, JobResult, Limits, SandboxPool
from leakscale_server.store.signing import Signer

__all__ = ["Certified", "Certifier", "FamilyRequest", "Rejected", "build"]

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
        self._ended_well: set[str] = set()
        """Digests of shapes of which a family was certified."""

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
            verdict = self._judge(request, construction, first_lane=first_lane)
            if isinstance(verdict, Accepted):
                self._ended_well.add(request.shape_digest)
                return self._sign(request, construction, attempt, verdict)
            attempt += 1
            if verdict.reason not in _RETRIED or attempt == _ATTEMPTS_MAX:
                return Rejected(construction.family_id, _name_pair(verdict, construction))

    def _judge(self, request: FamilyRequest, construction: Construction, *, first_lane: int) -> Accepted | Rejection:
        fault = None if request.shape_digest in self._ended_well else self._try_one(construction, lane=first_lane)
        if fault is not None:
            return fault
        first = self._run_written(construction, lane=first_lane)
        fault = find_instability(first) or find_failure(first)
        if fault is not None:
            return fault
        first |= self._run_renamed(construction, lane=first_lane)
        fault = find_instability(first) or find_failure(first)
        if fault is not None:
            return fault
        second_lane = (first_lane + 1) % self._pool.lane_count
        second = self._run_written(construction, lane=second_lane) | self._run_renamed(construction, lane=second_lane)
        return assess(Scoring(first, construction.truth), Scoring(second, construction.truth))

    def _try_one(self, construction: Construction, *, lane: int) -> Rejection | None:
        """Run one program of each wording alone: where they run into their limits, eight others most likely do so too.

        This saves an author's time and guards nothing: a later family of the shape may loop all the same.
        """
        programs = tuple(construction.form(ring).programs[0] for ring in (Ring.R0, Ring.R1))
        exact, reworded = self._run(construction, construction.form(Ring.R0), programs, lane=lane)
        return find_instability({Ring.R0: (exact,), Ring.R1: (reworded,)})

    def _run_written(self, construction: Construction, *, lane: int) -> dict[Ring, JobResult]:
        """Run R0 and R1, which share their fixtures, in one job."""
        exact, reworded = construction.form(Ring.R0), construction.form(Ring.R1)
        results = self._run(construction, exact, exact.programs + reworded.programs, lane=lane)
        count = len(exact.programs)
        return {Ring.R0: results[:count], Ring.R1: results[count:]}

    def _run_renamed(self, construction: Construction, *, lane: int) -> dict[Ring, JobResult]:
        renamed = construction.form(Ring.R2)
        return {Ring.R2: self._run(construction, renamed, renamed.programs, lane=lane)}

    def _run(self, construction: Construction, form: RingForm, programs: tuple[str, ...], *, lane: int) -> JobResult:
        job = Job(
            domain=form.public.domain.value,
            programs=programs,
            fixtures=form.fixtures,
            ordered=construction.ordered,
            limits=_LIMITS,
        )
        return self._pool.run(job, lane=lane)

    def _sign(self, request: FamilyRequest, construction: Construction, attempt: int, accepted: Accepted) -> Certified:
        family = construction.form(Ring.R0).public
        body: dict[str, Any] = {
            "type": "leakscale-certificate",
            "v": 1,
            "edition": request.edition_id,
            "family": family.family_id,
            "domain": family.domain.value,
            "shape": family.shape_id,
            "shape_digest": request.shape_digest,
            "rings": {form.public.ring.value: _ring_body(form, construction.nonce) for form in construction.forms},
            "truth_commitment": truth_leaf(
                edition_id=request.edition_id, family=family, truth=construction.truth, nonce=construction.nonce
            ).hex(),
            "fixture_count": request.shape.fixture_count,
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


def _ring_body(form: RingForm, nonce: bytes) -> dict[str, str]:
    return {
        "public_digest": public_digest(form.public).hex(),
        "fixtures_commitment": fixtures_commitment(form.contents, nonce=nonce).hex(),
    }


def _name_pair(rejection: Rejection, construction: Construction) -> Rejection:
    """Say which two values a rejection is about, where it is about two."""
    if rejection.candidate_position is None or rejection.other_position is None:
        return rejection
    one, other = (construction.literals[at] for at in (rejection.candidate_position, rejection.other_position))
    return dataclasses.replace(rejection, pair=(one, other))


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
