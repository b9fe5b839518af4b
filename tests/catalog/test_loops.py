"""A program without an end costs an author one program's seconds, and not those of all that are like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from leakscale.models import Condition, Ring
from leakscale_server.catalog_audit.material import practice_recipe
from leakscale_server.core.building.construction import Construction, FamilySlot
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.sandbox_pool import Execution, Job, JobResult, SandboxPool, Verdict
from leakscale_server.scorer.prover import PROOF_LIMITS, FamilyRequest, Prover

from .builders import CATALOGS, an_author_file

FILE = an_author_file(CATALOGS / "python" / "count.toml")
RECIPE = practice_recipe([FILE], families_per_cell=4)
FAMILY = RECIPE.build(FamilySlot(FILE.shape.id, Condition.C0, 0))
LAST = FAMILY.form(Ring.R0).fixtures[-1]

Loops = Callable[[str, bytes], bool]
"""Whether a program has no end on a fixture."""


class ScriptedPool:
    """Notes every job; a process that loops on one of its fixtures ends with all of them, as a real one does."""

    lane_count = 2

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        self.jobs: list[Job] = []

    def run(self, job: Job, *, lane: int) -> JobResult:
        assert lane == 0
        self.jobs.append(job)
        return tuple(self._execute(program, job.fixtures) for program in job.programs)

    def _execute(self, program: str, fixtures: tuple[bytes, ...]) -> tuple[Execution, ...]:
        if any(self._loops(program, fixture) for fixture in fixtures):
            return (Execution(Verdict.CPU_LIMIT, b"", "CPU time"),) * len(fixtures)
        return tuple(Execution(Verdict.RETURNED, b"\x01n", "") for _ in fixtures)


def judged(loops: Loops) -> tuple[Rejection, list[Job]]:
    """Prove one family of a shape that nobody has seen end."""
    pool = ScriptedPool(loops)
    request = FamilyRequest(
        edition_id="practice",
        shape=FILE.shape,
        shape_digest=FILE.digest,
        slot=FAMILY.slot,
        families_per_cell=4,
        public_seed=RECIPE.public_seed,
        private_seed=RECIPE.private_seed,
    )
    verdict = Prover(cast("SandboxPool", pool)).prove(request, first_lane=0).verdict
    assert isinstance(verdict, Rejection)
    return verdict, pool.jobs


def program(family: Construction, ring: Ring, position: int) -> str:
    return family.form(ring).programs[position]


def test_a_loop_is_found_by_one_program_on_one_fixture() -> None:
    """Under a shorter limit than a whole run has: the seven other programs would loop as well."""
    rejection, jobs = judged(lambda _program, _fixture: True)

    assert rejection.reason is RejectionReason.UNSTABLE
    assert [(len(job.programs), len(job.fixtures)) for job in jobs] == [(1, 1)]
    assert jobs[0].limits.cpu_time_s_max < PROOF_LIMITS.cpu_time_s_max
    assert jobs[0].limits.wall_time_s_max < PROOF_LIMITS.wall_time_s_max


def test_a_loop_on_one_fixture_ends_the_family_with_its_first_program() -> None:
    """A value or a record for which a loop has no end seldom comes first, and eight programs would run into it."""
    third = {program(FAMILY, Ring.R0, position) for position in (2, 3)}
    rejection, jobs = judged(lambda program, fixture: program in third and fixture == LAST)

    assert (rejection.reason, rejection.ring, rejection.candidate_position) == (RejectionReason.UNSTABLE, Ring.R0, 2)
    assert [len(job.fixtures) for job in jobs] == [1, 1, 16, 16, 16]
    assert {len(job.programs) for job in jobs} == {1}


def test_a_loop_in_the_rewording_alone_is_of_the_rewording() -> None:
    looping = program(FAMILY, Ring.R1, 1)
    rejection, jobs = judged(lambda program, fixture: program == looping and fixture == LAST)

    assert (rejection.reason, rejection.ring, rejection.candidate_position) == (RejectionReason.UNSTABLE, Ring.R1, 1)
    assert len(jobs) == 2 + 4 + 2
