"""Prove one family: build it, run it in two sandboxes, judge it.

    1. Build programs and fixtures of the three rings from both seeds. Expected outputs are not built: they are what the
       correct program returns, and they never enter a sandbox.
    2. Ask the rules that need no run (`core/checks/family_rules`): texts, prompts, and whether R1's program is another.
    3. Run every candidate on every fixture in two lanes that differ in hash seed, clock and row order, the second time
       on the fixtures backwards: what a program keeps from one fixture to the next shows. R0 and R1 share their
       fixtures and so a job; R2 has one of its own. Stop early where the rest could change nothing: what no pass can
       cure is not run twice, and of a shape that has not ended well yet, one program runs alone first, then each.
    4. Apply the acceptance rule to both passes.
    5. Run what can see chance or keep something (`core/judging/chance`) in all other kinds of lanes, on the fixtures in
       an order of each lane's own: it must give the same once more.
    6. When the fixtures could not tell two candidates apart, draw others, a bounded number of times.

Source: LeakScale 3.2 and C.1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from leakscale.models import Domain, Ring
from leakscale_server.core.building.construction import Construction, FamilySlot, RingForm, construct
from leakscale_server.core.checks.family_rules import find_written_fault
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.judging.faults import Rings, find_failure, find_instability, find_mutation
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.core.shapes import Shape
from leakscale_server.core.streams import Stream
from leakscale_server.sandbox_pool import Job, JobResult, Limits, SandboxPool
from leakscale_server.scorer.chance_passes import Pass, RunPrograms, find_chance

__all__ = ["PROOF_LIMITS", "Build", "FamilyRequest", "Pass", "Proof", "Prover", "build"]

PROOF_LIMITS: Final = Limits(wall_time_s_max=10.0, cpu_time_s_max=2, work_steps_max=1_000_000)
"""Tighter than a sandbox's own: an honest program takes milliseconds for all fixtures, and authors wait for loops. So
many steps take far less than the seconds allow: a statement without an end ends alike on every machine."""
TRIAL_LIMITS: Final = dataclasses.replace(PROOF_LIMITS, wall_time_s_max=5.0, cpu_time_s_max=1)
"""Of the first program of a shape on its first fixture alone: the least that the kernel counts in."""
_ATTEMPTS_MAX: Final = 8
_RETRIED: Final = frozenset(
    {RejectionReason.PERFECT_COUNT, RejectionReason.WEAK_ALTERNATIVE, RejectionReason.DEGENERATE}
)
"""Reasons that other fixtures can cure, where fixtures are drawn."""


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


class Build(Protocol):
    """Builds the family that a request asks for."""

    def __call__(self, request: FamilyRequest, *, attempt: int) -> Construction:
        """Build it with the fixtures of an attempt."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What became of a family in the sandboxes. Private, whatever the verdict."""

    construction: Construction
    attempt: int
    """How many draws of the fixtures came before."""
    verdict: Accepted | Rejection
    passes: tuple[Pass, ...]
    """The passes as far as they went: none where a rule needs no run, and rings are missing where a fault ended one."""


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


class Prover:
    """Runs families through the sandboxes. Safe to use from several threads."""

    def __init__(self, pool: SandboxPool, *, build: Build = build) -> None:
        self._pool = pool
        self._build = build
        self._ended_well: set[str] = set()
        """Digests of shapes of which a family ran to its end in both passes: their programs are not tried alone."""

    def prove(self, request: FamilyRequest, *, first_lane: int) -> Proof:
        """Build, run and judge one family.

        Args:
            first_lane: Lane of the first pass; the next one, which differs from it, has the second.

        Raises:
            SandboxFault: If a sandbox failed after its retries. That is no verdict on the family.
        """
        attempt = 0
        while True:
            construction = self._build(request, attempt=attempt)
            verdict, passes = self._judge(request, construction, first_lane=first_lane)
            if isinstance(verdict, Accepted) or verdict.reason in _RETRIED:
                self._ended_well.add(request.shape_digest)
            if isinstance(verdict, Accepted):
                return Proof(construction, attempt, verdict, passes)
            attempt += 1
            if verdict.reason not in _RETRIED or attempt == _ATTEMPTS_MAX or request.shape.fixtures:
                return Proof(construction, attempt - 1, _name_pair(verdict, construction), passes)

    def _judge(
        self, request: FamilyRequest, construction: Construction, *, first_lane: int
    ) -> tuple[Accepted | Rejection, tuple[Pass, ...]]:
        fault = find_written_fault(request.shape, construction)
        is_new = request.shape_digest not in self._ended_well
        if fault is None and is_new:
            fault = self._try_one(construction, lane=first_lane)
        if fault is not None:
            return fault, ()
        # Python's programs have a process each in any case; a statement is stopped by its steps, long before its time.
        run = self._run_each if is_new and request.shape.language is Domain.PYTHON else self._run_written
        first = run(construction, lane=first_lane)
        if isinstance(first, Rejection):
            return first, ()
        fault = _find_incurable(first)
        if fault is not None:
            return fault, (first,)
        first |= self._run_renamed(construction, lane=first_lane)
        fault = _find_incurable(first)
        if fault is not None:
            return fault, (first,)
        lane = (first_lane + 1) % self._pool.lane_count
        second: Pass = {
            **self._run_written(construction, lane=lane, backwards=True),
            **self._run_renamed(construction, lane=lane, backwards=True),
        }
        one, other = (Scoring(rings, construction.truth) for rings in (first, second))
        verdict = assess(one, other, outputs=construction.outputs, names=construction.other_names)
        if isinstance(verdict, Accepted) and (
            chance := find_chance(construction, first, self._runner(request, construction))
        ):
            verdict, second = chance
        return verdict, (first, second)

    def _try_one(self, construction: Construction, *, lane: int) -> Rejection | None:
        """Run one program of each wording alone on one fixture: where one loops, seven others most likely do so too.

        This saves an author's time and guards nothing: a later family of the shape may loop all the same.
        """
        for ring in (Ring.R0, Ring.R1):
            form = construction.form(ring)
            results = self._run(construction, form, form.programs[:1], lane=lane, order=[0], limits=TRIAL_LIMITS)
            fault = find_instability({ring: results})
            if fault is not None:
                return fault
        return None

    def _run_each(self, construction: Construction, *, lane: int) -> dict[Ring, JobResult] | Rejection:
        """Run R0 and R1 program by program, up to the first that runs into a limit: the others would take as long."""
        results: dict[Ring, JobResult] = {}
        for ring in (Ring.R0, Ring.R1):
            executions: JobResult = ()
            for position, program in enumerate(construction.form(ring).programs):
                result = self._run(construction, construction.form(Ring.R0), (program,), lane=lane)
                fault = find_instability({ring: result})
                if fault is not None:
                    return dataclasses.replace(fault, candidate_position=position)
                executions += result
            results[ring] = executions
        return results

    def _run_written(self, construction: Construction, *, lane: int, backwards: bool = False) -> dict[Ring, JobResult]:
        """Run R0 and R1, which share their fixtures, in one job."""
        exact, reworded = construction.form(Ring.R0), construction.form(Ring.R1)
        programs = exact.programs + reworded.programs
        results = self._run(construction, exact, programs, lane=lane, order=_order(exact, backwards=backwards))
        count = len(exact.programs)
        return {Ring.R0: results[:count], Ring.R1: results[count:]}

    def _run_renamed(self, construction: Construction, *, lane: int, backwards: bool = False) -> dict[Ring, JobResult]:
        renamed = construction.form(Ring.R2)
        order = _order(renamed, backwards=backwards)
        return {Ring.R2: self._run(construction, renamed, renamed.programs, lane=lane, order=order)}

    def _runner(self, request: FamilyRequest, construction: Construction) -> RunPrograms:
        def run(ring: Ring, programs: tuple[str, ...], lane: int) -> JobResult:
            form = construction.form(ring)
            stream = Stream(request.private_seed, "fixture order", construction.family_id, lane)
            order = stream.shuffled(range(len(form.fixtures)))
            return self._run(construction, form, programs, lane=lane, order=order)

        return run

    def _run(
        self,
        construction: Construction,
        form: RingForm,
        programs: tuple[str, ...],
        *,
        lane: int,
        order: Sequence[int] | None = None,
        limits: Limits = PROOF_LIMITS,
    ) -> JobResult:
        """Run programs on the fixtures of a ring, or on some of them in another order; results come as fixtures do."""
        order = range(len(form.fixtures)) if order is None else order
        job = Job(
            domain=form.public.domain.value,
            programs=programs,
            fixtures=tuple(form.fixtures[index] for index in order),
            ordered=construction.ordered,
            limits=limits,
        )
        places = sorted(range(len(order)), key=order.__getitem__)
        results = self._pool.run(job, lane=lane)
        return tuple(tuple(executions[place] for place in places) for executions in results)


def _order(form: RingForm, *, backwards: bool) -> Sequence[int]:
    return range(len(form.fixtures))[:: -1 if backwards else 1]


def _find_incurable(first: Rings) -> Rejection | None:
    """Find in a first pass what no second one can change."""
    return find_instability(first) or find_failure(first) or find_mutation(first)


def _name_pair(rejection: Rejection, construction: Construction) -> Rejection:
    """Say which two values a rejection is about, where it is about two."""
    if rejection.candidate_position is None or rejection.other_position is None:
        return rejection
    one, other = (construction.literals[at] for at in (rejection.candidate_position, rejection.other_position))
    return dataclasses.replace(rejection, pair=(one, other))
